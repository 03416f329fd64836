#include "report/text.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

TEST_CASE("text wraps between words, and inside a word only if it is longer than a line") {
  CHECK(wrap("a bb ccc", 4) == std::vector<std::string>{"a bb", "ccc"});
  CHECK(wrap("abcdefgh", 3) == std::vector<std::string>{"abc", "def", "gh"});
  CHECK(wrap("", 5) == std::vector<std::string>{""});
  CHECK(wrap("äöü ß", 3) == std::vector<std::string>{"äöü", "ß"});
  CHECK(width_of("1…8") == 3);
}

TEST_CASE("a table's columns are aligned, and it fits the given width") {
  CHECK(format_table({{"A", "LONG"}, {"x…y", "z"}}, 80) == "A    LONG\nx…y  z\n");
  const auto table = format_table({{"KEY", "TEXT"}, {"k", "one two three four five six seven"}}, 20);
  CHECK(table == "KEY  TEXT\nk    one two three\n     four five six\n     seven\n");
  CHECK(format_table({}, 20).empty());
}

TEST_CASE("a table's cells wrap between words only; if a word does not fit, rows become paragraphs") {
  const Rows rows{{"RULE", "FOUND", "NEED"},
                  {"stage.transaction-bytes", "12 bytes", "a multiple of 16 bytes"},
                  {"box.swizzle", "192 bytes", "at most 128 bytes"}};
  CHECK(format_table(rows, 44) ==
        "RULE                     FOUND     NEED\n"
        "stage.transaction-bytes  12 bytes  a\n"
        "                                   multiple\n"
        "                                   of 16\n"
        "                                   bytes\n"
        "box.swizzle              192       at most\n"
        "                         bytes     128 bytes\n");
  CHECK(format_table(rows, 30) ==
        "stage.transaction-bytes\n"
        "  FOUND  12 bytes\n"
        "  NEED   a multiple of 16\n"
        "         bytes\n"
        "box.swizzle\n"
        "  FOUND  192 bytes\n"
        "  NEED   at most 128 bytes\n");
}

TEST_CASE("sizes are printed in bytes, KiB or GiB") {
  CHECK(describe_bytes(1023) == "1023 bytes");
  CHECK(describe_bytes(1536) == "1.5 KiB");
  CHECK(describe_bytes(std::uint64_t{8} << 30U) == "8.0 GiB");
}
