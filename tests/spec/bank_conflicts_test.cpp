#include "reference/random_maps.hpp"

#include <tmajit/bank_conflicts.hpp>
#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

constexpr std::array widths{1U, 2U, 4U, 8U, 16U};

template <typename Offset>
WarpAccess access(std::uint32_t width, std::uint32_t lanes, const Offset& offset) {
  WarpAccess result{.width = width, .lanes = lanes};
  for (std::uint32_t lane = 0; lane < lanes; ++lane) result.offsets[lane] = std::uint32_t{offset(lane)};
  return result;
}

/// Another implementation of the rule, with the set of addresses of each bank for every group of lanes.
Wavefronts by_sets(const WarpAccess& access) {
  const std::uint32_t group = access.width == 16 ? 8 : access.width == 8 ? 16 : 32;
  std::map<std::uint32_t, std::map<std::uint32_t, std::set<std::uint32_t>>> words;
  for (std::uint32_t lane = 0; lane < access.lanes; ++lane) {
    for (std::uint32_t byte = 0; byte < access.width; ++byte) {
      const auto address = access.offsets[lane] + byte;
      words[lane / group][address % 128 / 4].insert(address / 4);
    }
  }
  Wavefronts result;
  for (const auto& [_, banks] : words) {
    std::size_t ways = 0;
    for (const auto& [bank, set] : banks) ways = std::max(ways, set.size());
    result.needed += static_cast<std::uint32_t>(ways);
    result.ideal += 1;
    result.ways = std::max(result.ways, static_cast<std::uint32_t>(ways));
  }
  return result;
}

std::vector<Swizzle> swizzles_of(std::uint32_t row_bytes) {
  std::vector<Swizzle> legal{Swizzle::none};
  for (const auto swizzle : {Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
    if (row_bytes <= span_bytes(swizzle)) legal.push_back(swizzle);
  }
  return legal;
}

}  // namespace

TEST_CASE("wavefronts of well-known accesses have the known numbers") {
  const auto none = Wavefronts{.needed = 1, .ideal = 1, .ways = 1};
  CHECK(wavefronts(access(4, 32, [](auto lane) { return lane * 4; })) == none);
  CHECK(wavefronts(access(4, 32, [](auto) { return 64U; })) == none);  // broadcast
  CHECK(wavefronts(access(1, 32, [](auto lane) { return lane; })) == none);
  CHECK(wavefronts(access(2, 32, [](auto lane) { return lane * 2; })) == none);
  CHECK(wavefronts(access(4, 32, [](auto lane) { return lane * 12; })) == none);  // an odd stride
  CHECK(wavefronts(access(4, 32, [](auto lane) { return lane * 8; })) == Wavefronts{2, 1, 2});
  CHECK(wavefronts(access(4, 32, [](auto lane) { return lane * 128; })) == Wavefronts{32, 1, 32});
  CHECK(wavefronts(access(8, 32, [](auto lane) { return lane * 8; })) == Wavefronts{2, 2, 1});
  CHECK(wavefronts(access(16, 32, [](auto lane) { return lane * 16; })) == Wavefronts{4, 4, 1});
  CHECK(wavefronts(access(16, 32, [](auto lane) { return lane * 128; })) == Wavefronts{32, 4, 8});
  CHECK(wavefronts(access(16, 3, [](auto lane) { return lane * 128; })) == Wavefronts{3, 1, 3});
  // Lanes 0 to 15 access two words of bank 0, and lanes 16 to 31 three. The halves of the warp are served
  // separately.
  CHECK(wavefronts(access(8, 32, [](auto lane) { return lane < 16 ? lane % 2 * 128 : lane % 3 * 128; })) ==
        Wavefronts{5, 2, 3});
  CHECK(wavefronts(WarpAccess{}) == Wavefronts{});

  auto words = words_of_banks(access(8, 32, [](auto lane) { return lane < 16 ? 0U : lane % 3 * 128 + 40; }));
  CHECK(words[10] == 3);
  CHECK(words[11] == 3);
  words[10] = words[11] = 0;
  CHECK(std::ranges::count(words, 0U) == 32);
}

