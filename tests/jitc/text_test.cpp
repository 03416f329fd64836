#include "text.hpp"

#include "parse.hpp"
#include "report.hpp"

#include <tmajit/error.hpp>

#include <catch2/catch_test_macros.hpp>

using namespace jitc;

TEST_CASE("text wraps between words, and within a word that is longer than the line") {
  CHECK(wrap("a bb ccc", 4) == std::vector<std::string>{"a bb", "ccc"});
  CHECK(wrap("abcdefgh", 3) == std::vector<std::string>{"abc", "def", "gh"});
  CHECK(wrap("", 5) == std::vector<std::string>{""});
  CHECK(wrap("äöü ß", 3) == std::vector<std::string>{"äöü", "ß"});
  CHECK(width_of("1…8") == 3);
}

TEST_CASE("a table is aligned, and narrow enough") {
  CHECK(format_table({{"A", "LONG"}, {"x…y", "z"}}, 80) == "A    LONG\nx…y  z\n");
  const auto table = format_table({{"KEY", "TEXT"}, {"k", "one two three four five six seven"}}, 20);
  CHECK(table == "KEY  TEXT\nk    one two three\n     four five six\n     seven\n");
  CHECK(format_table({}, 20).empty());
}

TEST_CASE("extents, strides and types") {
  CHECK(parse_extents("128x64", "--shape") == std::vector<std::uint64_t>{128, 64});
  CHECK(parse_extents("128,64", "--shape") == std::vector<std::uint64_t>{128, 64});
  CHECK(parse_strides("-4,1", "--strides") == std::vector<std::int64_t>{-4, 1});
  for (const auto* bad : {"", "x", "1x", "x1", "1 2", "1xx2", "-1", "+1", "0x10y", "1.5"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_extents(bad, "--shape"), tmajit::Error);
  }
  CHECK(parse_types({"f16,f32", "u8"}) ==
        std::vector{tmajit::ElementType::f16, tmajit::ElementType::f32, tmajit::ElementType::u8});
  CHECK_THROWS_AS(parse_types({"f16,"}), tmajit::Error);
}

TEST_CASE("an expression tells how many inputs it reads") {
  CHECK(inputs_of("x * 2") == 1);
  CHECK(inputs_of("x0 + x1 * x2") == 3);
  CHECK(inputs_of("x7") == 8);
  CHECK(inputs_of("max0 + ax3 + x12 + 0x5") == 0);
  CHECK(inputs_of("") == 0);
}

TEST_CASE("sizes are told in units") {
  CHECK(describe_bytes(1023) == "1023 bytes");
  CHECK(describe_bytes(1536) == "1.5 KiB");
  CHECK(describe_bytes(std::uint64_t{8} << 30U) == "8.0 GiB");
}
