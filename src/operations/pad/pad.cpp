#include "operations/list.hpp"
#include "operations/shared/make.hpp"
#include "operations/shared/rounding.hpp"
#include "spec/counted.hpp"

#include <cstdint>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr auto max_padding = std::int64_t{1} << 62;

void check_pad(MoveRules& rules) {
  const Move& move = rules.move();
  const auto& padding = std::get<Padding>(move.body);
  const std::uint32_t rank = move.destination.view.rank;
  rules.check_bits();
  if (!move.sources.empty() && move.sources.front().view.rank != rank) {
    rules.add("view.rank", fmt::format("{}: rank", rules.source(0)),
              counted(move.sources.front().view.rank, "dimension"),
              fmt::format("{}, the rank of {}", rank, rules.destination()), "a reshaped source");
  }
  const auto& before = padding.before;
  if (before.size() != rank) {
    rules.add("padding.count", fmt::format("padding of {}", rules.destination()),
              counted(before.size(), "number"),
              fmt::format("one number for each of {}", counted(rank, "dimension")),
              fmt::format("a list of length {}", rank));
    return;
  }
  for (std::uint32_t d = 0; d < rank; ++d) {
    if (before[d] <= max_padding && before[d] >= -max_padding) continue;
    rules.add("padding.range", fmt::format("padding before dimension {}", d), fmt::format("{}", before[d]),
              "a number within 2^62 of 0", "a smaller number");
  }
}

Problem pad_problem(const Move& move) {
  const auto& padding = std::get<Padding>(move.body);
  // In this move the source is a view with the destination's shape: its first element has index `before`.
  Move windowed = move;
  TensorView& source = windowed.sources.front().view;
  SourceWindow window;
  for (std::uint32_t d = 0; d < source.rank; ++d) {
    window.first[d] = padding.before[d];
    window.extent[d] = source.shape[d];
    // The address may wrap: kernels load only elements inside of the source.
    windowed.sources.front().address -= static_cast<DevicePtr>(padding.before[d]) *
                                        static_cast<DevicePtr>(source.strides[d]) * size_of(source.type);
  }
  source.shape = windowed.destination.view.shape;
  Problem problem{.body = PadProblem{padding.value}};
  set_operands(problem, windowed, {.window = &window});
  set_reach(problem, move);
  return problem;
}

constexpr OperationRules pad_rules{.check = check_pad, .problem = pad_problem, .same_bits = moves_bits};

}  // namespace

const OperationRules& rules_of(const Padding&) noexcept {
  return pad_rules;
}

Operation operation::pad(const Tensor& destination, const Tensor& source, const Padding& padding) {
  return one_move({.destination = destination, .sources = {source}, .body = padding}, {&source, 1});
}

TMAJIT_END