TEST_CASE("wavefronts of random accesses equal those computed by sets of addresses") {
  const auto seed_used = reference::seed(20261123);
  INFO("TMAJIT_SEED=" << seed_used);
  reference::Random random(seed_used);
  for (int i = 0; i < 20000; ++i) {
    const auto width = reference::one_of(random, widths);
    const auto range = reference::between(random, 1, 4096 / width);
    const auto lanes = static_cast<std::uint32_t>(reference::between(random, 0, 32));
    const auto one = access(width, lanes, [&](auto) {
      return static_cast<std::uint32_t>(reference::between(random, 0, range) * width);
    });
    REQUIRE(wavefronts(one) == by_sets(one));
    REQUIRE(std::ranges::max(words_of_banks(one)) == wavefronts(one).ways);
  }
}

TEST_CASE("an access that no instruction can make is refused") {
  const auto says = [](const char* text) { return MessageMatches(ContainsSubstring(text)); };
  CHECK_THROWS_MATCHES(wavefronts({.width = 3}), Error, says("1, 2, 4, 8 or 16"));
  CHECK_THROWS_MATCHES(wavefronts({.width = 0}), Error, says("1, 2, 4, 8 or 16"));
  CHECK_THROWS_MATCHES(wavefronts({.width = 32}), Error, says("1, 2, 4, 8 or 16"));
  CHECK_THROWS_MATCHES(wavefronts({.lanes = 33}), Error, says("a warp has 32"));
  CHECK_THROWS_MATCHES(wavefronts(access(8, 2, [](auto lane) { return lane * 4; })), Error, says("lane 1"));
}

TEST_CASE("for a column of a 128-byte wide tile, wider swizzles have fewer bank conflicts") {
  const auto ways = [](ElementType type, Swizzle swizzle, std::uint32_t width) {
    return conflicts(BoxLayout(type, std::array{64U, 128 / size_of(type)}, swizzle), AccessPattern::column,
                     width)
        .ways;
  };
  // With 4 bytes a lane, all lanes access one bank without a swizzle, and 2, 4 or 8 units of 16 bytes with
  // one.
  CHECK(ways(ElementType::f32, Swizzle::none, 4) == 32);
  CHECK(ways(ElementType::f32, Swizzle::b128, 4) == 4);
  CHECK(ways(ElementType::bf16, Swizzle::none, 2) == 32);
  CHECK(ways(ElementType::bf16, Swizzle::b128, 2) == 4);
  CHECK(ways(ElementType::f64, Swizzle::none, 8) == 16);
  CHECK(ways(ElementType::f64, Swizzle::b128, 8) == 2);
  CHECK(ways(ElementType::u8, Swizzle::none, 16) == 8);
  CHECK(ways(ElementType::u8, Swizzle::b128, 16) == 1);
}

TEST_CASE("8-row matrices have bank conflicts without a swizzle, and none with that of their width") {
  const auto all = [](std::uint32_t columns, Swizzle swizzle, AccessPattern pattern) {
    return conflicts(BoxLayout(ElementType::f16, std::array{64U, columns}, swizzle), pattern, 16);
  };
  for (const auto pattern : {AccessPattern::matrix, AccessPattern::matrix_transposed}) {
    CHECK(all(64, Swizzle::none, pattern) ==
          Conflicts{.instructions = 16, .conflicting = 16, .wavefronts = 512, .ideal = 64, .ways = 8});
    CHECK(all(64, Swizzle::b128, pattern) ==
          Conflicts{.instructions = 16, .wavefronts = 64, .ideal = 64, .ways = 1});
    CHECK(all(32, Swizzle::none, pattern).ways == 4);
    CHECK(all(32, Swizzle::b64, pattern).ways == 1);
    CHECK(all(16, Swizzle::none, pattern).ways == 2);
    CHECK(all(16, Swizzle::b32, pattern).ways == 1);
    CHECK(all(8, Swizzle::none, pattern).ways == 1);
    CHECK(all(8, Swizzle::b128, pattern).ways == 1);
  }
}

TEST_CASE("lanes access the elements that their pattern describes") {
  const BoxLayout box(ElementType::f16, std::array{64U, 64U}, Swizzle::b128);
  const auto touched = [&](AccessPattern pattern, std::uint32_t width, std::uint32_t number,
                           std::uint32_t lane) {
    return *box.element(warp_access(box, pattern, width, number).offsets[lane]);
  };
  CHECK(touched(AccessPattern::row, 2, 1, 3) == BoxElement{0, 35});
  CHECK(touched(AccessPattern::row, 8, 1, 3) == BoxElement{2, 12});
  CHECK(touched(AccessPattern::column, 2, 1, 3) == BoxElement{35, 0});
  CHECK(touched(AccessPattern::column, 4, 3, 0) == BoxElement{32, 2});
  CHECK(touched(AccessPattern::matrix, 16, 0, 9) == BoxElement{1, 8});
  CHECK(touched(AccessPattern::matrix, 16, 2, 9) == BoxElement{9, 8});
  CHECK(touched(AccessPattern::matrix_transposed, 16, 0, 9) == BoxElement{9, 0});
  CHECK(touched(AccessPattern::matrix_transposed, 16, 2, 9) == BoxElement{9, 8});
  CHECK_THROWS_MATCHES(
      warp_access(box, AccessPattern::row, 2, 128), Error,
      MessageMatches(ContainsSubstring("instruction 128 is out of range: the pattern row with 2 bytes")));
}

