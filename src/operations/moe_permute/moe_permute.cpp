#include "kernel/moe_limits.hpp"
#include "operations/list.hpp"
#include "operations/shared/make.hpp"
#include "operations/shared/rounding.hpp"
#include "spec/counted.hpp"
#include "spec/memory_rules.hpp"
#include "spec/saturate.hpp"

#include <tmajit/tile_options.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

using Shape = std::vector<std::uint64_t>;

constexpr std::array<std::string_view, 4> destination_names{"rows", "positions", "counts", "offsets"};

const MoePermute& moe_permute_of(const Move& move) {
  return std::get<MoePermute>(move.body);
}

/// The extents of a row: those of x without the tokens.
Shape row_shape(const TensorView& x) {
  const auto all = extents(x);
  return {all.begin() + 1, all.end()};
}

std::uint64_t slots_of(const TensorView& experts) {
  return experts.rank == 1 ? 1 : experts.shape[1];
}

void check_shape(MoveRules& rules, const Shape& wanted, std::string_view meaning) {
  const MoePermute& what = moe_permute_of(rules.move());
  const auto found = extents(rules.move().destination.view);
  if (std::ranges::equal(found, wanted)) return;
  rules.add("moe.shape", fmt::format("{}: shape", destination_names[what.result]), shape_text(found),
            fmt::format("{}, {}", shape_text(wanted), meaning), "a destination of that shape");
}

/// Checks the sources, and returns whether destinations can be compared with them.
bool check_sources(MoveRules& rules) {
  const Move& move = rules.move();
  if (move.sources.size() != 2) {
    rules.add("moe.sources", fmt::format("sources of {}", rules.destination()),
              fmt::format("{}", move.sources.size()), "x and experts", "2");
    return false;
  }
  const auto x = extents(move.sources[0].view);
  const auto ids = extents(move.sources[1].view);
  // The moves of one operation have the same sources: the first one reports their mistakes.
  const bool reports = moe_permute_of(move).result == 0;
  if (x.size() < 2) {
    if (reports) {
      rules.add("moe.tokens", "x: shape", shape_text(x), "tokens and a row of at least 1 dimension",
                "x with a further dimension of extent 1");
    }
    return false;
  }
  if (ids.empty() || ids.size() > 2 || ids[0] != x[0]) {
    if (reports) {
      rules.add("moe.experts", "experts: shape", shape_text(ids),
                fmt::format("{0} x slots or {0}, since x has {1}", x[0], counted(x[0], "token")),
                "ids of each token, in a tensor of 1 or 2 dimensions");
    }
    return false;
  }
  return true;
}

void check_type(MoveRules& rules) {
  const Move& move = rules.move();
  const ElementType type = move.destination.view.type;
  if (type == ElementType::i32) return;
  rules.add("moe.type", fmt::format("{}: type", destination_names[moe_permute_of(move).result]),
            std::string(name(type)), "i32", "a destination of i32");
}

void check_rows(MoveRules& rules) {
  const Move& move = rules.move();
  const MoePermute& what = moe_permute_of(move);
  const TensorView& x = move.sources[0].view;
  const TensorView& ids = move.sources[1].view;
  const TensorView& rows = move.destination.view;
  const ElementType id = ids.type;
  if (id != ElementType::i32 && id != ElementType::i64 && id != ElementType::u32 && id != ElementType::u64) {
    rules.add("index.type", "experts: type", std::string(name(id)), "integers of 4 or 8 bytes",
              "i32, i64, u32, u64");
  }
  if (size_of(rows.type) != size_of(x.type)) {
    rules.add("view.type", "x: type", std::string(name(x.type)),
              fmt::format("a type of {}, like {} of rows: bits are moved as they are",
                          counted(size_of(rows.type), "byte"), name(rows.type)),
              "a cast first");
  }
  if (slots_of(ids) > max_moe_slots) {
    rules.add("moe.slots", "experts: slots of a token", fmt::format("{}", slots_of(ids)),
              fmt::format("at most {}", max_moe_slots), "ids of fewer slots");
  }
  Shape wanted = row_shape(x);
  const std::uint64_t elements = sat_product(wanted);
  if (elements > max_moe_row_elements) {
    rules.add("moe.row", "rows of x", counted(elements, "element"),
              fmt::format("at most {}", max_moe_row_elements), "several calls, each for a part of a row");
  }
  if (what.alignment == 0 || what.alignment > max_moe_alignment) {
    rules.add("moe.alignment", "alignment", fmt::format("{}", what.alignment),
              fmt::format("1 to {} rows", max_moe_alignment), "1");
  } else if (const std::uint64_t most =
                 moe_rows(sat_mul(ids.shape[0], slots_of(ids)), what.experts, what.alignment);
             most > max_moe_rows) {
    rules.add("moe.rows", "tokens, slots and alignment", fmt::format("up to {} rows with padding", most),
              fmt::format("at most {}", max_moe_rows), "several calls, each for some tokens");
  }
  wanted.insert(wanted.begin(), what.capacity);
  check_shape(rules, wanted, "some rows of x's shape");
}

