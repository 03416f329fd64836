#include "kernel/top_k_limits.hpp"
#include "operations/list.hpp"
#include "operations/shared/make.hpp"
#include "operations/shared/rounding.hpp"
#include "operations/shared/shapes.hpp"
#include "spec/counted.hpp"
#include "spec/memory_rules.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

const TopK& top_k_of(const Move& move) {
  return std::get<TopK>(move.body);
}

/// The axis of a legal top_k, counted from the front.
std::uint32_t top_k_axis(const Move& move) {
  return dimension_of(top_k_of(move).axis, move.sources.front().view.rank).value();
}

/// The name of a move's destination, as rules name it.
std::string_view result_name(const Move& move) {
  return top_k_of(move).result == TopK::Result::values ? "values" : "index";
}

void check_result_shape(MoveRules& rules, std::uint32_t axis) {
  const auto x = extents(rules.move().sources[0].view);
  std::vector<std::uint64_t> wanted(x.begin(), x.end());
  wanted[axis] = top_k_of(rules.move()).count;
  const auto found = extents(rules.move().destination.view);
  if (std::ranges::equal(found, wanted)) return;
  rules.add("top_k.shape", fmt::format("{}: shape", result_name(rules.move())), shape_text(found),
            fmt::format("{}, x's shape with k along the axis", shape_text(wanted)),
            "a destination of that shape");
}

/// The rules of x and of the values.
void check_values(MoveRules& rules, std::uint32_t axis) {
  const Move& move = rules.move();
  const TensorView& x = move.sources[0].view;
  if (move.destination.view.type != x.type) {
    rules.add("top_k.type", "values: type", std::string(name(move.destination.view.type)),
              fmt::format("{}, as x has: bits are moved", name(x.type)), "a cast of the values");
  }
  const std::uint64_t length = x.shape[axis];
  const std::uint64_t count = top_k_of(move).count;
  if (count == 0 || count > max_top_k || count > length) {
    rules.add("top_k.count", "values: k, the extent along the axis", fmt::format("{}", count),
              fmt::format("1 to {}, and at most {}, the length of x's rows", max_top_k, length),
              "a k of that range");
  }
  if (length > max_top_k_length) {
    rules.add("top_k.length", "rows of x", counted(length, "element"),
              fmt::format("at most {}", max_top_k_length), "parts of the rows, then their results together");
  }
  std::uint64_t rows = 1;
  for (std::uint32_t d = 0; d < x.rank; ++d) rows = d == axis ? rows : sat_mul(rows, x.shape[d]);
  if (rows > max_top_k_rows) {
    rules.add("top_k.rows", "x", counted(rows, "row"), fmt::format("at most {}", max_top_k_rows),
              "several calls, each for some rows");
  }
}

void check_top_k(MoveRules& rules) {
  const Move& move = rules.move();
  if (move.sources.size() != 1) {
    return rules.add("top_k.sources", fmt::format("sources of {}", rules.destination()),
                     fmt::format("{}", move.sources.size()), "1, x", "x alone");
  }
  // All moves have the same source: the first one reports its mistakes.
  const bool is_first = top_k_of(move).result == TopK::Result::values;
  const std::size_t rank = extents(move.sources[0].view).size();
  const auto axis = dimension_of(top_k_of(move).axis, rank);
  if (!axis) {
    if (!is_first) return;
    return rules.add("top_k.axis", "x", fmt::format("axis {}", top_k_of(move).axis),
                     fmt::format("an axis of x, which has {}", counted(rank, "dimension")),
                     rank == 0 ? "x with a dimension of extent 1" : legal_axes(rank));
  }
  if (is_first) check_values(rules, *axis);
  const ElementType type = move.destination.view.type;
  if (!is_first && type != ElementType::i32 && type != ElementType::i64) {
    rules.add("top_k.index", "index: type", std::string(name(type)), "i32 or i64", "i64");
  }
  check_result_shape(rules, *axis);
}

/// The nest has the dimensions of x without the axis.
Problem top_k_problem(std::span<const Move> moves) {
  const Move& first = moves.front();
  const TopK& what = top_k_of(first);
  if (what.result != TopK::Result::values)
    refuse("a move of top_k that computes the index alone; operation::top_k() makes one of the values first");
  const std::uint32_t axis = top_k_axis(first);
  const Tensor& x = first.sources[0];
  std::vector<Tensor> operands{first.destination, x};
  if (moves.size() > 1) operands.push_back(moves[1].destination);
  TopKProblem body{.largest = what.largest, .count = what.count, .length = x.view.shape[axis]};
  std::vector<Tensor> rows;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    body.stride[i] = operands[i].view.strides[axis];
    rows.emplace_back(without_dimension(operands[i].view, axis), operands[i].address);
  }
  Problem problem{.destination = first.destination.view,
                  .body = body,
                  .destinations = static_cast<std::uint32_t>(moves.size())};
  set_operands(problem, rows);
  set_reach(problem, operands);
  return problem;
}

/// Whether both moves store results of the same selection.
bool are_one_selection(const Move& a, const Move& b) {
  const auto* const one = std::get_if<TopK>(&a.body);
  const auto* const other = std::get_if<TopK>(&b.body);
  return one != nullptr && other != nullptr && one->axis == other->axis && one->largest == other->largest &&
         one->count == other->count && one->result < other->result && a.sources == b.sources;
}

constexpr OperationRules top_k_rules{.check = check_top_k,
                                     .problem =
                                         [](const Move& move) {
                                           return top_k_problem({&move, 1});
                                         },
                                     .joint_problem = top_k_problem,
                                     .are_joint = are_one_selection,
                                     .same_bits = moves_bits};

}  // namespace

const OperationRules& rules_of(const TopK&) noexcept {
  return top_k_rules;
}

Operation operation::top_k(List<Tensor> destinations, const Tensor& x, const TopK& what) {
  if (destinations.empty() || destinations.size() > 2) {
    refuse("{}; top_k needs 1 or 2: values and index, or values alone",
           counted(destinations.size(), "destination"));
  }
  Operation operation{
      .moves = {}, .destinations = {destinations.begin(), destinations.end()}, .sources = {x}};
  TopK one = what;
  const TensorView& values = destinations[0].view;
  const auto axis = dimension_of(what.axis, values.rank);
  one.count = axis && *axis < max_view_rank ? values.shape[*axis] : 0;
  one.result = TopK::Result::values;
  for (const Tensor& destination : destinations) {
    operation.moves.push_back({.destination = destination, .sources = operation.sources, .body = one});
    one.result = TopK::Result::index;
  }
  return operation;
}

TMAJIT_END
