#include "operations/list.hpp"
#include "operations/shared/make.hpp"
#include "operations/shared/shapes.hpp"
#include "spec/counted.hpp"
#include "spec/memory_rules.hpp"
#include "spec/saturate.hpp"
#include "spec/views.hpp"

#include <tmajit/tile_options.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

const Rowwise& rowwise_of(const Move& move) {
  return std::get<Rowwise>(move.body);
}

std::vector<RowStep> steps_of(const Rowwise& what, std::span<const Tensor> sources) {
  const std::uint32_t numbers = count_numbers(sources);
  return parse_row_steps(what.steps, static_cast<std::uint32_t>(sources.size()) - numbers, numbers);
}

/// Whether `axes` names dimensions of `rank`, each once.
bool are_axes(const Dims& axes, std::size_t rank) {
  std::array<bool, max_view_rank> found{};
  return std::ranges::all_of(axes, [&](std::int64_t axis) {
    const auto d = dimension_of(axis, rank);
    return d && !std::exchange(found[*d], true);
  });
}

void check_destination(MoveRules& rules, const std::array<bool, max_view_rank>& in_row) {
  const Move& move = rules.move();
  const Rowwise& what = rowwise_of(move);
  const auto whole = extents(move.sources.front().view);
  const auto to = extents(move.destination.view);
  const std::vector<RowStep> steps = steps_of(what, move.sources);
  const bool by_row = step_of_destination(steps, what.result).by_row();
  std::vector<std::uint64_t> kept;
  std::vector<std::uint64_t> dropped;
  std::uint64_t length = 1;
  for (std::size_t d = 0; d < whole.size(); ++d) {
    kept.push_back(by_row && in_row[d] ? 1 : whole[d]);
    if (!in_row[d]) dropped.push_back(whole[d]);
    if (in_row[d]) length = sat_mul(length, whole[d]);
  }
  if (!std::ranges::equal(to, kept) && !(by_row && std::ranges::equal(to, dropped))) {
    rules.add("view.shape", fmt::format("{}: shape", rules.destination()), shape_text(to),
              by_row ? fmt::format("{} or {}: one value for each row of {}", shape_text(dropped),
                                   shape_text(kept), shape_text(whole))
                     : fmt::format("{}, the shape of the sources", shape_text(whole)),
              "a destination of that shape");
  }
  if (length > std::numeric_limits<std::int32_t>::max()) {
    rules.add("rowwise.length", fmt::format("rows of {}", rules.destination()), counted(length, "element"),
              "at most 2^31 - 1 elements", "reductions and maps, which know no such limit");
  }
  if (length == 0 && by_row && move.destination.view.elements() > 0) {
    rules.add("reduction.elements", fmt::format("rows of {}", rules.destination()), "no elements",
              "at least one element for each result", "a fill with the wanted value");
  }
}

void check_rowwise(MoveRules& rules) {
  const Rowwise& what = rowwise_of(rules.move());
  rules.check_expression(what.steps);
  if (!rules.check_min_sources(1)) return;
  const auto whole = extents(rules.move().sources.front().view);
  if (what.axes.empty() || !are_axes(what.axes, whole.size())) {
    rules.add(
        "rowwise.axes", fmt::format("rows of {}", rules.destination()),
        what.axes.empty() ? std::string("no axes") : fmt::format("axes {}", fmt::join(what.axes, ",")),
        fmt::format("axes of the sources, which have {}, each once", counted(whole.size(), "dimension")),
        whole.empty() ? "a map, since a single element has no rows" : legal_axes(whole.size()));
    return;
  }
  for (std::size_t k = 1; k < rules.move().sources.size(); ++k) {
    const auto other = extents(rules.move().sources[k].view);
    if (std::ranges::equal(other, whole)) continue;
    rules.add("view.shape", fmt::format("{}: shape", rules.source(k)), shape_text(other),
              fmt::format("{}, the shape of {}", shape_text(whole), rules.source(0)),
              "sources that are broadcast to one shape");
    return;
  }
  check_destination(rules, row_dimensions(what.axes, whole.size()));
}

/// A destination as a view with all dimensions of the sources. One with a value for each row has stride 0
/// along rows.
TensorView expanded(const TensorView& destination, const TensorView& whole,
                    const std::array<bool, max_view_rank>& in_row, bool by_row) {
  if (!by_row) return destination;
  TensorView view = whole;
  view.type = destination.type;
  const bool keeps = destination.rank == whole.rank;
  std::uint32_t dimension = 0;
  for (std::uint32_t d = 0; d < whole.rank; ++d) {
    view.strides[d] = in_row[d] ? 0 : destination.strides[dimension];
    if (keeps || !in_row[d]) ++dimension;
  }
  return view;
}

