#pragma once

#include <tmajit/error.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

TMAJIT_BEGIN

/// Collects what the rules find. Subjects get the operand's name in front: "input 0: box[1]".
class Violations {
 public:
  void add(Violation violation) {
    violation.subject.insert(0, operand_);
    found_.push_back(std::move(violation));
  }

  /// The operand that the next violations are about; empty for the spec as a whole.
  void about(std::string_view operand) { operand_ = operand.empty() ? "" : std::string(operand) + ": "; }

  [[nodiscard]] std::vector<Violation> take() { return std::move(found_); }

 private:
  std::string operand_;
  std::vector<Violation> found_;
};

/// Whether a rule is one that the driver does not check when it encodes a tensor map: the field never reaches
/// it, or only the hardware would notice.
[[nodiscard]] bool is_hardware_only(std::string_view rule) noexcept;

TMAJIT_END
