#include "fusion/row_program.hpp"

#include "fusion/expression_text.hpp"
#include "fusion/fused_body.hpp"
#include "kernel/problem.hpp"
#include "kernel/row_steps.hpp"
#include "operations/shared/shapes.hpp"
#include "spec/views.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// Why an expression of another operation cannot be a step; empty if it can.
std::string step_obstacle(std::string_view expression) {
  if (reads(expression, "g")) return "as steps know no coordinates g";
  return name_obstacle({}, expression);
}

FoundProgram program_of_map(const Move& move) {
  const std::string_view expression = expression_of(move);
  if (std::string obstacle = step_obstacle(expression); !obstacle.empty())
    return {.program = {}, .obstacle = std::move(obstacle)};
  RowProgram program{.whole = move.destination.view,
                     .sources = move.sources,
                     .steps = fmt::format("y0 = {}", expression),
                     .results = {{.destination = move.destination}},
                     .is_map = true};
  return {.program = std::move(program), .obstacle = {}};
}

FoundProgram program_of_reduction(const Move& move) {
  const auto& reduction = std::get<Reduction>(move.body);
  const std::string_view expression = expression_of(move);
  std::string obstacle = step_obstacle(expression);
  std::string steps = fmt::format("y0 = {}({})", name(reduction.op), expression);
  if (!reduction.epilogue.empty()) {
    const std::string result = unused_name(expression, reduction.epilogue);
    // The n of an epilogue has the type of the result, that of steps is a 32-bit integer.
    const Renames names{{"x", result}, {"x0", result}, {"n", fmt::format("(1 ? n : {})", result)}};
    if (obstacle.empty()) obstacle = step_obstacle(renamed(reduction.epilogue, {{"n", result}}));
    steps = fmt::format("{} = {}({}); y0 = {}", result, name(reduction.op), expression,
                        renamed(reduction.epilogue, names));
  }
  if (!obstacle.empty()) return {.program = {}, .obstacle = std::move(obstacle)};
  const TensorView& whole = move.sources.front().view;
  RowProgram program{.whole = whole,
                     .in_row = row_dimensions(reduction.axes, whole.rank),
                     .sources = move.sources,
                     .steps = std::move(steps),
                     .results = {{.destination = move.destination, .by_row = true}}};
  return {.program = std::move(program), .obstacle = {}};
}

RowProgram program_of_rows(std::span<const Move> moves) {
  const Move& first = moves.front();
  const auto& rows = std::get<Rowwise>(first.body);
  const std::uint32_t numbers = count_numbers(first.sources);
  const std::vector<RowStep> steps =
      parse_row_steps(rows.steps, static_cast<std::uint32_t>(first.sources.size()) - numbers, numbers);
  const TensorView& whole = first.sources.front().view;
  RowProgram program{.whole = whole,
                     .in_row = row_dimensions(rows.axes, whole.rank),
                     .sources = first.sources,
                     .steps = rows.steps,
                     .results = {}};
  for (const Move& move : moves) {
    const std::uint32_t number = std::get<Rowwise>(move.body).result;
    program.results.push_back({.destination = move.destination,
                               .number = number,
                               .by_row = step_of_destination(steps, number).by_row()});
  }
  return program;
}

bool has_elements(const TensorView& view, std::uint32_t d) noexcept {
  return view.shape[d] > 1;
}

}  // namespace

FoundProgram row_program(std::span<const Move> moves) {
  if (is_any_of<Map>(moves.front())) return program_of_map(moves.front());
  if (is_any_of<Reduction>(moves.front())) return program_of_reduction(moves.front());
  return {.program = program_of_rows(moves), .obstacle = {}};
}