/// The number of the nest's last dimensions that make up a row of `length` elements.
std::uint32_t row_dims_of(const CanonicalNest& nest, std::uint64_t length) {
  std::uint32_t dims = 0;
  for (std::uint64_t elements = 1; elements < length; ++dims) elements *= nest.shape[nest.rank - 1 - dims];
  return dims;
}

Problem rowwise_problem(std::span<const Move> moves) {
  const Move& first = moves.front();
  const Rowwise& what = rowwise_of(first);
  const TensorView& whole = first.sources.front().view;
  const std::array<bool, max_view_rank> in_row = row_dimensions(what.axes, whole.rank);
  auto steps = std::make_shared<const std::vector<RowStep>>(steps_of(what, first.sources));

  // Operands: the first destination, the sources, the other destinations.
  std::vector<Tensor> operands;
  const auto add_destination = [&](const Move& move) {
    operands.emplace_back(expanded(move.destination.view, whole, in_row,
                                   step_of_destination(*steps, rowwise_of(move).result).by_row()),
                          move.destination.address);
  };
  add_destination(first);
  operands.insert(operands.end(), first.sources.begin(), first.sources.end());
  for (const Move& move : moves.subspan(1)) add_destination(move);

  ReducedDimensions reduced;
  reduced.reduced = in_row;
  // In row-major order, `place` is an element's index in its row. If no step needs it, more dimensions can be
  // joined.
  const bool reads_index = std::ranges::any_of(*steps, [](const RowStep& step) {
    return step.reduction == ReductionOp::arg_min || step.reduction == ReductionOp::arg_max ||
           reads(step.expression, "i");
  });
  std::int64_t place = reads_index ? 1 : 0;
  std::uint64_t length = 1;
  for (std::uint32_t d = whole.rank; d-- > 0;) {
    if (!in_row[d]) continue;
    reduced.place[d] = place;
    place *= static_cast<std::int64_t>(whole.shape[d]);
    length *= whole.shape[d];
  }
  Problem problem{.destination = first.destination.view,
                  .destinations = static_cast<std::uint32_t>(moves.size())};
  set_operands(problem, operands, {.reduced = &reduced});
  set_reach(problem, operands);
  const std::uint32_t row_dims = problem.nest.empty() ? 0 : row_dims_of(problem.nest, length);
  RowwiseProblem body{
      .expression = what.steps, .steps = std::move(steps), .row_dims = row_dims, .length = length};
  for (const Move& move : moves) body.results.push_back(rowwise_of(move).result);
  problem.body = std::move(body);
  return problem;
}

/// Whether both moves are destinations of the same rows.
bool are_joint(const Move& a, const Move& b) {
  const auto* const one = std::get_if<Rowwise>(&a.body);
  const auto* const other = std::get_if<Rowwise>(&b.body);
  return one != nullptr && other != nullptr && one->steps == other->steps && one->result < other->result &&
         std::ranges::equal(one->axes, other->axes) && a.sources == b.sources;
}

/// In place is legal: each thread loads the elements that it later overwrites.
constexpr OperationRules rowwise_rules{.in_place = true,
                                       .check = check_rowwise,
                                       .problem =
                                           [](const Move& move) {
                                             return rowwise_problem({&move, 1});
                                           },
                                       .joint_problem = rowwise_problem,
                                       .are_joint = are_joint};

}  // namespace

const OperationRules& rules_of(const Rowwise&) noexcept {
  return rowwise_rules;
}

Operation operation::rowwise(List<Tensor> destinations, const Rowwise& what, List<Tensor> sources) {
  if (sources.empty()) refuse("rows without a source; at least one is needed");
  if (sources.size() > max_inputs) refuse("{} sources; at most {} are possible", sources.size(), max_inputs);
  const std::vector<RowStep> steps = steps_of(what, sources);
  const std::uint32_t count = destination_count(steps);
  if (destinations.size() != count) {
    refuse("{} for steps that assign {}; each y needs one", counted(destinations.size(), "destination"),
           counted(count, "destination"));
  }
  std::vector<TensorView> views;
  for (const Tensor& source : sources) views.push_back(source.view);
  const std::vector<std::uint64_t> shape = common_shape(views);
  Operation operation{.moves = {},
                      .destinations = {destinations.begin(), destinations.end()},
                      .sources = {sources.begin(), sources.end()}};
  Move move{.destination = {}, .sources = {}, .body = {}};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string name = sources.size() == 1 ? std::string(the_source) : fmt::format("source {}", i);
    move.sources.push_back(broadcast(sources[i], shape, name));
  }
  for (std::uint32_t k = 0; k < count; ++k) {
    Rowwise one = what;
    one.result = k;
    move.destination = destinations[k];
    move.body = std::move(one);
    operation.moves.push_back(move);
  }
  return operation;
}

TMAJIT_END
