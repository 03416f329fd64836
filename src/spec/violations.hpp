#pragma once

#include <tmajit/error.hpp>

#include <cstddef>
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

  [[nodiscard]] std::size_t count() const noexcept { return found_.size(); }
  [[nodiscard]] std::vector<Violation> take() { return std::move(found_); }

 private:
  std::string operand_;
  std::vector<Violation> found_;
};

TMAJIT_END
