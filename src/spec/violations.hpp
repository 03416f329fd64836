#pragma once

#include <tmajit/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TMAJIT_BEGIN

/// A broken rule as one sentence, labelled like the columns of `jitc validate`: "input 0, box[1]: found 12
/// bytes; needs a multiple of 16 bytes; nearest legal: box[1] = 4".
[[nodiscard]] std::string sentence(std::string_view subject, std::string_view found, std::string_view need,
                                   std::string_view legal);

/// Collects the violations that rules find. The operand's name is put before subjects: "input 0: box[1]".
class Violations {
 public:
  void add(Violation violation) {
    violation.subject.insert(0, operand_);
    found_.push_back(std::move(violation));
  }

  /// Sets the operand of the next violations; empty for the spec as a whole. Rules check the dimensions from
  /// `first_dimension` on and number them from 0; violations add `first_dimension`.
  void about(std::string_view operand, std::uint32_t first_dimension = 0) {
    operand_ = operand.empty() ? "" : std::string(operand) + ": ";
    first_dimension_ = first_dimension;
  }
  /// The name of a field's entry for a dimension: "box[1]".
  [[nodiscard]] std::string entry(std::string_view field, std::uint32_t dimension) const {
    return std::string(field) + '[' + std::to_string(std::uint64_t{first_dimension_} + dimension) + ']';
  }

  [[nodiscard]] std::size_t count() const noexcept { return found_.size(); }
  [[nodiscard]] std::vector<Violation> take() { return std::exchange(found_, {}); }

 private:
  std::string operand_;
  std::uint32_t first_dimension_ = 0;
  std::vector<Violation> found_;
};

TMAJIT_END