TEST_CASE("a pattern that does not suit a tile has 0 instructions") {
  const BoxLayout low(ElementType::f32, std::array{4U, 4U});
  CHECK(instructions(low, AccessPattern::matrix, 16) == 0);
  CHECK(instructions(low, AccessPattern::row, 2) == 0);
  CHECK(instructions(low, AccessPattern::row, 32) == 0);
  CHECK(instructions(low, AccessPattern::row, 12) == 0);
  CHECK(instructions(low, AccessPattern::row, 0) == 0);
  CHECK(instructions(low, AccessPattern::row, 4) == 1);
  const BoxLayout high(ElementType::f32, std::array{20U, 12U});
  CHECK(instructions(high, AccessPattern::matrix, 16) == 3);  // two matrices each: 2 · 3 in 16 of 20 rows
  CHECK(warp_access(high, AccessPattern::matrix, 16, 0).lanes == 16);
  CHECK(instructions(high, AccessPattern::matrix, 4) == 0);
  CHECK(instructions(high, AccessPattern::matrix_transposed, 16) == 0);
  CHECK(conflicts(low, AccessPattern::matrix, 16) == Conflicts{});
}

TEST_CASE("a pattern accesses every byte of the tile once, and its total is the sum over instructions") {
  const auto seed_used = reference::seed(20261124);
  INFO("TMAJIT_SEED=" << seed_used);
  reference::Random random(seed_used);
  for (int i = 0; i < 300; ++i) {
    const auto type = reference::one_of(random, all_element_types);
    const auto row_bytes = static_cast<std::uint32_t>(16 * reference::between(random, 1, 8));
    const std::array box{static_cast<std::uint32_t>(reference::between(random, 1, 5)),
                         static_cast<std::uint32_t>(reference::between(random, 1, 20)),
                         row_bytes / size_of(type)};
    const BoxLayout layout(type, box, reference::one_of(random, swizzles_of(row_bytes)));
    const auto pattern = reference::one_of(random, all_access_patterns);
    const auto width = reference::one_of(random, widths);
    CAPTURE(name(type), box, name(layout.swizzle()), name(pattern), width);
    std::vector<int> touched(layout.bytes());
    Conflicts sum{.instructions = instructions(layout, pattern, width)};
    for (std::uint32_t number = 0; number < sum.instructions; ++number) {
      const auto access = warp_access(layout, pattern, width, number);
      const auto one = wavefronts(access);
      sum.wavefronts += one.needed;
      sum.ideal += one.ideal;
      sum.conflicting += one.needed > one.ideal ? 1 : 0;
      if (one.ways > sum.ways) sum.worst = number;
      sum.ways = std::max(sum.ways, one.ways);
      for (std::uint32_t lane = 0; lane < access.lanes; ++lane) {
        for (std::uint32_t byte = 0; byte < width; ++byte) ++touched.at(access.offsets[lane] + byte);
      }
    }
    REQUIRE(conflicts(layout, pattern, width) == sum);
    if (sum.instructions == 0) continue;
    const bool matrices = pattern == AccessPattern::matrix || pattern == AccessPattern::matrix_transposed;
    const auto rows = matrices ? layout.rows() / 8 * 8 : layout.rows();
    for (std::uint32_t offset = 0; offset < layout.bytes(); ++offset) {
      const auto element = layout.element(offset);
      REQUIRE(touched[offset] == (element && element->row < rows ? 1 : 0));
    }
  }
}

TEST_CASE("every access pattern is parsed from its own name") {
  for (const auto pattern : all_access_patterns) CHECK(parse<AccessPattern>(name(pattern)) == pattern);
  CHECK_THROWS_MATCHES(parse<AccessPattern>("diagonal"), Error,
                       MessageMatches(ContainsSubstring("row, column, matrix, matrix-transposed")));
}
