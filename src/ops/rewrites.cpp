#include "ops/rewrites.hpp"

#include <algorithm>
#include <numeric>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

using Dimensions = std::vector<std::uint32_t>;

std::string listed(std::string_view one, std::string_view many, const Dimensions& dimensions) {
  return fmt::format("{} {}", dimensions.size() == 1 ? one : many, fmt::join(dimensions, ", "));
}

template <class Condition>
Dimensions dimensions_where(const TensorView& view, Condition holds) {
  Dimensions found;
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    if (holds(d)) found.push_back(d);
  }
  return found;
}

}  // namespace

std::vector<std::string> rewrites(const Move& move, const PlannedMove& planned) {
  const TensorView& to = move.destination.view;
  const CanonicalNest& nest = planned.chosen.nest;
  const MoveKernel& kernel = planned.chosen.kernel;
  std::vector<std::string> out;

  const Dimensions ones = dimensions_where(to, [&](std::uint32_t d) { return to.shape[d] == 1; });
  if (!ones.empty()) out.push_back(listed("Dimension", "Dimensions", ones) + " of extent 1 dropped.");
  const Dimensions backwards =
      dimensions_where(to, [&](std::uint32_t d) { return to.shape[d] > 1 && to.strides[d] < 0; });
  if (!backwards.empty()) {
    out.push_back(listed("Dimension", "Dimensions", backwards) + " walked from the other end.");
  }
  const Dimensions kept = dimensions_where(to, [&](std::uint32_t d) { return to.shape[d] > 1; });
  const auto stride = [&](std::uint32_t d) { return std::abs(to.strides[d]); };
  if (!std::ranges::is_sorted(kept, std::ranges::greater_equal{}, stride)) {
    out.emplace_back("Dimensions ordered by the destination's strides.");
  }
  const std::uint32_t joined = planned.problem.joined;
  const std::uint32_t merged = nest.rank + (joined > 1 ? 1 : 0);
  if (merged < kept.size()) {
    out.push_back(
        fmt::format("Dimensions that every view walks as one merged: {} become {}.", kept.size(), merged));
  }
  if (joined > 1) {
    out.push_back(fmt::format("{} elements of {} that stay together move as one of {} bytes.", joined,
                              name(to.type), planned.problem.element_bytes(0)));
  }
  if (nest.windowed) out.emplace_back("The source seen as a window of the destination.");
  if (nest.operand != planned.problem.nest.operand) {
    out.emplace_back("A dimension turned round, so that the source's lines run forwards.");
  }
  if (kernel.staggered) {
    out.emplace_back(
        "Rows cut at multiples of 16 bytes of the destination's memory, which each row begins elsewhere.");
  }
  if (kernel.method == MoveMethod::gather && kernel.run_dimension + 1 < kernel.rank) {
    Dimensions run(kernel.rank - kernel.run_dimension);
    std::iota(run.begin(), run.end(), kernel.run_dimension);
    const std::uint32_t last = run.back();
    run.pop_back();
    out.push_back(fmt::format("{} and {} of the canonical nest are one run of the destination's memory.",
                              fmt::format("Dimensions {}", fmt::join(run, ", ")), last));
  }
  return out;
}

TMAJIT_END