Tensor one_per_row(const RowProgram& rows, const Tensor& destination) {
  Tensor made = destination;
  made.view.rank = rows.whole.rank;
  made.view.shape = rows.whole.shape;
  made.view.strides = {};
  const bool keeps = destination.view.rank == rows.whole.rank;
  std::uint32_t own = 0;  // a dimension of the destination
  for (std::uint32_t d = 0; d < rows.whole.rank; ++d) {
    if (rows.in_row[d]) {
      made.view.shape[d] = 1;
    } else if (has_elements(made.view, d)) {
      made.view.strides[d] = destination.view.strides[own];
    }
    if (keeps || !rows.in_row[d]) ++own;
  }
  return made;
}

Tensor without_idle_strides(Tensor tensor) {
  for (std::uint32_t d = 0; d < tensor.view.rank; ++d)
    if (!has_elements(tensor.view, d)) tensor.view.strides[d] = 0;
  return tensor;
}

std::optional<RowOrder> RowOrder::find(const RowProgram& rows, const RowProgram::Result& result,
                                       const Tensor& read, const TensorView& elements, bool by_row) {
  const Tensor whole = result.by_row ? one_per_row(rows, result.destination) : result.destination;
  std::optional<IndexMap> map = index_map(whole, read);
  if (!map) return std::nullopt;
  if (by_row || !result.by_row) return RowOrder(rows, *map);
  map->whole = rows.whole;
  // The dimensions along which the result is broadcast are those of the rows, in their order.
  for (std::uint32_t d = 0; d < rows.whole.rank; ++d) {
    if (!rows.in_row[d] || !has_elements(rows.whole, d)) continue;
    std::uint32_t k = 0;
    const auto is_along_row = [&] {
      return elements.shape[k] == rows.whole.shape[d] &&
             std::ranges::all_of(map->step[k], [](std::int64_t step) { return step == 0; });
    };
    while (k < elements.rank && !is_along_row()) ++k;
    if (k == elements.rank) return std::nullopt;
    map->step[k][d] = 1;
  }
  return RowOrder(rows, *map);
}

std::optional<std::uint32_t> RowOrder::dimension_of(std::uint32_t k) const {
  const auto& step = map_.step[k];
  const auto found = std::ranges::find_if(step, [](std::int64_t one) { return one != 0; });
  if (found == step.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - step.begin());
}

std::optional<Tensor> RowOrder::pushed(const Tensor& tensor) const {
  return tmajit::pushed(map_, tensor);
}

std::optional<Tensor> RowOrder::pushed_row(const RowProgram& consumer, const Tensor& tensor) const {
  const Tensor each = one_per_row(consumer, tensor);
  IndexMap map = map_;
  map.view = each.view;
  for (std::uint32_t d = 0; d < map.whole.rank; ++d)
    if (rows_->in_row[d]) map.whole.shape[d] = 1;
  return tmajit::pushed(map, each);
}

bool RowOrder::is_result(const Tensor& source, const RowProgram::Result& result) const {
  Tensor whole =
      result.by_row ? one_per_row(*rows_, result.destination) : without_idle_strides(result.destination);
  whole.view.shape = map_.whole.shape;
  return pushed(source) == whole;
}

bool RowOrder::has_rows_of(const RowProgram& consumer) const {
  for (std::uint32_t k = 0; k < consumer.whole.rank; ++k) {
    if (!has_elements(consumer.whole, k)) continue;
    const std::optional<std::uint32_t> d = dimension_of(k);
    if (!d || consumer.in_row[k] != rows_->in_row[*d]) return false;
  }
  return true;
}

bool RowOrder::keeps_index(const RowProgram& consumer) const {
  std::optional<std::uint32_t> last;
  for (std::uint32_t k = 0; k < consumer.whole.rank; ++k) {
    if (!consumer.in_row[k] || !has_elements(consumer.whole, k)) continue;
    const std::optional<std::uint32_t> d = dimension_of(k);
    if (!d || map_.step[k][*d] != 1 || (last && *d < *last)) return false;
    last = d;
  }
  return true;
}

TMAJIT_END
