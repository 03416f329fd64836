#include "operations/list.hpp"
#include "operations/shared/make.hpp"
#include "operations/shared/rounding.hpp"
#include "operations/shared/shapes.hpp"
#include "spec/counted.hpp"
#include "spec/memory_rules.hpp"
#include "spec/views.hpp"

#include <tmajit/tile_options.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// The first rule that a reduction breaks, and what would be legal. `rule` is empty if it breaks none.
struct ReductionMistake {
  std::string_view rule = {};
  std::string found = {};
  std::string need = {};
  std::string legal = {};
};

ReductionMistake mistake_of_sources(const Move& move) {
  const auto& reduction = std::get<Reduction>(move.body);
  const std::size_t count = move.sources.size();
  if (count == 0 || count > max_inputs) {
    return {"sources.range", counted(count, "source"), fmt::format("1 to {} sources", max_inputs),
            "an expression of fewer tensors"};
  }
  if (const std::size_t tensors = count - count_numbers(move.sources);
      reduction.expression.empty() && tensors != 1) {
    return {"sources.expression", fmt::format("{} without an expression", counted(tensors, "tensor")),
            "1 tensor, since its values are reduced as they are",
            "an expression of all of them, such as \"x0 * x1\""};
  }
  const ExpressionReads reads = reads_of(reduction.expression);
  if (reads.g || reads.t || reads.tile_index) {
    return {"reduction.expression", fmt::format("\"{}\"", reduction.expression),
            "an expression of the sources' elements alone: reductions know no coordinates",
            "a map that computes it, and a reduction of the map's destination"};
  }
  for (const Tensor& source : move.sources) {
    if (std::ranges::equal(extents(source.view), extents(move.sources.front().view))) continue;
    return {"view.shape",
            fmt::format("sources of {} and {}", shape_text(extents(move.sources.front().view)),
                        shape_text(extents(source.view))),
            "sources of one shape", "sources that are broadcast to one shape"};
  }
  return {};
}

ReductionMistake reduce_mistake(const Move& move) {
  if (ReductionMistake found = mistake_of_sources(move); !found.rule.empty()) return found;
  const auto& reduction = std::get<Reduction>(move.body);
  const auto from = extents(move.sources.front().view);
  const auto rank = static_cast<std::int64_t>(from.size());
  std::array<bool, max_view_rank> reduced{};
  bool has_empty_axis = false;
  for (const std::int64_t axis : reduction.axes) {
    const std::int64_t d = axis < 0 ? axis + rank : axis;
    if (d < 0 || d >= rank || reduced[static_cast<std::size_t>(d)]) {
      return {"reduction.axes", fmt::format("axis {}{}", axis, d < 0 || d >= rank ? "" : " twice"),
              fmt::format("axes of the sources, which have {}, each once",
                          counted(static_cast<std::uint64_t>(rank), "dimension")),
              "any of them in any order; negative axes count from the last"};
    }
    reduced[static_cast<std::size_t>(d)] = true;
    has_empty_axis = has_empty_axis || from[static_cast<std::size_t>(d)] == 0;
  }
  std::vector<std::uint64_t> expected;
  for (std::size_t d = 0; d < from.size(); ++d) {
    if (!reduced[d]) expected.push_back(from[d]);
    if (reduced[d] && reduction.keep_dims) expected.push_back(1);
  }
  if (!std::ranges::equal(expected, extents(move.destination.view))) {
    return {"view.shape", fmt::format("a destination of {}", shape_text(extents(move.destination.view))),
            fmt::format("{}, the dimensions of {} {}", shape_text(expected), shape_text(from),
                        reduction.keep_dims ? "with 1 for those that are reduced" : "that are not reduced"),
            "a destination of that shape; keep_dims keeps reduced dimensions as extents of 1"};
  }
  if (has_empty_axis && move.destination.view.elements() > 0) {
    return {"reduction.elements", fmt::format("no elements along the axes of {}", shape_text(from)),
            "at least one element for each result", "a fill with the wanted value"};
  }
  return {};
}

