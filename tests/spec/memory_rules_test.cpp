#include "spec/memory_rules.hpp"

#include "spec/brute_overlap.hpp"
#include "spec/rules.hpp"

#include <array>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

using ElementType::f32;
constexpr DevicePtr origin = 0x7f00'0000'0000;

using Shape = std::vector<std::uint64_t>;
using Strides = std::vector<std::int64_t>;

TensorView view(const Shape& shape, const Strides& strides, ElementType type = f32) {
  return TensorView::strided(type, shape, strides);
}
TensorView dense(const Shape& shape, ElementType type = f32) {
  return TensorView::contiguous(type, shape);
}

/// Names the tensor in violations.
std::string it() {
  return "it";
}

/// The violations that `check` adds to its argument.
template <class Check>
std::vector<Violation> broken(const Check& check) {
  Violations violations;
  check(violations);
  auto found = violations.take();
  CHECK(complete(found));
  return found;
}

Rules broken_limits(const TensorView& tensor) {
  return rules(broken([&](Violations& v) { check_view_limits(tensor, it, v); }));
}
Rules broken_at_address(const TensorView& tensor, DevicePtr address, std::uint64_t unit) {
  return rules(broken([&](Violations& v) { check_placed_address(tensor, address, unit, it, v); }));
}
Rules broken_if_written(const TensorView& tensor) {
  return rules(broken([&](Violations& v) { check_written_once(tensor, origin, it, v); }));
}

struct Operand {
  TensorView view;
  DevicePtr address;
  bool written = false;
  std::uint32_t group = 0;
  bool in_place = false;
};
std::vector<Violation> broken_by(const std::vector<Operand>& operands) {
  std::vector<PlacedOperand> all;
  all.reserve(operands.size());
  for (const Operand& one : operands)
    all.push_back({&one.view, one.address, one.written, one.group, one.in_place});
  return broken([&](Violations& v) {
    check_disjoint(
        all, [](std::size_t i) { return "operand " + std::to_string(i); }, v);
  });
}

}  // namespace

TEST_CASE("a view must have a known type, at most eight dimensions and a span of at most 2^62 bytes") {
  CHECK(broken_limits(dense({64, 64})) == Rules{});
  CHECK(broken_limits(dense({})) == Rules{});
  CHECK(broken_limits(dense({0, 1ULL << 40})) == Rules{});
  CHECK(broken_limits(dense({4}, static_cast<ElementType>(99))) == Rules{"type.known"});
  TensorView absurd = dense({4});
  absurd.rank = 4'000'000'000;
  CHECK(broken_limits(absurd) == Rules{"rank.range"});

  CHECK(broken_limits(view({2}, {1LL << 59})) == Rules{});
  CHECK(broken_limits(view({2}, {1LL << 60})) == Rules{"view.bytes"});
  CHECK(broken_limits(view({2}, {-(1LL << 60)})) == Rules{"view.bytes"});
  CHECK(broken_limits({.rank = 1, .shape = {~0ULL}}) == Rules{"view.bytes"});
  CHECK(broken_limits(view({1ULL << 40, 1ULL << 30}, {1 << 30, 1})) == Rules{"view.bytes"});
}

TEST_CASE("an address must be non-null and a multiple of the unit, unless the tensor is empty") {
  const TensorView tensor = dense({64});
  CHECK(broken_at_address(tensor, origin, 16) == Rules{});
  CHECK(broken_at_address(tensor, origin + 4, 4) == Rules{});
  CHECK(broken_at_address(tensor, origin + 2, 4) == Rules{"address.alignment"});
  CHECK(broken_at_address(tensor, 0, 4) == Rules{"address.null"});
  CHECK(broken_at_address(dense({0}), 0, 4) == Rules{});
  CHECK(broken_at_address(dense({3, 0}), 7, 4) == Rules{});
  const auto found = broken([&](Violations& v) { check_placed_address(tensor, origin + 7, 4, it, v); });
  CHECK(found[0].subject == "it: address");
  CHECK(found[0].legal == "0x7f0000000004");
  // The next lower multiple would be 0, the null pointer, which must not be suggested.
  const auto low = broken([&](Violations& v) { check_placed_address(tensor, 3, 16, it, v); });
  CHECK(low[0].legal == "0x10");
}

TEST_CASE("a written view must not have the same element at two indices") {
  CHECK(broken_if_written(dense({64, 64})) == Rules{});
  CHECK(broken_if_written(view({64, 64}, {1, 64})) == Rules{});
  CHECK(broken_if_written(view({64, 64}, {-64, -1})) == Rules{});
  CHECK(broken_if_written(view({64, 64}, {0, 1})) == Rules{"view.overlap"});
  CHECK(broken_if_written(view({1, 64}, {0, 1})) == Rules{});
  CHECK(broken_if_written(view({64, 64}, {32, 1})) == Rules{"view.overlap"});
  CHECK(broken_if_written(view({0, 64}, {0, 1})) == Rules{});
  // Dimensions that interleave: 3i + 2j has no value twice for i below 2 …
  CHECK(broken_if_written(view({2, 4}, {3, 2})) == Rules{});
  CHECK(broken_if_written(view({3, 4}, {3, 2})) == Rules{"view.overlap"});  // … 3·2 = 2·3
  const auto found = broken([](Violations& v) {
    check_written_once(view({64, 64}, {32, 1}), origin, it, v);
  });
  CHECK(found[0].legal == "strides 64,1");
}

