#pragma once

#include <tmajit/operations/reduce.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// One step of a rowwise operation (include/tmajit/operations/rowwise.hpp): `name = expression`, or
/// `name = reduction(expression)`.
struct RowStep {
  std::string name;        ///< "m"; "sum_1" for a reduction within an expression
  std::string expression;  ///< C; reductions within it are replaced by the names of their own steps
  std::optional<ReductionOp> reduction =
      {};                                 ///< how the expression's values are reduced; nullopt: not at all
  bool reads_element = false;             ///< the expression has a value for each element of a row
  std::uint32_t sources = 0;              ///< bit s: the expression reads source s
  std::uint32_t numbers = 0;              ///< bit k: it reads number k of the launch
  std::vector<std::uint32_t> reads = {};  ///< numbers of the earlier steps that it reads
  std::optional<std::uint32_t> destination = {};  ///< k of y_k, or 0 for y

  /// Whether the step has one value for a row.
  [[nodiscard]] bool by_row() const noexcept { return reduction.has_value() || !reads_element; }
};

/// The most steps, those of reductions within expressions included.
inline constexpr std::uint32_t max_row_steps = 32;

/// Reads the steps for `tensors` sources x0 … and `numbers` sources p0 …. Steps that no destination needs are
/// left out. Throws Error{invalid_argument} that quotes the step for a wrong form, a name that is reserved or
/// assigned twice, and a source that does not exist; also for a y that is missing among y0, y1 …
[[nodiscard]] std::vector<RowStep> parse_row_steps(std::string_view text, std::uint32_t tensors,
                                                   std::uint32_t numbers = 0);

/// The names that steps assign, in order. Unlike parse_row_steps(), lists steps that no destination needs,
/// and no reductions within expressions.
[[nodiscard]] std::vector<std::string> assigned_names(std::string_view text);
/// The number of the destination of that name: k for y_k, 0 for y; nullopt for any other name.
[[nodiscard]] std::optional<std::uint32_t> destination_number(std::string_view name) noexcept;

/// The step that computes destination `k` of parsed steps.
[[nodiscard]] const RowStep& step_of_destination(const std::vector<RowStep>& steps, std::uint32_t k);
[[nodiscard]] std::uint32_t destination_count(const std::vector<RowStep>& steps) noexcept;

TMAJIT_END
