#include "reference/random_maps.hpp"

#include <tmajit/error.hpp>
#include <tmajit/operations.hpp>

#include <limits>
#include <random>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

std::vector<Slice> parse_slices(std::string_view text) {
  return std::get<std::vector<Slice>>(parse_argument(find_operation("slice").arguments[0], text, "--slice"));
}
PadWidths parse_padding(std::string_view text) {
  return std::get<PadWidths>(parse_argument(find_operation("pad").arguments[0], text, "--pad"));
}
std::vector<std::uint32_t> parse_axes(std::string_view text, std::uint32_t rank, std::string_view option) {
  return resolve_axes(parse_numbers(text, option), rank, option);
}

std::string slices_refused(std::string_view text) {
  try {
    static_cast<void>(parse_slices(text));
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("slices have Python's syntax, and each part may be omitted") {
  using Slices = std::vector<Slice>;
  CHECK(parse_slices("100:12100,64:12064:2") == Slices{{100, 12100, 1}, {64, 12064, 2}});
  CHECK(parse_slices(":") == Slices{{}});
  CHECK(parse_slices("::") == Slices{{}});
  CHECK(parse_slices("::-1,-5:,:-1") ==
        Slices{{.step = -1}, {.start = -5, .stop = {}}, {.start = {}, .stop = -1}});
  CHECK(parse_slices("0:-9223372036854775808:9223372036854775807") ==
        Slices{{0, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}});
}

TEST_CASE("the error for an invalid slice quotes it and shows the legal form") {
  CHECK_THAT(slices_refused("1:2,"),
             ContainsSubstring("\"\" is empty") && ContainsSubstring("start:stop:step"));
  CHECK_THAT(slices_refused(""), ContainsSubstring("is empty"));
  CHECK_THAT(slices_refused("1:2:3:4"), ContainsSubstring("\"1:2:3:4\" has more than two colons"));
  CHECK_THAT(slices_refused("a:b"), ContainsSubstring("\"a:b\" is no slice"));
  CHECK_THAT(slices_refused("1: 2"), ContainsSubstring("is no slice"));
  CHECK_THAT(slices_refused("1:+2"), ContainsSubstring("is no slice"));
  CHECK_THAT(slices_refused("::0"), ContainsSubstring("has the step 0"));
  CHECK_THAT(slices_refused("0:9223372036854775808"), ContainsSubstring("out of range"));
  CHECK_THAT(slices_refused(":,5"),
             ContainsSubstring("index 5 would drop its dimension") && ContainsSubstring("5:6"));
  CHECK_THAT(slices_refused("-1"), ContainsSubstring("-1: takes"));
  CHECK_THAT(slices_refused("9223372036854775807"), ContainsSubstring("9223372036854775807: takes"));
  CHECK_THAT(slices_refused(":,:,:,:,:,:,:,:,:"), ContainsSubstring("9 dimensions; the most is 8"));
}

TEST_CASE(
    "padding lists the widths before all dimensions, a colon and the widths after; or one list for both") {
  CHECK(parse_padding("1,1:2,2") == PadWidths{{1, 1}, {2, 2}});
  CHECK(parse_padding("0,3") == PadWidths{{0, 3}, {0, 3}});
  CHECK(parse_padding("-1:0") == PadWidths{{-1}, {0}});
  CHECK_THROWS_MATCHES(parse_padding("1:2,1:2"), Error,
                       MessageMatches(ContainsSubstring("more than one colon")));
  CHECK_THROWS_MATCHES(parse_padding("1,1:2"), Error,
                       MessageMatches(ContainsSubstring("2 numbers before the colon and 1 after")));
  CHECK_THROWS_MATCHES(parse_padding("1,:2,2"), Error, MessageMatches(ContainsSubstring("--pad 1,")));
  CHECK_THROWS_MATCHES(parse_padding(""), Error, MessageMatches(ContainsSubstring("--pad")));
}

TEST_CASE("axes may be negative and must be distinct") {
  using Axes = std::vector<std::uint32_t>;
  CHECK(parse_axes("0,2,1,3", 4, "--axes") == Axes{0, 2, 1, 3});
  CHECK(parse_axes("-1,0", 2, "--axes") == Axes{1, 0});
  CHECK_THROWS_MATCHES(parse_axes("0,4", 4, "--axes"), Error,
                       MessageMatches(ContainsSubstring("no dimension 4") && ContainsSubstring("0 to 3")));
  CHECK_THROWS_MATCHES(parse_axes("-5", 4, "--flip"), Error, MessageMatches(ContainsSubstring("--flip -5")));
  CHECK_THROWS_MATCHES(parse_axes("1,-3", 4, "--axes"), Error,
                       MessageMatches(ContainsSubstring("dimension 1 is named twice")));
  CHECK_THROWS_MATCHES(parse_axes("0", 0, "--flip"), Error, MessageMatches(ContainsSubstring("a scalar")));
}

TEST_CASE("random slices and paddings survive a round trip through text") {
  const std::uint64_t seed = reference::seed(20261124);
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const auto number = [&] { return static_cast<std::int64_t>(random()) >> (random() % 64); };
  for (int i = 0; i < 2000; ++i) {
    std::vector<Slice> slices(1 + random() % 8);
    for (auto& slice : slices) {
      if (random() % 2 != 0) slice.start = number();
      if (random() % 2 != 0) slice.stop = number();
      if (const auto step = number(); step != 0) slice.step = step;
    }
    INFO(text_of(slices));
    CHECK(parse_slices(text_of(slices)) == slices);
    std::vector<std::int64_t> before;
    std::vector<std::int64_t> after;
    for (std::size_t d = 0; d < slices.size(); ++d) {
      before.push_back(number());
      after.push_back(number());
    }
    const PadWidths widths{before, after};
    CHECK(parse_padding(text_of(widths)) == widths);
  }
}

TEST_CASE("an extent is at most 2^63 - 1") {
  CHECK(parse_extents("2x9223372036854775807", "--shape") == Dims{2, 0x7fff'ffff'ffff'ffff});
  CHECK_THROWS_WITH(parse_extents("2x9223372036854775808", "--shape"),
                    ContainsSubstring("--shape 2x9223372036854775808: ") && ContainsSubstring("2^63 - 1"));
}
