#include "host_device.hpp"
#include "seed.hpp"

#include <tmajit/error.hpp>
#include <tmajit/launch/memory_image.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

/// Calls `take` with every index of a shape, in C order.
template <class Take>
void for_each_index(const std::vector<std::uint64_t>& shape, const Take& take) {
  if (std::find(shape.begin(), shape.end(), 0U) != shape.end()) return;
  std::vector<std::uint64_t> index(shape.size(), 0);
  for (;;) {
    take(index);
    std::size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

std::uint64_t offset(const std::vector<std::uint64_t>& index, std::span<const std::int64_t> strides) {
  std::uint64_t sum = 0;
  for (std::size_t d = 0; d < index.size(); ++d) sum += index[d] * static_cast<std::uint64_t>(strides[d]);
  return sum;
}

/// Strides in a random order of the dimensions, some with gaps.
std::vector<std::int64_t> random_strides(const std::vector<std::uint64_t>& shape, std::mt19937_64& random) {
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::int64_t> strides(shape.size());
  std::uint64_t span = 1;
  for (const auto d : order) {
    const std::uint64_t stride = span + (random() % 3 == 0 ? random() % 5 : 0);
    strides[d] = static_cast<std::int64_t>(stride);
    span += (std::max<std::uint64_t>(shape[d], 1) - 1) * stride;
  }
  return strides;
}

std::vector<std::byte> random_bytes(std::size_t size, std::mt19937_64& random) {
  std::vector<std::byte> bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random() & 0xffU);
  return bytes;
}

}  // namespace

TEST_CASE(
    "an array copied to a device and back is unchanged, whatever its strides, order of dimensions and byte "
    "order") {
  const auto seed = tests::seed(std::random_device{}());
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 500; ++round) {
    const auto type = all_element_types[random() % all_element_types.size()];
    const std::size_t size = size_of(type);
    std::vector<std::uint64_t> shape(1 + random() % 5);
    for (auto& extent : shape) extent = random() % 8 + (random() % 20 == 0 ? 0 : 1);
    const auto view = TensorView::strided(type, shape, random_strides(shape, random));
    HostLayout layout{.strides = c_order(shape), .swapped = random() % 2 == 0};
    if (random() % 2 == 0) {
      std::uint64_t stride = 1;
      for (std::size_t d = 0; d < shape.size(); stride *= shape[d++])
        layout.strides[d] = static_cast<std::int64_t>(stride);
    }
    CAPTURE(round, size, shape, layout.strides, layout.swapped, view.strides);

    const auto source = random_bytes(view.elements() * size, random);
    test::HostDevice device;
    std::vector<std::byte> memory(view.span_bytes() + 16, std::byte{0xa5});
    const auto address = reinterpret_cast<DevicePtr>(memory.data());
    const auto span = MemorySpan::of(view, 0);
    const auto image = MemoryImage::of(span, view, source, layout);
    copy_in(device, address, image.bytes);

    std::vector<std::byte> expected(memory.size(), std::byte{0xa5});
    if (view.elements() != 0) std::fill_n(expected.begin(), view.span_bytes(), std::byte{0});
    std::vector<std::byte> dense(source.size());
    std::size_t at = 0;
    for_each_index(shape, [&](const std::vector<std::uint64_t>& index) {
      auto* const to = expected.data() + offset(index, std::span(view.strides).first(view.rank)) * size;
      std::memcpy(to, source.data() + offset(index, layout.strides) * size, size);
      if (layout.swapped) std::reverse(to, to + size);
      std::memcpy(dense.data() + at, to, size);
      at += size;
    });
    // Bytes beyond the view are unchanged.
    REQUIRE(memory == expected);

    std::vector<std::byte> found(span.bytes);
    copy_out(device, found, address);
    std::vector<std::byte> back(source.size(), std::byte{1});
    gather(back, found, span, view);
    REQUIRE(back == dense);
  }
}

TEST_CASE("a large array is copied in chunks, a dense one without a host copy") {
  const std::vector<std::uint64_t> shape{20'000'011};
  const auto view = TensorView::contiguous(ElementType::u32, shape);
  std::vector<std::uint32_t> source(shape[0]);
  std::iota(source.begin(), source.end(), 0U);
  const auto bytes = std::as_bytes(std::span(source));
  const auto image = MemoryImage::of(MemorySpan::of(view, 0), view, bytes, {.strides = {1}});
  CHECK(image.own.empty());
  CHECK(image.bytes.data() == bytes.data());
  std::vector<std::uint32_t> memory(source.size());
  test::HostDevice device;
  copy_in(device, reinterpret_cast<DevicePtr>(memory.data()), image.bytes);
  CHECK(device.copies() == 2);
  CHECK(memory == source);
  std::vector<std::uint32_t> back(source.size());
  copy_out(device, std::as_writable_bytes(std::span(back)), reinterpret_cast<DevicePtr>(memory.data()));
  CHECK(back == source);
}

TEST_CASE("the memory of a view with negative strides begins before its first element") {
  const auto view = TensorView::strided(ElementType::u16, std::vector<std::uint64_t>{2, 3},
                                        std::vector<std::int64_t>{-10, 2});
  const auto span = MemorySpan::of(view, 3);
  CHECK(span.first == (10 + 3) * 2ULL);
  CHECK(span.bytes == (10 + 3 + 4 + 1) * 2ULL);
  CHECK(MemorySpan::of(TensorView::contiguous(ElementType::f32, std::vector<std::uint64_t>{4, 0}), 5).bytes ==
        0);
  const auto huge = TensorView::strided(ElementType::f32, std::vector<std::uint64_t>{3},
                                        std::vector<std::int64_t>{std::int64_t{1} << 60});
  CHECK_THROWS_AS(MemorySpan::of(huge, 0), Error);
}
