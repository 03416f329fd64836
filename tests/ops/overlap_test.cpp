/// The overlap check refuses an operation if and only if a byte is written twice, or written and also read.
#include "operations/list.hpp"
#include "ops/addresses.hpp"
#include "plan/violations.hpp"
#include "reference/random_maps.hpp"
#include "spec/memory_rules.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <set>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using reference::between, reference::one_in, reference::one_of, reference::Random;

namespace {

using Shape = std::vector<std::uint64_t>;
using Strides = std::vector<std::int64_t>;
using Slices = std::vector<Slice>;

constexpr DevicePtr base = 0x10000;

Tensor tensor(const Shape& shape, const Strides& strides, DevicePtr address = base,
              ElementType type = ElementType::f32) {
  return {TensorView::strided(type, shape, strides), address};
}
Tensor dense_at_base(const Shape& shape, DevicePtr address = base, ElementType type = ElementType::f32) {
  return {TensorView::contiguous(type, shape), address};
}

/// Checks only the rules about memory, for moves whose types, shapes and alignments need not match. Throws
/// like check_operation().
void check_memory(std::span<const Move> moves) {
  Violations violations;
  std::vector<PlacedOperand> operands;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const Move& move = moves[i];
    const bool in_place = std::holds_alternative<Map>(move.body);
    const auto group = static_cast<std::uint32_t>(i);
    operands.push_back({&move.destination.view, move.destination.address, true, group, in_place});
    names.push_back(destination_name(moves, i));
    const auto name = [&] { return names.back(); };
    check_view_limits(move.destination.view, name, violations);
    if (violations.count() == 0)
      check_written_once(move.destination.view, move.destination.address, name, violations);
    for (std::size_t k = 0; k < move.sources.size(); ++k) {
      operands.push_back({&move.sources[k].view, move.sources[k].address, false, group, in_place});
      names.push_back(source_name(moves, i, k));
      check_view_limits(move.sources[k].view, name, violations);
    }
  }
  if (violations.count() == 0)
    check_disjoint(
        operands, [&](std::size_t n) { return names[n]; }, violations);
  if (violations.count() > 0) throw SpecError(violations.take());
}

void check(const Tensor& destination, const Tensor& source, const std::string& expression = {}) {
  Move move{.destination = destination, .sources = {source}};
  if (!expression.empty()) move.body = Map{expression};
  check_memory({&move, 1});
}

bool accepted(std::span<const Move> moves) {
  try {
    check_memory(moves);
    return true;
  } catch (const SpecError& error) {
    for (const Violation& violation : error.violations()) {
      REQUIRE((violation.rule == "memory.overlap" || violation.rule == "view.overlap"));
    }
    return false;
  }
}

std::multiset<std::uint64_t> bytes_of(const Tensor& t) {
  std::multiset<std::uint64_t> bytes;
  for (const std::uint64_t address : tests::addresses(t)) {
    for (std::uint64_t i = 0; i < size_of(t.view.type); ++i) bytes.insert(address + i);
  }
  return bytes;
}

Tensor random_tensor(Random& random) {
  Shape shape(between(random, 0, 4));
  Strides strides(shape.size());
  const std::int64_t unit = one_of(random, std::array{1, 1, 2, 4, 6});
  for (std::size_t d = 0; d < shape.size(); ++d) {
    shape[d] = one_in(random, 20) ? 0 : between(random, 1, 5);
    strides[d] = (static_cast<std::int64_t>(between(random, 0, 16)) - 4) * unit;
  }
  return tensor(shape, strides, base + between(random, 0, 120),
                one_of(random, std::array{ElementType::u8, ElementType::u8, ElementType::u16,
                                          ElementType::f32, ElementType::f64}));
}

}  // namespace

