#include "view/line_diff.hpp"

#include "seed.hpp"

#include <algorithm>
#include <random>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using view::DiffRow;
using Lines = std::vector<std::string>;

namespace {

Lines lines_of(std::string_view letters) {
  Lines lines;
  for (const char letter : letters) lines.emplace_back(1, letter);
  return lines;
}

/// The rows of a diff as "a-b+cd": each letter is a line, with a sign if one text lacks it.
std::string shown(std::string_view left, std::string_view right) {
  std::string text;
  for (const DiffRow& row : view::diff(lines_of(left), lines_of(right))) {
    if (row.right == DiffRow::absent) text += '-';
    if (row.left == DiffRow::absent) text += '+';
    text += row.left == DiffRow::absent ? right[static_cast<std::size_t>(row.right)]
                                        : left[static_cast<std::size_t>(row.left)];
  }
  return text;
}

/// The length of the longest common subsequence, by dynamic programming.
std::size_t common(const Lines& left, const Lines& right) {
  std::vector<std::size_t> best(right.size() + 1);
  for (const std::string& line : left) {
    std::size_t diagonal = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
      const std::size_t above = best[i + 1];
      best[i + 1] = line == right[i] ? diagonal + 1 : std::max(above, best[i]);
      diagonal = above;
    }
  }
  return best.back();
}

}  // namespace

TEST_CASE("a diff pairs equal lines in order") {
  CHECK(shown("", "").empty());
  CHECK(shown("abc", "abc") == "abc");
  CHECK(shown("abc", "") == "-a-b-c");
  CHECK(shown("", "ab") == "+a+b");
  CHECK(shown("abc", "axc") == "a-b+xc");
  CHECK(shown("abcd", "bcde") == "-abcd+e");
  CHECK(shown("aabaa", "aacaa") == "aa-b+caa");
  CHECK(shown("xaaay", "zaaaw") == "-x+zaaa-y+w");  // no line is unique in both texts
}

TEST_CASE("a diff of random texts has each line once, in order, and pairs only equal lines") {
  const std::uint64_t seed = tests::seed(1);
  INFO("TMAJIT_SEED=" << seed);
  std::mt19937 random(static_cast<std::uint32_t>(seed));
  for (int round = 0; round < 300; ++round) {
    const auto text = [&] {
      std::string letters(random() % 60, 'a');
      const auto kinds = 1 + random() % 12;
      for (char& letter : letters) letter = static_cast<char>('a' + random() % kinds);
      return lines_of(letters);
    };
    const Lines left = text();
    const Lines right = text();
    std::int32_t next_left = 0;
    std::int32_t next_right = 0;
    std::size_t pairs = 0;
    bool has_unique = false;
    for (const std::string& line : left)
      has_unique =
          has_unique || (std::ranges::count(left, line) == 1 && std::ranges::count(right, line) == 1);
    for (const DiffRow& row : view::diff(left, right)) {
      if (row.left != DiffRow::absent) CHECK(row.left == next_left++);
      if (row.right != DiffRow::absent) CHECK(row.right == next_right++);
      if (row.left == DiffRow::absent || row.right == DiffRow::absent) continue;
      CHECK(left[static_cast<std::size_t>(row.left)] == right[static_cast<std::size_t>(row.right)]);
      ++pairs;
    }
    CHECK(next_left == static_cast<std::int32_t>(left.size()));
    CHECK(next_right == static_cast<std::int32_t>(right.size()));
    // Anchors may prevent other pairs; without anchors the diff is the shortest possible.
    if (!has_unique) CHECK(pairs == common(left, right));
  }
}

TEST_CASE("keys of lines ignore the numbers of registers and labels") {
  CHECK(view::ptx_key("\tadd.s32 \t%r12, %r7, 8;") == view::ptx_key("\tadd.s32 \t%r9, %r70, 8;"));
  CHECK(view::ptx_key("add.s32 %r1, %r2, 8;") != view::ptx_key("add.s32 %r1, %r2, 9;"));
  CHECK(view::ptx_key("add.s32 %r1, %r2, 8;") != view::ptx_key("add.s32 %r1, %rd2, 8;"));
  CHECK(view::ptx_key("@%p1 bra $L__BB0_2;") == view::ptx_key("@%p3 bra $L__BB0_11;"));
  CHECK(view::ptx_key("@%p1 bra $L__BB0_2;") == view::ptx_key("@%p1 bra $L__BB1_2;"));
  CHECK(view::ptx_key("bra $L__BB0_2x;") != view::ptx_key("bra $L__BB1_2x;"));
  CHECK(view::ptx_key("\t.reg .b32 \t%r<6>;") == view::ptx_key("\t.reg .b32 \t%r<70>;"));
  CHECK(view::ptx_key("\t.loc\t1 20 3") == view::ptx_key("\t.loc\t2 9 1"));
  CHECK(view::ptx_key("mov.u32 %r1, %r2x;") != view::ptx_key("mov.u32 %r1, %r3x;"));
  CHECK(view::sass_key("@!P0 IADD3 R2, R12, UR4, RZ ;") == view::sass_key("@!P1 IADD3 R8, R2, UR5, RZ ;"));
  CHECK(view::sass_key("LDC R1, c[0x0][0x28] ;") != view::sass_key("LDC R1, c[0x0][0x20] ;"));
  CHECK(view::sass_key("BRA `(.L_x_3) ;") == view::sass_key("BRA `(.L_x_12) ;"));
}
