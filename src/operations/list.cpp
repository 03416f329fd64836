#include "operations/list.hpp"

#include "spec/memory_rules.hpp"
#include "spec/views.hpp"

#include <tmajit/operations.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

TMAJIT_BEGIN
namespace {

const OperationRules& rules_of_move(const Move& move) noexcept {
  return std::visit([](const auto& body) -> const OperationRules& { return rules_of(body); }, move.body);
}

void check_no_overlap(std::span<const Move> moves, Violations& violations) {
  struct OperandOfMove {
    std::size_t move;
    std::ptrdiff_t source;  // −1: the destination
  };
  std::vector<PlacedOperand> operands;
  std::vector<OperandOfMove> origins;
  std::size_t i = 0;
  std::uint32_t group = 0;
  for (const std::span<const Move> kernel : kernels_of(moves)) {
    for (const Move& move : kernel) {
      const bool in_place = rules_of_move(move).in_place;
      operands.push_back({&move.destination.view, move.destination.address, true, group, in_place});
      origins.push_back({i, -1});
      // The other moves of a kernel have the same sources.
      const std::size_t sources = &move == kernel.data() ? move.sources.size() : 0;
      for (std::size_t k = 0; k < sources; ++k) {
        if (move.sources[k].view.is_number) continue;
        operands.push_back({&move.sources[k].view, move.sources[k].address, false, group, in_place});
        origins.push_back({i, static_cast<std::ptrdiff_t>(k)});
      }
      ++i;
    }
    ++group;
  }
  const auto name = [&](std::size_t n) {
    const auto [move, source] = origins[n];
    return source < 0 ? destination_name(moves, move)
                      : source_name(moves, move, static_cast<std::size_t>(source));
  };
  check_disjoint(operands, name, violations);
}

bool takes_numbers(const Move& move) {
  const auto name = std::visit([](const auto& body) { return std::string_view(body.operation); }, move.body);
  return find_operation(name).takes_numbers;
}

void throw_if_any(Violations& violations) {
  if (violations.count() > 0) throw SpecError(violations.take());
}

}  // namespace

void check_operation(std::span<const Move> moves) {
  Violations violations;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const OperationRules& rules = rules_of_move(moves[i]);
    if (count_numbers(moves[i].sources) > 0 && !takes_numbers(moves[i])) {
      violations.add({.rule = "number.operation",
                      .subject = destination_name(moves, i),
                      .found = "a source that is a number",
                      .need = "tensors: this operation has no expression that reads numbers",
                      .legal =
                          "map, stencil, reduce, scan, rowwise, gather and tiles, whose expressions read "
                          "p0, p1 …, and cast_transpose",
                      .source = source_of_rules});
      continue;
    }
    if (rules.check_alone != nullptr) {
      rules.check_alone(moves[i], violations);
    } else {
      MoveRules(moves, i, violations).check(rules.check);
    }
  }
  throw_if_any(violations);
  if (moves.size() == 1 && rules_of_move(moves.front()).check_alone != nullptr) return;
  check_no_overlap(moves, violations);
  throw_if_any(violations);
}

std::vector<std::span<const Move>> kernels_of(std::span<const Move> moves) {
  std::vector<std::span<const Move>> kernels;
  for (std::size_t first = 0; first < moves.size();) {
    const OperationRules& rules = rules_of_move(moves[first]);
    std::size_t end = first + 1;
    while (end < moves.size() && rules.are_joint != nullptr && rules.are_joint(moves[first], moves[end]))
      ++end;
    kernels.push_back(moves.subspan(first, end - first));
    first = end;
  }
  return kernels;
}

bool writes_elements(std::span<const Move> moves) noexcept {
  return std::ranges::any_of(moves, [](const Move& move) {
    const auto writes = rules_of_move(move).writes;
    return move.destination.view.elements() > 0 && (writes == nullptr || writes(move));
  });
}

bool same_bits(std::span<const Move> moves) noexcept {
  return std::ranges::all_of(moves, [](const Move& move) {
    const auto same = rules_of_move(move).same_bits;
    return same != nullptr && same(move);
  });
}

Problem make_problem(std::span<const Move> moves) {
  const OperationRules& rules = rules_of_move(moves.front());
  return moves.size() == 1 ? rules.problem(moves.front()) : rules.joint_problem(moves);
}

TMAJIT_END