TEST_CASE("moves between parts of one array that share no element are legal") {
  const Tensor array = dense_at_base({16, 64});
  const auto part = [&](const Slices& slices) { return sliced(array, slices); };
  CHECK_NOTHROW(check(part({{}, {0, 32}}), part({{}, {32, 64}})));
  CHECK_NOTHROW(check(part({{}, {{}, {}, 2}}), part({{}, {1, {}, 2}})));
  CHECK_NOTHROW(check(part({{{}, {}, 2}}), part({{1, {}, 2}})));
  CHECK_NOTHROW(check(part({{{}, {}, -2}, {{}, {}, -2}}), part({{{}, {}, 2}, {1, {}, 2}})));
  // Blocks of the array, one of them transposed.
  CHECK_NOTHROW(check(part({{0, 8}, {0, 8}}), permuted(part({{8, 16}, {8, 16}}), {1, 0})));
  // The destination's elements are smaller, in columns that the source does not have.
  CHECK_NOTHROW(check(tensor({16, 8}, {128, 1}, base, ElementType::u16), part({{}, {4, 12}})));
  CHECK_THROWS_AS(check(tensor({16, 9}, {128, 1}, base, ElementType::u16), part({{}, {4, 12}})), SpecError);
  // Two adjacent diagonals.
  CHECK_NOTHROW(check(tensor({15}, {65}), tensor({15}, {65}, base + 4)));
  CHECK_NOTHROW(check(dense_at_base({0, 64}), array));
  CHECK_NOTHROW(check(part({{}, {0, 32}}), broadcast(part({{3, 4}, {40, 41}}), Shape{16, 32})));
}

TEST_CASE("the error for overlapping tensors names them, their bytes and a remedy") {
  const Tensor array = dense_at_base({16, 64});
  CHECK_THROWS_WITH(check(sliced(array, Slices{{}, {0, 32}}), sliced(array, Slices{{}, {31, 63}})),
                    ContainsSubstring("the destination (f32 16x32 with strides 64,1, bytes 0x10000 to ") &&
                        ContainsSubstring("the source (f32 16x32 with strides 64,1, bytes 0x1007c to ") &&
                        ContainsSubstring("memory that they share") &&
                        ContainsSubstring("memory of its own for the destination"));
  CHECK_THROWS_AS(check(array, permuted(dense_at_base({64, 16}), {1, 0})), SpecError);
  CHECK_THROWS_AS(check(array, broadcast(sliced(array, Slices{{3, 4}, {3, 4}}), Shape{16, 64})), SpecError);

  const std::vector<Move> two_written{
      {.destination = dense_at_base({4}), .sources = {dense_at_base({4}, 2 * base)}},
      {.destination = dense_at_base({4}, base + 12), .sources = {dense_at_base({4}, 3 * base)}}};
  CHECK_THROWS_WITH(check_operation(two_written),
                    ContainsSubstring("the destination of move 0 (f32 4") &&
                        ContainsSubstring("the destination of move 1 (f32 4") &&
                        ContainsSubstring("memory of its own for each destination"));
  // The source of another move may not be written, because the order of moves is unspecified.
  const std::vector<Move> chain{
      {.destination = dense_at_base({4}), .sources = {dense_at_base({4}, 2 * base)}},
      {.destination = dense_at_base({4}, 3 * base), .sources = {dense_at_base({4})}}};
  CHECK_THROWS_WITH(check_operation(chain), ContainsSubstring("the source of move 1") &&
                                                ContainsSubstring("the destination of move 0"));
}

TEST_CASE("a destination with two indices for one element is refused") {
  const Tensor from = dense_at_base({4, 4}, 2 * base);
  CHECK_THROWS_WITH(check(tensor({4, 4}, {2, 1}), from),
                    ContainsSubstring("several indices one element") && ContainsSubstring("strides 4,1"));
  CHECK_THROWS_AS(check(tensor({4, 4}, {0, 1}), from), SpecError);
  CHECK_THROWS_AS(check(tensor({4, 4}, {-3, 1}), from), SpecError);
  CHECK_THROWS_AS(check(tensor({2, 3, 4}, {7, 2, 3}), dense_at_base({2, 3, 4}, 2 * base)), SpecError);
  CHECK_NOTHROW(check(tensor({4, 4}, {-4, 1}, base + 48), from));
  CHECK_NOTHROW(check(tensor({1, 4}, {0, 1}), dense_at_base({1, 4}, 2 * base)));
  CHECK_NOTHROW(check(tensor({2, 2}, {3, 2}), dense_at_base({2, 2}, 2 * base)));  // 0, 2, 3, 5
  CHECK_NOTHROW(check(tensor({0, 4}, {0, 1}), dense_at_base({0, 4}, 2 * base)));
}

