/// Moves of more than 4 GiB, and offsets beyond 2^31 and 2^32 bytes and elements.
#include "gpu/support.hpp"
#include "reference/random_elements.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

using namespace tmajit;

namespace {

constexpr std::uint64_t GiB = std::uint64_t{1} << 30;
constexpr std::uint64_t piece = 1 << 16;  // bytes before an address of interest at which checking begins

using Index = std::array<std::uint64_t, max_view_rank>;

/// Fills memory with a pattern, piece by piece on the device.
void fill_with(Device& device, const reference::Pattern& pattern, DevicePtr at, std::uint64_t bytes) {
  const std::span<const std::byte> period = pattern.period();
  std::uint64_t done = std::min<std::uint64_t>(period.size(), bytes);
  device.memory().copy_in(at, period.first(done), nullptr);
  // Each copy doubles the filled part, which is a whole number of periods.
  while (done < bytes) {
    const std::uint64_t more = std::min(done, bytes - done);
    device.memory().copy(at + done, at, more, nullptr);
    done += more;
  }
  device.streams().synchronize(nullptr);
}

/// The number of wrong elements of a destination among those checked: at its ends, around 2, 4 and 8 GiB, and
/// at random positions.
std::uint64_t count_wrong(Device& device, const Tensor& destination, const reference::Pattern& pattern,
                          const std::function<std::uint64_t(const Index&)>& source_offset,
                          reference::Random& random) {
  const TensorView& view = destination.view;
  const std::uint64_t size = size_of(view.type);
  const std::uint64_t count = view.elements();
  std::vector<std::uint64_t> starts{0, count - std::min(count, piece / size)};
  for (const std::uint64_t bytes : {2 * GiB, 4 * GiB, 8 * GiB}) {
    if (bytes / size < count) starts.push_back(bytes / size - std::min(bytes / size, piece / size / 2));
  }
  for (int i = 0; i < 40; ++i) starts.push_back(reference::between(random, 0, count - 1));
  std::uint64_t wrong = 0;
  std::vector<std::byte> element(size);
  for (const std::uint64_t start : starts) {
    for (std::uint64_t n = start; n < std::min(count, start + 64); ++n) {
      Index index{};
      std::int64_t at = 0;
      std::uint64_t rest = n;
      for (std::uint32_t d = view.rank; d-- > 0; rest /= view.shape[d]) {
        index[d] = rest % view.shape[d];
        at += static_cast<std::int64_t>(index[d]) * view.strides[d];
      }
      device.memory().copy_out(element, destination.address + static_cast<DevicePtr>(at) * size, nullptr);
      device.streams().synchronize(nullptr);
      if (std::memcmp(element.data(), pattern.at(source_offset(index)), size) != 0) ++wrong;
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("moves of more than 4 GiB are right", "[gpu]") {
  REQUIRE_HOPPER(device);
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  reference::Random random(gpu::seed());
  const std::uint64_t memory = 5 * GiB;
  const Buffer from(device, memory);
  const Buffer to(device, memory);
  for (const ElementType type : {ElementType::u8, ElementType::bf16, ElementType::f32}) {
    const std::uint64_t size = size_of(type);
    const reference::Pattern pattern(type, gpu::seed());
    fill_with(*device, pattern, from.address(), memory);
    // Odd extents, some larger than 2^16.
    const std::array<std::uint64_t, 2> shape{66'051, memory / size / 66'051 - 3};
    INFO(name(type) << " " << shape[0] << "x" << shape[1]);
    const Tensor source{TensorView::contiguous(type, shape), from.address()};
    {
      const Tensor destination{TensorView::contiguous(type, std::array{shape[1], shape[0]}), to.address()};
      device->memory().fill(to.address(), std::byte{0xA5}, memory, nullptr);
      permute(runtime, destination, source, {1, 0});
      CHECK(count_wrong(
                *device, destination, pattern,
                [&](const Index& i) { return (i[1] * shape[1] + i[0]) * size; }, random) == 0);
    }
    {
      const Tensor destination{TensorView::contiguous(type, shape), to.address()};
      device->memory().fill(to.address(), std::byte{0xA5}, memory, nullptr);
      copy(runtime, destination, flipped(source, 0));
      CHECK(count_wrong(
                *device, destination, pattern,
                [&](const Index& i) { return ((shape[0] - 1 - i[0]) * shape[1] + i[1]) * size; },
                random) == 0);
    }
  }
}

TEST_CASE("small tensors with strides of more than 2^31 and 2^32 elements and bytes are moved right",
          "[gpu]") {
  REQUIRE_HOPPER(device);
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  reference::Random random(gpu::seed());
  const std::uint64_t memory = 20 * GiB;
  const Buffer from(device, memory);
  const Buffer to(device, GiB / 8);
  for (const ElementType type : {ElementType::u8, ElementType::f32}) {
    const std::uint64_t size = size_of(type);
    const reference::Pattern pattern(type, gpu::seed());
    fill_with(*device, pattern, from.address(), memory);
    for (const std::uint64_t distance : {2 * GiB + 16, 4 * GiB + 16, 2 * GiB + size, 4 * GiB + 3 * size}) {
      const auto stride = static_cast<std::int64_t>(distance / size);
      INFO(name(type) << ", rows " << distance << " bytes apart");
      const std::array<std::uint64_t, 3> shape{3, 64, 96};
      const Tensor source{TensorView::strided(type, shape, {stride, 128, 1}), from.address()};
      for (const std::array<std::uint32_t, 3>& axes :
           {std::array{0U, 1U, 2U}, std::array{0U, 2U, 1U}, std::array{2U, 1U, 0U}, std::array{1U, 2U, 0U}}) {
        const std::array<std::uint64_t, 3> turned{shape[axes[0]], shape[axes[1]], shape[axes[2]]};
        const Tensor destination{TensorView::contiguous(type, turned), to.address()};
        device->memory().fill(to.address(), std::byte{0xA5}, to.bytes(), nullptr);
        permute(runtime, destination, source, axes);
        const auto offset = [&](const Index& i) {
          Index source_index{};
          for (std::size_t d = 0; d < 3; ++d) source_index[axes[d]] = i[d];
          return (source_index[0] * static_cast<std::uint64_t>(stride) + source_index[1] * 128 +
                  source_index[2]) *
                 size;
        };
        CHECK(count_wrong(*device, destination, pattern, offset, random) == 0);
      }
    }
  }
}
