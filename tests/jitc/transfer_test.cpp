#include "transfer.hpp"

#include "host_device.hpp"
#include "subprocess.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include <catch2/catch_test_macros.hpp>

using namespace jitc;
using tmajit::ElementType;
using tmajit::TensorView;

namespace {

/// Every index of a shape, in C order.
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

/// Strides in some order of the dimensions, with gaps in places.
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

TEST_CASE("arrays go to the device and back element by element, whatever the strides, order and byte order") {
  const auto seed = test::seed();
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 500; ++round) {
    const auto type = tmajit::all_element_types[random() % tmajit::all_element_types.size()];
    const std::size_t size = tmajit::size_of(type);
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
    const auto address = reinterpret_cast<tmajit::DevicePtr>(memory.data());
    upload(device, address, view, source, layout);

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
    // Gaps are filled only where there are any; a dense array touches nothing else.
    REQUIRE(memory == expected);

    std::vector<std::byte> back(source.size(), std::byte{1});
    download(device, back, address, view);
    REQUIRE(back == dense);
  }
}

TEST_CASE("an array larger than the staging buffer travels in pieces") {
  // 96 MiB with rows of an odd length spaced out, and a step between elements.
  const std::vector<std::uint64_t> shape{6144, 4099};
  const auto padded = TensorView::strided(ElementType::u32, shape, std::vector<std::int64_t>{4100, 1});
  std::vector<std::uint32_t> source(6144ULL * 4099);
  std::iota(source.begin(), source.end(), 0U);
  std::vector<std::uint32_t> memory(6144ULL * 4100);
  test::HostDevice device;
  upload(device, reinterpret_cast<tmajit::DevicePtr>(memory.data()), padded, std::as_bytes(std::span(source)),
         {.strides = c_order(shape)});
  CHECK(device.copies() > 1);
  bool same = true;
  for (std::size_t row = 0; row < 6144; ++row) {
    same = same && std::equal(&source[row * 4099], &source[row * 4099] + 4099, &memory[row * 4100]);
    same = same && memory[row * 4100 + 4099] == 0;
  }
  CHECK(same);
  std::vector<std::uint32_t> back(source.size());
  download(device, std::as_writable_bytes(std::span(back)),
           reinterpret_cast<tmajit::DevicePtr>(memory.data()), padded);
  CHECK(back == source);
}

TEST_CASE("a row longer than the staging buffer is cut") {
  const std::vector<std::uint64_t> shape{2, 40'000'000};
  const auto view = TensorView::strided(ElementType::u16, shape, std::vector<std::int64_t>{40'000'000, 1});
  std::vector<std::uint16_t> source(80'000'000);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::uint16_t>(i * 40503U >> 3U);
  std::vector<std::uint16_t> memory(source.size());
  test::HostDevice device;
  HostLayout layout{.strides = c_order(shape), .swapped = true};
  upload(device, reinterpret_cast<tmajit::DevicePtr>(memory.data()), view, std::as_bytes(std::span(source)),
         layout);
  bool same = true;
  for (std::size_t i = 0; i < source.size(); ++i) {
    same = same && memory[i] == static_cast<std::uint16_t>(source[i] << 8U | source[i] >> 8U);
  }
  CHECK(same);
}

TEST_CASE("strides under which elements share memory are refused") {
  const auto refused = [](std::vector<std::uint64_t> shape, const std::vector<std::int64_t>& strides) {
    const auto view = TensorView::strided(ElementType::f32, shape, strides);
    CHECK_THROWS_AS(for_each_segment(view, c_order(shape), [](const Segment&) {}), tmajit::Error);
  };
  refused({4, 4}, {0, 1});
  refused({4, 4}, {2, 1});
  refused({4, 4}, {-4, 1});
  refused({2, 3}, {3, 2});  // no two in one place, but no order by address either
}