TEST_CASE("only an expression works in place, and only on the same elements at the same indices") {
  const Tensor t = dense_at_base({4, 4});
  CHECK_NOTHROW(check(t, t, "x + 1"));
  CHECK_NOTHROW(check(t, reinterpreted(t, ElementType::i32), "x"));
  CHECK_THROWS_AS(check(t, t), SpecError);
  CHECK_THROWS_WITH(check(t, permuted(t, {1, 0}), "x + 1"),
                    ContainsSubstring("must be exactly the destination's view"));
  CHECK_THROWS_AS(check(t, {TensorView::contiguous(ElementType::f16, Shape{4, 4}), base}, "x"), SpecError);
  CHECK_THROWS_AS(check(t, dense_at_base({4, 4}, base + 4), "x"), SpecError);
  // Here one move writes the tensor and another one reads it, which is illegal.
  const std::vector<Move> moves{
      {.destination = t, .sources = {t}, .body = Map{"x + 1"}},
      {.destination = dense_at_base({4, 4}, 2 * base), .sources = {t}, .body = Map{"x"}}};
  CHECK_THROWS_AS(check_operation(moves), SpecError);
  CHECK_NOTHROW(check_operation(std::span(moves).first(1)));
}

TEST_CASE("tensors beyond the end of the address space are refused") {
  CHECK_THROWS_WITH(check(tensor({4}, {-1}, 8), dense_at_base({4})),
                    ContainsSubstring("lies in the address space"));
  CHECK_THROWS_AS(check(dense_at_base({4}), tensor({4}, {1}, ~0ULL - 4)), SpecError);
  CHECK_THROWS_AS(check(dense_at_base({4}), tensor({4}, {1LL << 62})), SpecError);
  CHECK_THROWS_AS(check(dense_at_base({4}), tensor({4}, {std::numeric_limits<std::int64_t>::min()})),
                  SpecError);
}

TEST_CASE("checking moves at new addresses agrees with checking moved tensors") {
  const std::vector<Move> moves{{.destination = dense_at_base({4}),
                                 .sources = {dense_at_base({4}, 2 * base), dense_at_base({4}, 3 * base)},
                                 .body = Map{"x0 + x1"}}};
  const auto at = [&](DevicePtr first, DevicePtr second) {
    std::vector<Move> moved = moves;
    moved[0].sources[0].address = first;
    moved[0].sources[1].address = second;
    return tests::broken_rules([&] { return check_operation(moved), 0; });
  };
  CHECK(at(base, base + 16).empty());
  CHECK(at(base + 16, base + 16).empty());
  const tests::Rules overlapping = at(base + 16, base + 12);
  REQUIRE(overlapping.size() == 1);
  CHECK_THAT(overlapping[0], ContainsSubstring("memory.overlap of ") && ContainsSubstring("source 1 (f32 4"));
  CHECK(at(base + 16, base + 18) == tests::Rules{"address.alignment of source 1: address"});
  CHECK(at(0, base + 16) == tests::Rules{"address.null of source 0: address"});
}

TEST_CASE("random views are refused if and only if they share a byte") {
  const std::uint64_t seed = reference::seed(20261121);
  CAPTURE(seed);
  Random random(seed);
  int disjoint = 0;
  int needlessly_refused = 0;
  int interleaved = 0;
  for (int n = 0; n < 30'000; ++n) {
    const Tensor to = random_tensor(random);
    const Tensor from = random_tensor(random);
    const auto written = bytes_of(to);
    const auto read = bytes_of(from);
    const bool twice = std::adjacent_find(written.begin(), written.end()) != written.end();
    const bool shared = std::ranges::any_of(written, [&](std::uint64_t byte) { return read.contains(byte); });
    const Move move{.destination = to, .sources = {from}};
    const bool passes = accepted({&move, 1});
    CAPTURE(n, tests::addresses(to), tests::addresses(from));
    REQUIRE_FALSE((passes && (twice || shared)));
    if (twice || shared) continue;
    ++disjoint;
    needlessly_refused += passes ? 0 : 1;
    if (written.empty() || read.empty()) continue;
    interleaved += *written.begin() <= *read.rbegin() && *read.begin() <= *written.rbegin() ? 1 : 0;
  }
  std::cout << disjoint << " disjoint pairs, " << interleaved
            << " of them interleaved: " << needlessly_refused << " refused\n";
  CHECK(interleaved > 1000);
  CHECK(needlessly_refused == 0);
}

