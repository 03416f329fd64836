#include "families/fills.hpp"

#include "reference/scalar.hpp"
#include "shifted_tensor.hpp"

#include <tmajit/plan.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <span>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace tests {
namespace {

using namespace tmajit;
using reference::between, reference::one_in, reference::one_of;

constexpr std::array types{ElementType::u8,  ElementType::i8,   ElementType::u16,  ElementType::i32,
                           ElementType::u64, ElementType::f16,  ElementType::bf16, ElementType::e4m3,
                           ElementType::f32, ElementType::tf32, ElementType::f64};

std::span<const std::uint64_t> shape_of(const TensorView& view) {
  return {view.shape.data(), view.rank};
}

/// What memory holds afterwards, from the lowest element on.
std::vector<std::byte> expected(const RandomFill& fill, std::uint64_t bytes) {
  const TensorView& view = fill.view;
  const std::size_t size = size_of(view.type);
  std::vector<std::byte> memory(bytes, poison);
  std::array<std::uint64_t, max_view_rank> index{};
  for (std::uint64_t n = 0; n < view.elements(); ++n) {
    std::int64_t at = -reach_of(view).first;
    std::int32_t value = fill.constant;
    for (std::uint32_t d = 0; d < view.rank; ++d) {
      at += view.strides[d] * static_cast<std::int64_t>(index[d]);
      value += fill.factors[d] * static_cast<std::int32_t>(index[d]);
    }
    reference::encode(view.type, value, &memory[static_cast<std::size_t>(at) * size]);
    for (std::uint32_t d = view.rank; d-- > 0;) {
      if (++index[d] < view.shape[d]) break;
      index[d] = 0;
    }
  }
  return memory;
}

}  // namespace

std::string RandomFill::expression() const {
  std::string text = fmt::format("{}", constant);
  for (std::size_t d = 0; d < factors.size(); ++d) {
    if (factors[d] != 0) text += fmt::format(" + ({}) * int(g[{}])", factors[d], d);
  }
  return text;
}

std::string RandomFill::text() const {
  return fmt::format("{} {} strides {}, shift {}: {}", name(view.type), fmt::join(shape_of(view), "x"),
                     fmt::join(view.strides.begin(), view.strides.begin() + view.rank, ","), shift,
                     expression());
}

RandomFill random_fill(reference::Random& random, std::uint64_t most_elements) {
  RandomFill fill;
  fill.constant = static_cast<std::int32_t>(between(random, 0, 9)) - 4;
  if (one_in(random, 2)) fill.shift = between(random, 0, 17);
  TensorView& view = fill.view;
  view.type = one_of(random, types);
  view.rank = static_cast<std::uint32_t>(between(random, 0, 6));
  std::uint64_t elements = 1;
  std::vector<std::uint32_t> order(view.rank);
  std::iota(order.begin(), order.end(), 0U);
  if (one_in(random, 2)) std::shuffle(order.begin(), order.end(), random);
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    std::uint64_t extent = one_in(random, 3) ? between(random, 1, most_elements) : between(random, 1, 9);
    extent = std::min(extent, std::max<std::uint64_t>(most_elements / elements, 1));
    const std::uint64_t whole = (extent + 15) / 16 * 16;
    if (one_in(random, 3) && elements * whole <= most_elements) extent = whole;
    view.shape[d] = extent;
    elements *= extent;
    fill.factors.push_back(one_in(random, 3) ? 0 : static_cast<std::int32_t>(between(random, 0, 8)) - 4);
  }
  std::int64_t step = one_in(random, 5) ? 2 : 1;
  std::uint64_t left = elements;  // of the dimensions that are still to come
  for (std::size_t k = order.size(); k-- > 0;) {
    const std::uint32_t d = order[k];
    view.strides[d] = one_in(random, 6) ? -step : step;
    step *= static_cast<std::int64_t>(view.shape[d]);
    left /= view.shape[d];
    // Gaps, but memory of a few times the most elements.
    const bool may_grow = (static_cast<std::uint64_t>(step) + 20) * left < 4 * most_elements;
    if (may_grow && one_in(random, 3)) step += static_cast<std::int64_t>(between(random, 1, 20));
  }
  return fill;
}

std::string run_fill(Runtime& runtime, const RandomFill& fill) {
  const std::uint64_t size = size_of(fill.view.type);
  const auto [low, high] = reach_of(fill.view);
  const std::uint64_t bytes = static_cast<std::uint64_t>(high - low + 1) * size;
  const std::uint64_t guard = 64 * size;
  const std::vector<std::byte> want = expected(fill, bytes);
  Device& device = *runtime.device();
  const Buffer memory(runtime.device(), guard + fill.shift * size + bytes + guard);
  const DevicePtr lowest = memory.address() + guard + fill.shift * size;
  const Tensor destination{fill.view, lowest + static_cast<DevicePtr>(-low) * size};
  const Operation operation = operation::map(destination, fill.expression(), {});

  std::vector<std::byte> got(guard + fill.shift * size + bytes + guard);
  for (const KernelPlan& plan : plan_candidates(operation.moves.front(), {.chip = runtime.chip()})) {
    if (plan.family().name != "fill") return fmt::format("{} was planned", plan.choice().text());
    device.memory().fill(memory.address(), poison, got.size(), nullptr);
    runtime.kernel(plan).launch(plan);
    device.streams().synchronize(nullptr);
    device.memory().copy_out(got, memory.address(), nullptr);
    const std::size_t begin = guard + fill.shift * size;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::byte right = i >= begin && i < begin + bytes ? want[i - begin] : poison;
      if (got[i] == right) continue;
      return fmt::format("{}: byte {} is {:#04x} instead of {:#04x}", plan.choice().text(),
                         static_cast<std::int64_t>(i) - static_cast<std::int64_t>(begin),
                         static_cast<unsigned>(got[i]), static_cast<unsigned>(right));
    }
  }
  return {};
}

}  // namespace tests