void check_reduce(MoveRules& rules) {
  const auto& reduction = std::get<Reduction>(rules.move().body);
  rules.check_expression(reduction.expression);
  rules.check_expression(reduction.epilogue);
  const ReductionMistake found = reduce_mistake(rules.move());
  if (found.rule.empty()) return;
  rules.add(found.rule, fmt::format("reduction to {}", rules.destination()), found.found, found.need,
            found.legal);
}

/// The destination of a reduction as a view with all dimensions of the sources: reduced ones have stride 0.
TensorView expanded(const TensorView& destination, const Move& move, ReducedDimensions& reduced) {
  const auto& reduction = std::get<Reduction>(move.body);
  TensorView view = move.sources.front().view;
  view.type = destination.type;
  for (const std::int64_t axis : reduction.axes) {
    reduced.reduced[static_cast<std::size_t>(axis < 0 ? axis + view.rank : axis)] = true;
  }
  std::uint32_t dimension = destination.rank;
  std::int64_t index_step = 1;
  const bool returns_index = reduction.op == ReductionOp::arg_min || reduction.op == ReductionOp::arg_max;
  for (std::uint32_t d = view.rank; d-- > 0;) {
    if (!reduced.reduced[d] || reduction.keep_dims) --dimension;
    view.strides[d] = reduced.reduced[d] ? 0 : destination.strides[dimension];
    if (!reduced.reduced[d] || !returns_index) continue;
    reduced.place[d] = index_step;
    index_step *= static_cast<std::int64_t>(view.shape[d]);
  }
  return view;
}

Problem reduce_problem(const Move& move) {
  const auto& reduction = std::get<Reduction>(move.body);
  Problem problem{.body =
                      ReduceProblem{reduction.op, reduction.expression.empty() ? "x" : reduction.expression,
                                    reduction.epilogue}};
  ReducedDimensions reduced;
  Move expanded_move = move;
  expanded_move.destination.view = expanded(move.destination.view, move, reduced);
  set_operands(problem, expanded_move, {.reduced = &reduced});
  set_reach(problem, move);
  return problem;
}

bool reduce_same_bits(const Move& move) {
  const auto& reduction = std::get<Reduction>(move.body);
  if (!rounds_alike(reduction.epilogue) || reduction.op == ReductionOp::mean) return false;
  return reduction.op == ReductionOp::sum ? sums_integers(move, reduction.expression)
                                          : rounds_alike(reduction.expression);
}

constexpr OperationRules reduce_rules{
    .check = check_reduce, .problem = reduce_problem, .same_bits = reduce_same_bits};

}  // namespace

const OperationRules& rules_of(const Reduction&) noexcept {
  return reduce_rules;
}

namespace {

Dims all_axes(std::size_t rank) {
  std::vector<std::int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

/// The result of reducing no elements, as an expression. Empty if the reduced dimensions have elements, or if
/// the operation has no such result.
std::string_view result_of_nothing(const Reduction& reduction, std::span<const std::uint64_t> shape) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  const bool is_empty = std::ranges::any_of(reduction.axes, [&](std::int64_t axis) {
    const std::int64_t d = axis < 0 ? axis + rank : axis;
    return d >= 0 && d < rank && shape[static_cast<std::size_t>(d)] == 0;
  });
  if (!is_empty || !reduction.epilogue.empty()) return {};
  switch (reduction.op) {
    case ReductionOp::sum:
    case ReductionOp::any: return "0";
    case ReductionOp::all: return "1";
    default: return {};
  }
}

}  // namespace

Operation operation::reduce(const Tensor& destination, const Reduction& what, List<Tensor> sources) {
  if (sources.empty()) refuse("a reduction without a source; at least one is needed");
  std::vector<TensorView> views;
  for (const Tensor& source : sources) views.push_back(source.view);
  const std::vector<std::uint64_t> shape = common_shape(views);
  Reduction whole = what;
  if (whole.axes.empty()) whole.axes = all_axes(shape.size());
  if (const std::string_view result = result_of_nothing(whole, shape); !result.empty()) {
    return one_move({.destination = destination, .sources = {}, .body = Map{std::string(result)}}, sources);
  }
  Move move{.destination = destination, .sources = {}, .body = std::move(whole)};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    move.sources.push_back(broadcast(sources[i], shape, fmt::format("source {}", i)));
  }
  return one_move(std::move(move), sources);
}

TMAJIT_END