void check_moe_permute(MoveRules& rules) {
  if (!check_sources(rules)) return;
  const Move& move = rules.move();
  const MoePermute& what = moe_permute_of(move);
  if (what.result == 0) return check_rows(rules);
  check_type(rules);
  const auto ids = extents(move.sources[1].view);
  if (what.result == 1) return check_shape(rules, {ids.begin(), ids.end()}, "the shape of experts");
  if (what.result == 3) return check_shape(rules, {what.experts + 1}, "one more than counts");
  if (what.experts == 0 || what.experts > max_moe_experts) {
    rules.add("moe.count", "counts: experts", fmt::format("{}", what.experts),
              fmt::format("1 to {}: the kernel counts in shared memory", max_moe_experts),
              "groups of experts, each with a call of its own");
  }
  check_shape(rules, {what.experts}, "one element for each expert");
}

/// A tensor's view in the nest, which has the dimensions of a row. A tensor without rows has strides of 0.
TensorView row_view(const Tensor& tensor, const Shape& row, bool has_rows) {
  TensorView view{.type = tensor.view.type, .rank = static_cast<std::uint32_t>(row.size())};
  std::ranges::copy(row, view.shape.begin());
  if (has_rows) std::copy_n(tensor.view.strides.begin() + 1, row.size(), view.strides.begin());
  return view;
}

MoePermuteProblem::Pairs pairs_of(const TensorView& view) {
  return {view.strides[0], view.rank == 1 ? 0 : view.strides[1]};
}

Problem moe_permute_problem(std::span<const Move> moves) {
  if (moves.size() != destination_names.size())
    refuse("{} of moe_permute in a row; operation::moe_permute() makes 4", counted(moves.size(), "move"));
  const Move& first = moves.front();
  const MoePermute& what = moe_permute_of(first);
  const Tensor& x = first.sources[0];
  const Tensor& experts = first.sources[1];
  Shape row = row_shape(x.view);
  std::uint64_t elements = 1;
  for (const std::uint64_t extent : row) elements *= extent;
  if (what.capacity == 0) elements = 0;
  if (elements == 0) row.clear();
  const std::array operands{first.destination,   x, experts, moves[1].destination, moves[2].destination,
                            moves[3].destination};
  std::vector<Tensor> seen;
  for (std::size_t i = 0; i < operands.size(); ++i)
    seen.emplace_back(row_view(operands[i], row, i < 2), operands[i].address);
  const std::uint64_t slots = slots_of(experts.view);
  Problem problem{.destination = first.destination.view,
                  // Tokens without slots have no rows.
                  .body = MoePermuteProblem{.tokens = slots == 0 ? 0 : x.view.shape[0],
                                            .slots = slots,
                                            .experts = what.experts,
                                            .capacity = what.capacity,
                                            .row_elements = elements,
                                            .alignment = what.alignment,
                                            .row_stride = first.destination.view.strides[0],
                                            .token_stride = x.view.strides[0],
                                            .ids = pairs_of(experts.view),
                                            .positions = pairs_of(moves[1].destination.view),
                                            .count_stride = moves[2].destination.view.strides[0],
                                            .offset_stride = moves[3].destination.view.strides[0]},
                  .destinations = static_cast<std::uint32_t>(moves.size())};
  set_operands(problem, seen);
  set_reach(problem, operands);
  return problem;
}

/// Whether both moves store results of the same sort.
bool are_one_sort(const Move& a, const Move& b) {
  const auto* const one = std::get_if<MoePermute>(&a.body);
  const auto* const other = std::get_if<MoePermute>(&b.body);
  return one != nullptr && other != nullptr && one->alignment == other->alignment &&
         one->experts == other->experts && one->capacity == other->capacity && one->result < other->result &&
         a.sources == b.sources;
}

constexpr OperationRules moe_permute_rules{.check = check_moe_permute,
                                           .problem =
                                               [](const Move& move) {
                                                 return moe_permute_problem({&move, 1});
                                               },
                                           .joint_problem = moe_permute_problem,
                                           .are_joint = are_one_sort,
                                           .same_bits = moves_bits};

std::uint64_t first_extent(const Tensor& tensor) {
  return tensor.view.rank == 0 ? 0 : tensor.view.shape[0];
}

}  // namespace

const OperationRules& rules_of(const MoePermute&) noexcept {
  return moe_permute_rules;
}

Operation operation::moe_permute(List<Tensor> destinations, const Tensor& x, const Tensor& experts,
                                 const MoePermute& what) {
  if (destinations.size() != destination_names.size()) {
    refuse("{}; moe_permute needs 4: rows, positions, counts and offsets",
           counted(destinations.size(), "destination"));
  }
  Operation operation{
      .moves = {}, .destinations = {destinations.begin(), destinations.end()}, .sources = {x, experts}};
  MoePermute one = what;
  one.capacity = first_extent(destinations[0]);
  one.experts = first_extent(destinations[2]);
  for (one.result = 0; one.result < destinations.size(); ++one.result)
    operation.moves.push_back(
        {.destination = destinations[one.result], .sources = operation.sources, .body = one});
  return operation;
}

TMAJIT_END
