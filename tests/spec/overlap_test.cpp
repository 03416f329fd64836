#include "spec/overlap.hpp"

#include "seed.hpp"

#include <limits>
#include <random>
#include <set>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

using Shape = std::vector<std::uint64_t>;
using Strides = std::vector<std::int64_t>;

TensorView strided_view(const Shape& shape, const Strides& strides, ElementType type = ElementType::f32) {
  return TensorView::strided(type, shape, strides);
}

/// Whether the views may share a byte. This includes undecided pairs and tensors outside the address space.
bool may_overlap(const PlacedView& a, const PlacedView& b) {
  if (a.view.rank > max_view_rank || b.view.rank > max_view_rank) return true;
  if (a.view.elements() == 0 || b.view.elements() == 0) return false;
  const auto range_a = byte_range(a);
  const auto range_b = byte_range(b);
  return !range_a || !range_b || tmajit::overlap(a, *range_a, b, *range_b) != Overlap::none;
}

bool overlap(const TensorView& a, DevicePtr at_a, const TensorView& b, DevicePtr at_b) {
  const bool there = may_overlap({a, at_a}, {b, at_b});
  CHECK(may_overlap({b, at_b}, {a, at_a}) == there);
  return there;
}

void collect(const TensorView& v, std::uint32_t d, std::uint64_t address, std::set<std::uint64_t>& bytes) {
  if (d == v.rank) {
    for (std::uint64_t i = 0; i < size_of(v.type); ++i) bytes.insert(address + i);
    return;
  }
  for (std::uint64_t i = 0; i < v.shape[d]; ++i) {
    collect(v, d + 1, address + i * static_cast<std::uint64_t>(v.strides[d]) * size_of(v.type), bytes);
  }
}

std::set<std::uint64_t> bytes_of(const TensorView& v, std::uint64_t address) {
  std::set<std::uint64_t> bytes;
  collect(v, 0, address, bytes);
  return bytes;
}

}  // namespace

TEST_CASE("views whose spans are adjacent or separate do not overlap") {
  const TensorView v = strided_view({4, 8}, {8, 1});  // 128 bytes
  CHECK_FALSE(overlap(v, 1000, v, 1128));
  CHECK(overlap(v, 1000, v, 1127));
  CHECK(overlap(v, 1000, v, 1000));
  CHECK_FALSE(overlap(v, 1000, strided_view({0, 8}, {8, 1}), 1000));
  CHECK(overlap(v, ~0ULL - 64, v, ~0ULL - 100));
}

TEST_CASE("columns, rows and blocks of one array do not overlap") {
  const DevicePtr base = 0x1000;
  // The halves of a [16, 64] array's columns.
  CHECK_FALSE(
      overlap(strided_view({16, 32}, {64, 1}), base, strided_view({16, 32}, {64, 1}), base + 32ULL * 4));
  CHECK(overlap(strided_view({16, 33}, {64, 1}), base, strided_view({16, 32}, {64, 1}), base + 32ULL * 4));
  // The second view has 33 columns, and so continues in the first one's next row.
  CHECK(overlap(strided_view({16, 32}, {64, 1}), base, strided_view({15, 33}, {64, 1}), base + 32ULL * 4));
  // Even and odd rows.
  CHECK_FALSE(
      overlap(strided_view({8, 64}, {128, 1}), base, strided_view({8, 64}, {128, 1}), base + 64ULL * 4));
  // Columns of a [4, 16, 64] array, and a view of adjacent columns with another type and depth.
  CHECK_FALSE(overlap(strided_view({4, 16, 32}, {1024, 64, 1}), base,
                      strided_view({4, 32}, {2048, 2}, ElementType::u16), base + 32ULL * 4));
  // With rows of 63 elements, row 1 of the second view begins in the first one's last column.
  CHECK(overlap(strided_view({16, 32}, {64, 1}), base, strided_view({16, 32}, {63, 1}), base + 32ULL * 4));
}

TEST_CASE("every view that spans at most 2^62 bytes has a byte range") {
  constexpr std::int64_t elements = std::int64_t{1} << 60;  // of f32: 2^62 bytes
  constexpr DevicePtr base = DevicePtr{1} << 63;
  const auto span_of = [&](const Shape& shape, const Strides& strides) {
    const auto range = byte_range({strided_view(shape, strides), base});
    return range ? range->last - range->first + 1 : 0;
  };
  CHECK(span_of({2}, {elements - 1}) == max_span_bytes);
  CHECK(span_of({2}, {1 - elements}) == max_span_bytes);
  CHECK(span_of({2, 2}, {elements / 2, 1 - elements / 2}) == max_span_bytes);
  CHECK(span_of({2}, {elements}) == 0);
  CHECK(span_of({2}, {-elements}) == 0);
  CHECK(span_of({2, 2}, {elements / 2, -elements / 2}) == 0);
  CHECK(span_of({3}, {std::numeric_limits<std::int64_t>::max()}) == 0);
  // The equation of two such views is solved exactly.
  const TensorView pair = strided_view({2}, {elements - 1});
  CHECK_FALSE(overlap(pair, base, pair, base + 4));
  CHECK(overlap(pair, base, pair, base + 4 * static_cast<DevicePtr>(elements - 1)));
}

TEST_CASE("views that are decided to be disjoint share no byte") {
  const auto seed = static_cast<unsigned>(tests::seed(std::random_device{}()));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return std::uniform_int_distribution<unsigned>(0, n - 1)(random); };
  const auto any_view = [&] {
    const std::size_t rank = 1 + below(3);
    Shape shape;
    Strides strides;
    for (std::size_t d = 0; d < rank; ++d) {
      shape.push_back(1 + below(4));
      strides.push_back(below(3) == 0 ? below(20) : 4 * below(6));
    }
    return strided_view(shape, strides, below(2) == 0 ? ElementType::u8 : ElementType::u16);
  };
  int disjoint_pairs = 0;
  for (int i = 0; i < 20'000; ++i) {
    const TensorView a = any_view();
    const TensorView b = any_view();
    const DevicePtr at_a = 100 + below(30);
    const DevicePtr at_b = 100 + below(30);
    if (may_overlap({a, at_a}, {b, at_b})) continue;
    ++disjoint_pairs;
    const auto bytes_a = bytes_of(a, at_a);
    for (const std::uint64_t byte : bytes_of(b, at_b)) REQUIRE_FALSE(bytes_a.contains(byte));
  }
  CHECK(disjoint_pairs > 500);
}
