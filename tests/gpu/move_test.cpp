/// Moves between random views on the GPU, compared with loops on the host.
#include "gpu/support.hpp"
#include "reference/random_maps.hpp"
#include "spec/canonical.hpp"

#include <tmajit/move.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <vector>

using namespace tmajit;
using reference::between, reference::one_in, reference::one_of;

namespace {

using Shape = std::vector<std::uint64_t>;

ElementType type_of(std::uint32_t bytes) {
  switch (bytes) {
    case 1: return ElementType::u8;
    case 2: return ElementType::u16;
    case 4: return ElementType::u32;
    default: return ElementType::u64;
  }
}

/// The lowest and the highest element offset of a view, relative to its address.
std::pair<std::int64_t, std::int64_t> span_of(const TensorView& view) {
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    const std::int64_t reach = view.strides[d] * static_cast<std::int64_t>(view.shape[d] - 1);
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
}

/// A destination and a source of one random shape, with dimensions in random order in memory and gaps. Half
/// of the pairs have rows aligned to 16 bytes.
std::pair<TensorView, TensorView> random_views(reference::Random& random, std::uint32_t bytes) {
  const auto rank = static_cast<std::uint32_t>(between(random, 0, max_view_rank));
  Shape shape(rank);
  const bool aligned_rows = one_in(random, 2);
  std::uint64_t elements = 1;
  for (auto& extent : shape) {
    extent = one_in(random, 4) ? between(random, 1, 300) : between(random, 1, 9);
    if (aligned_rows)
      extent =
          std::max<std::uint64_t>(extent / (16 / bytes) * (16 / bytes), one_in(random, 2) ? 1 : 16 / bytes);
    while (elements * extent > 2'000'000) extent = std::max<std::uint64_t>(extent / 2, 1);
    elements *= extent;
  }
  const auto view = [&](bool source) {
    std::vector<std::uint32_t> order(rank);
    std::iota(order.begin(), order.end(), 0U);
    if (one_in(random, 2)) std::shuffle(order.begin(), order.end(), random);
    std::vector<std::int64_t> strides(rank);
    std::int64_t stride = 1;
    for (std::uint32_t k = rank; k-- > 0;) {
      strides[order[k]] = one_in(random, 16) ? -stride : stride;
      stride *= static_cast<std::int64_t>(shape[order[k]]);
      if (aligned_rows && k + 1 == rank) stride = (stride + 15) / 16 * 16;
      if (one_in(random, 8)) stride += aligned_rows ? 16 : 1;
      if (source && one_in(random, 16)) strides[order[k]] = 0;
    }
    return TensorView::strided(type_of(bytes), shape, strides);
  };
  TensorView to = view(false);
  TensorView from = view(true);
  return {to, from};
}

}  // namespace

TEST_CASE("moves between random views give the bytes of a loop on the host", "[gpu]") {
  REQUIRE_HOPPER(device);
  Runtime runtime({.device = device, .cache_directory = std::nullopt, .compile = {}});
  reference::Random random(gpu::seed());
  std::map<std::string, std::uint64_t> kernels;
  const auto cases = gpu::from_environment("TMAJIT_CASES", 300);
  for (std::uint64_t n = 0; n < cases; ++n) {
    const std::uint32_t bytes = 1U << between(random, 0, 3);
    const auto [to, from] = random_views(random, bytes);
    const auto [to_low, to_high] = span_of(to);
    const auto [from_low, from_high] = span_of(from);
    const std::uint64_t shift = one_in(random, 3) ? between(random, 0, 15) : 0;
    std::vector<std::uint8_t> source((static_cast<std::uint64_t>(from_high - from_low + 1) + shift) * bytes);
    std::ranges::generate(source, [&] { return static_cast<std::uint8_t>(random()); });
    constexpr std::uint64_t margin = 64;  // elements before and after the view, which must not change
    std::vector<std::uint8_t> want((static_cast<std::uint64_t>(to_high - to_low + 1) + 2 * margin) * bytes,
                                   0xA5);
    const Buffer in(device, source.size());
    const Buffer out(device, want.size());
    device->memory().copy_in(in.address(), std::as_bytes(std::span(source)), nullptr);
    device->memory().copy_in(out.address(), std::as_bytes(std::span(want)), nullptr);
    const std::uint64_t in_first = static_cast<std::uint64_t>(-from_low) + shift;
    const std::uint64_t out_first = static_cast<std::uint64_t>(-to_low) + margin;

    const Move move{{to, out.address() + out_first * bytes}, {{from, in.address() + in_first * bytes}}};
    CAPTURE(n, bytes, canonical(std::array{to, from}).text());
    const Plan plan = tmajit::plan(runtime, Operation::of({move}));
    const MoveExplanation explanation = plan.explain();
    ++kernels[explanation.steps.front().kernel];
    CAPTURE(explanation.steps.front().choice);
    plan();
    device->streams().synchronize(nullptr);
    std::vector<std::uint64_t> at(to.rank, 0);
    for (;;) {
      std::int64_t to_offset = 0;
      std::int64_t from_offset = 0;
      for (std::uint32_t d = 0; d < to.rank; ++d) {
        to_offset += static_cast<std::int64_t>(at[d]) * to.strides[d];
        from_offset += static_cast<std::int64_t>(at[d]) * from.strides[d];
      }
      std::memcpy(
          &want[static_cast<std::uint64_t>(to_offset + static_cast<std::int64_t>(out_first)) * bytes],
          &source[static_cast<std::uint64_t>(from_offset + static_cast<std::int64_t>(in_first)) * bytes],
          bytes);
      std::uint32_t d = to.rank;
      while (d > 0 && ++at[d - 1] == to.shape[d - 1]) at[--d] = 0;
      if (d == 0) break;
    }
    std::vector<std::uint8_t> got(want.size());
    device->memory().copy_out(std::as_writable_bytes(std::span(got)), out.address(), nullptr);
    device->streams().synchronize(nullptr);
    const auto wrong = static_cast<std::uint64_t>(std::ranges::mismatch(got, want).in1 - got.begin());
    INFO("first wrong byte " << wrong << " of " << got.size());
    REQUIRE(wrong == got.size());
  }
  std::cout << cases << " moves:";
  for (const auto& [kernel, count] : kernels) std::cout << " " << count << " by " << kernel;
  std::cout << "\n";
}

TEST_CASE("fp8 results are all stored if all of them are equal", "[gpu]") {
  // ptxas of CUDA 13.0 lost every other pair of results if words were assembled by shifts.
  REQUIRE_HOPPER(device);
  Runtime runtime({.device = device, .cache_directory = std::nullopt, .compile = {}});
  const Buffer in(device, 2);
  const Buffer out(device, 3072);
  device->memory().fill(in.address(), std::byte{0}, 2, nullptr);
  const Tensor from{TensorView::contiguous(ElementType::bf16, Shape{1, 1}), in.address()};
  const Tensor to{TensorView::contiguous(ElementType::e5m2, Shape{192, 16}), out.address()};
  map(runtime, to, "x > 7 ? 1.5f : -2.0f", std::span(&from, 1));
  std::vector<std::uint8_t> got(3072);
  device->memory().copy_out(std::as_writable_bytes(std::span(got)), out.address(), nullptr);
  device->streams().synchronize(nullptr);
  CHECK(got == std::vector<std::uint8_t>(3072, 0xC0));
}