TEST_CASE("small views break view.overlap exactly if an iteration over their elements finds an overlap") {
  const auto seed_used = reference::seed(7);
  reference::Random random(seed_used);
  INFO("TMAJIT_SEED=" << seed_used);
  int legal_views = 0;
  for (int i = 0; i < 20000; ++i) {
    TensorView random_view =
        small_view(random, static_cast<std::uint32_t>(reference::between(random, 0, 5)), 1, 60);
    for (std::uint32_t d = 0; d < random_view.rank; ++d)
      if (reference::one_in(random, 4)) random_view.strides[d] *= -1;
    CAPTURE(view_text(random_view));
    const bool overlapping = overlaps_itself(random_view);
    REQUIRE(broken_if_written(random_view) == (overlapping ? Rules{"view.overlap"} : Rules{}));
    legal_views += overlapping ? 0 : 1;
  }
  CHECK(legal_views > 1000);
  CHECK(legal_views < 19000);
}

TEST_CASE("legal strides are suggested only if there are any") {
  TensorView endless = view({1ULL << 40U, 1ULL << 40U}, {0, 0});
  const auto found = broken([&](Violations& v) { check_written_once(endless, origin, it, v); });
  REQUIRE(rules(found) == Rules{"view.overlap"});
  CHECK(found[0].legal == "a smaller shape");
}

TEST_CASE("a written view must not share a byte with another view") {
  const TensorView tensor = dense({16, 64});
  const DevicePtr end = origin + 16ULL * 64 * 4;
  CHECK(broken_by({{tensor, origin, true}, {tensor, end}}).empty());
  CHECK(rules(broken_by({{tensor, origin, true}, {tensor, end - 1}})) == Rules{"memory.overlap"});
  CHECK(rules(broken_by({{tensor, end - 1}, {tensor, origin, true}})) == Rules{"memory.overlap"});
  CHECK(rules(broken_by({{tensor, origin, true}, {tensor, origin, true}})) == Rules{"memory.overlap"});
  CHECK(broken_by({{tensor, origin}, {tensor, origin}, {tensor, end, true}}).empty());  // both only read
  CHECK(rules(broken_by({{tensor, origin}, {tensor, origin + 64}, {tensor, origin + 128, true}})) ==
        Rules{"memory.overlap", "memory.overlap"});

  // Adjacent blocks of columns interleave, but share no byte.
  const TensorView half = view({16, 32}, {64, 1});
  CHECK(broken_by({{half, origin, true}, {half, origin + 32ULL * 4}}).empty());
  CHECK(rules(broken_by({{half, origin, true}, {half, origin + 31ULL * 4}})) == Rules{"memory.overlap"});

  const auto found = broken_by({{tensor, origin, true}, {tensor, origin + 4}});
  CHECK(found[0].subject.find("operand 0 (f32 16x64 with strides 64,1, bytes 0x7f0000000000") !=
        std::string::npos);
  CHECK(found[0].subject.find("operand 1") != std::string::npos);
}

TEST_CASE("a source may be the destination in an element-by-element operation of the same group") {
  const TensorView tensor = dense({16, 64});
  CHECK(broken_by({{tensor, origin, true, 0, true}, {tensor, origin, false, 0, true}}).empty());
  const auto refused = [&](const Operand& source) {
    return rules(broken_by({{tensor, origin, true, 0, true}, source})) == Rules{"memory.overlap"};
  };
  CHECK(refused({tensor, origin, false, 1, true}));   // in another group
  CHECK(refused({tensor, origin, false, 0, false}));  // the operation moves elements
  CHECK(refused({tensor, origin + 4, false, 0, true}));
  CHECK(refused({view({16, 64}, {1, 16}), origin, false, 0, true}));
  CHECK(refused({dense({16, 64}, ElementType::f16), origin, false, 0, true}));
  // Types of the same size, and strides of dimensions with extent 1, may differ.
  CHECK_FALSE(refused({dense({16, 64}, ElementType::i32), origin, false, 0, true}));
  const TensorView row = view({1, 64}, {64, 1});
  const TensorView odd_row = view({1, 64}, {7, 1});
  CHECK(broken_by({{row, origin, true, 0, true}, {odd_row, origin, false, 0, true}}).empty());
}

TEST_CASE("a tensor must be inside the address space, unless it is empty") {
  const TensorView tensor = dense({16, 64});
  CHECK(rules(broken_by({{tensor, ~0ULL - 100, true}, {tensor, origin}})) == Rules{"address.range"});
  CHECK(rules(broken_by({{view({16, 64}, {-64, 1}), 64}, {tensor, origin, true}})) == Rules{"address.range"});
  CHECK(broken_by({{dense({0, 64}), origin, true}, {tensor, origin}}).empty());
  const TensorView longest = view({2}, {(std::int64_t{1} << 60) - 1});
  CHECK(broken_limits(longest) == Rules{});
  CHECK(broken_by({{longest, origin, true}, {tensor, origin + 4}}).empty());
}

TEST_CASE("views and shapes are printed in a readable form") {
  CHECK(view_text(dense({16, 64})) == "f32 16x64 with strides 64,1");
  CHECK(view_text(dense({})) == "f32 one element");
  CHECK(view_text(dense({2}, static_cast<ElementType>(99))) == "unknown type 2 with strides 1");
  CHECK(shape_text(std::array<std::uint64_t, 3>{1, 2, 3}) == "1x2x3");
}