TEST_CASE("the check decides large random views within its limit of time", "[overlap]") {
  // As in real programs, these are parts of one array of many dimensions in any order, sometimes with a step
  // of 2. Two parts are disjoint if they differ in the residue or the range of some dimension.
  const std::uint64_t seed = reference::seed(20261121);
  CAPTURE(seed);
  Random random(seed);
  int disjoint_pairs = 0;
  for (int n = 0; n < 5000; ++n) {
    Shape shape(between(random, 1, 8));
    for (auto& extent : shape) extent = between(random, 2, 40);
    Tensor array = dense_at_base(shape, base, one_of(random, all_element_types));
    Tensor parts[2] = {array, array};
    bool disjoint = false;
    for (std::uint32_t d = 0; d < shape.size(); ++d) {
      const auto extent = static_cast<std::int64_t>(shape[d]);
      Slices slices(d);
      Slices other(d);
      const auto cut = static_cast<std::int64_t>(between(random, 1, shape[d] - 1));
      switch (between(random, 0, 5)) {
        case 0:
          slices.push_back({0, cut});
          other.push_back({cut, extent});
          disjoint = true;
          break;
        case 1:
          slices.push_back({0, {}, 2});
          other.push_back({1, {}, 2});
          disjoint = true;
          break;
        case 2:
          slices.push_back({cut, {}, one_in(random, 2) ? 2 : -1});
          other.push_back({{}, {}, -1});
          break;
        default: slices.push_back({0, cut}); other.push_back({0, cut});
      }
      parts[0] = sliced(parts[0], slices);
      parts[1] = sliced(parts[1], other);
    }
    CAPTURE(n, parts[0].view.shape, parts[0].view.strides, parts[1].view.shape, parts[1].view.strides);
    const Move move{.destination = parts[0], .sources = {parts[1]}};
    REQUIRE(accepted({&move, 1}) == disjoint);
    disjoint_pairs += disjoint ? 1 : 0;
  }
  CHECK(disjoint_pairs > 1000);
}

TEST_CASE("the cost of the overlap check is printed", "[.cost]") {
  const auto nanoseconds = [](const std::vector<Move>& moves) {
    constexpr int repeats = 20'000;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) check_operation(moves);
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() /
           repeats;
  };
  const Tensor array = dense_at_base({64, 128, 256, 512});
  const Tensor other = dense_at_base({64, 128, 256, 512}, 1ULL << 40);
  std::cout << "apart: " << nanoseconds({{array, {other}}}) << " ns\n"
            << "halves of the columns: "
            << nanoseconds({{sliced(array, Slices{{}, {}, {}, {0, 256}}),
                             {sliced(array, Slices{{}, {}, {}, {256, 512}})}}})
            << " ns\n"
            << "every second of four dimensions: "
            << nanoseconds({{sliced(array, Slices{{0, {}, 2}, {0, {}, 2}, {0, {}, 2}, {0, {}, 2}}),
                             {sliced(array, Slices{{1, {}, 2}, {1, {}, 2}, {1, {}, 2}, {1, {}, 2}})}}})
            << " ns\n";
  std::vector<Move> pieces;
  for (std::int64_t i = 0; i < 32; ++i) {
    pieces.push_back(
        {sliced(array, Slices{{}, {}, {}, {16 * i, 16 * i + 16}}),
         {dense_at_base({64, 128, 256, 16}, (2ULL << 40) + (static_cast<std::uint64_t>(i) << 32))}});
  }
  std::cout << "32 pieces of the columns: " << nanoseconds(pieces) << " ns\n";
}
