/// Compares video instructions on the simulator with a direct transcription of the ISA's pseudo-code.
#include "reference/random_maps.hpp"
#include "sim/evaluate.hpp"

#include <iostream>
#include <random>

#include <spdlog/fmt/fmt.h>

namespace video_test {

using namespace tests;

namespace {

using S64 = std::int64_t;

/// Part `number` of the word, which consists of parts of `bits` bits.
S64 part_of(std::uint64_t word, int bits, int number, bool is_signed) {
  const auto value = static_cast<S64>(word >> bits * number & ((1ULL << bits) - 1));
  return is_signed && (value >> (bits - 1)) != 0 ? value - (S64{1} << bits) : value;
}

S64 clamp_to(S64 value, int bits, bool is_signed) {
  const S64 least = is_signed ? -(S64{1} << (bits - 1)) : 0;
  const S64 most = is_signed ? (S64{1} << (bits - 1)) - 1 : (S64{1} << bits) - 1;
  return value < least ? least : value > most ? most : value;
}

S64 result_of(const std::string& operation, S64 a, S64 b) {
  if (operation == "vadd") return a + b;
  if (operation == "vsub") return a - b;
  if (operation == "vavrg") return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
  if (operation == "vabsdiff") return a > b ? a - b : b - a;
  if (operation == "vmin") return a < b ? a : b;
  return a > b ? a : b;
}

bool compare(const std::string& comparison, S64 a, S64 b) {
  if (comparison == "eq") return a == b;
  if (comparison == "ne") return a != b;
  if (comparison == "lt") return a < b;
  if (comparison == "le") return a <= b;
  if (comparison == "gt") return a > b;
  return a >= b;
}

/// Draws the parts and the operands of random instructions.
class Cases {
 public:
  explicit Cases(std::uint64_t seed) : random_(seed) {}

  std::string one_of(std::initializer_list<const char*> words) {
    return words.begin()[random_() % words.size()];
  }
  bool maybe() { return random_() % 2 != 0; }
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  std::uint32_t word() {
    constexpr std::uint32_t special[] = {0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x7fffffff, 0x80000000, ~0U};
    return maybe() ? special[below(10)] : static_cast<std::uint32_t>(random_());
  }

 private:
  std::mt19937_64 random_;
};

const std::initializer_list<const char*> types{"u32", "s32"};
const std::initializer_list<const char*> all_comparisons{"eq", "ne", "lt", "le", "gt", "ge"};

}  // namespace

TEST_CASE("scalar video instructions equal the ISA's pseudo-code in random cases") {
  const std::uint64_t seed = reference::seed(1);
  std::cout << "TMAJIT_SEED=" << seed << std::endl;
  Cases cases(seed);
  for (int n = 0; n < 250; ++n) {
    const std::string operation = cases.one_of({"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vset"});
    const bool sets = operation == "vset";
    const std::string to = sets ? "u32" : cases.one_of(types);
    const std::string comparison = cases.one_of(all_comparisons);
    const std::string from[] = {cases.one_of(types), cases.one_of(types)};
    const bool saturates = !sets && cases.maybe();
    const std::string second_operation = cases.one_of({"", "add", "min", "max", "merge"});
    const std::uint32_t words[] = {cases.word(), cases.word(), cases.word()};
    const auto take_part = [&](std::string& text) {
      if (cases.maybe()) return std::pair{32, 0};
      const int bits = cases.maybe() ? 8 : 16;
      const int number = static_cast<int>(cases.below(32U / static_cast<std::uint32_t>(bits)));
      text += (bits == 8 ? ".b" : ".h") + std::to_string(number);
      return std::pair{bits, number};
    };
    std::string d = "%r9";
    std::string a = "%r1";
    std::string b = "%r2";
    const auto part_a = take_part(a);
    const auto part_b = take_part(b);
    const auto part_d = second_operation == "merge" ? take_part(d) : std::pair{32, 0};
    std::string text = fmt::format("{}{}.{}.{}", operation, sets ? "" : "." + to, from[0], from[1]);
    if (sets) text += "." + comparison;
    if (saturates) text += ".sat";
    if (second_operation != "" && second_operation != "merge") text += "." + second_operation;
    text += fmt::format(" {}, {}, {}{}", d, a, b, second_operation == "" ? ";" : ", %r3;");
    CAPTURE(text, words[0], words[1], words[2]);
    const S64 value_a = part_of(words[0], part_a.first, part_a.second, from[0] == "s32");
    const S64 value_b = part_of(words[1], part_b.first, part_b.second, from[1] == "s32");
    S64 result =
        sets ? (compare(comparison, value_a, value_b) ? 1 : 0) : result_of(operation, value_a, value_b);
    if (saturates) result = clamp_to(result, part_d.first, to == "s32");
    const S64 c = part_of(words[2], 32, 0, to == "s32");
    auto wanted = static_cast<std::uint32_t>(result);
    if (second_operation == "add") wanted = static_cast<std::uint32_t>(result + c);
    if (second_operation == "min") wanted = static_cast<std::uint32_t>(result < c ? result : c);
    if (second_operation == "max") wanted = static_cast<std::uint32_t>(result > c ? result : c);
    if (second_operation == "merge" && part_d.first < 32) {
      const int shift = part_d.first * part_d.second;
      const std::uint32_t mask = ((1U << part_d.first) - 1) << shift;
      wanted = (words[2] & ~mask) | (wanted << shift & mask);
    }
    CHECK(result32(text, words[0], words[1], words[2]) == wanted);
  }
}

TEST_CASE("SIMD video instructions equal the ISA's pseudo-code in random cases") {
  const std::uint64_t seed = reference::seed(2);
  std::cout << "TMAJIT_SEED=" << seed << std::endl;
  Cases cases(seed);
  for (int n = 0; n < 250; ++n) {
    const int count = cases.maybe() ? 2 : 4;
    const int bits = 32 / count;
    const std::string operation = cases.one_of({"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset"});
    const bool sets = operation == "vset";
    const std::string to = sets ? "u32" : cases.one_of(types);
    const std::string comparison = cases.one_of(all_comparisons);
    const std::string from[] = {cases.one_of(types), cases.one_of(types)};
    const bool adds = cases.maybe();
    const bool saturates = !sets && !adds && cases.maybe();
    const std::uint32_t words[] = {cases.word(), cases.word(), cases.word()};
    std::string operands[] = {"%r9", "%r1", "%r2"};
    // The parts of both sources that each part of the result uses. Parts from `count` on are those of %r2.
    int chosen[3][4] = {{0, 1, 2, 3}, {0, 1, 2, 3}, {count, count + 1, count + 2, count + 3}};
    for (int operand = 1; operand < 3; ++operand) {
      if (cases.maybe()) continue;
      std::string digits;
      for (int i = 0; i < count; ++i) {
        chosen[operand][i] = static_cast<int>(cases.below(2U * static_cast<std::uint32_t>(count)));
        digits.insert(0, std::to_string(chosen[operand][i]));
      }
      operands[operand] += (count == 2 ? ".h" : ".b") + digits;
    }
    std::uint32_t written = (1U << count) - 1;  // mask of the parts that the instruction writes
    if (cases.maybe()) {
      written = 1 + cases.below((1U << count) - 1);
      std::string digits;
      for (int i = 0; i < count; ++i)
        if ((written >> i & 1) != 0) digits.insert(0, std::to_string(i));
      operands[0] += (count == 2 ? ".h" : ".b") + digits;
    }
    std::string text =
        operation + std::to_string(count) + (sets ? "" : "." + to) + "." + from[0] + "." + from[1];
    if (sets) text += "." + comparison;
    if (saturates) text += ".sat";
    if (adds) text += ".add";
    text += " " + operands[0] + ", " + operands[1] + ", " + operands[2] + ", %r3;";
    CAPTURE(text, words[0], words[1], words[2]);
    const std::uint64_t both = std::uint64_t{words[1]} << 32 | words[0];
    std::uint32_t wanted = words[2];
    for (int i = 0; i < count; ++i) {
      const S64 value_a = part_of(both, bits, chosen[1][i], from[0] == "s32");
      const S64 value_b = part_of(both, bits, chosen[2][i], from[1] == "s32");
      S64 result =
          sets ? (compare(comparison, value_a, value_b) ? 1 : 0) : result_of(operation, value_a, value_b);
      if (saturates) result = clamp_to(result, bits, to == "s32");
      if ((written >> i & 1) == 0) continue;
      const std::uint32_t mask = ((1U << bits) - 1) << bits * i;
      wanted = adds ? wanted + static_cast<std::uint32_t>(result)
                    : (wanted & ~mask) | (static_cast<std::uint32_t>(result) << bits * i & mask);
    }
    CHECK(result32(text, words[0], words[1], words[2]) == wanted);
  }
}

TEST_CASE("vshl, vshr and vmad equal the ISA's pseudo-code") {
  CHECK(result32("vshl.u32.u32.u32.wrap %r9, %r1, %r2;", 3, 33) == 6);
  CHECK(result32("vshl.u32.u32.u32.clamp %r9, %r1, %r2;", 3, 33) == 0);
  CHECK(result32("vshl.u32.u32.u32.sat.clamp %r9, %r1, %r2;", 3, 33) == ~0U);
  CHECK(result32("vshr.s32.s32.u32.clamp %r9, %r1, %r2;", 0x80000000, 99) == ~0U);
  CHECK(result32("vshr.s32.s32.u32.clamp.add %r9, %r1.b3, %r2.b1, %r3;", 0x80000000, 0x300, 5) ==
        ~0U - 16 + 1 + 5);
  CHECK(result32("vshr.u32.u32.u32.wrap %r9.h1, %r1, %r2, %r3;", 0x10000, 36, 0x12345678) == 0x10005678);
  CHECK(result32("vmad.s32.s32.s32 %r9, %r1.h0, %r2.h1, %r3;", 0xfffe, 0x30000, 10) == 4);
  CHECK(result32("vmad.u32.u32.u32 %r9, %r1.h0, %r2.h1, %r3;", 0xfffe, 0x30000, 10) == 3 * 0xfffeU + 10);
  CHECK(result32("vmad.s32.s32.s32.sat.shr7 %r9, %r1, %r2, %r3;", 0x7fffffff, 0x7fffffff, 0) == 0x7fffffff);
  CHECK(result32("vmad.s32.s32.s32.shr15 %r9, %r1, %r2, %r3;", 1U << 15, 12, 0xffff8000) == 11);
  CHECK(result32("vmad.u32.u32.u32.po.shr7 %r9, %r1, %r2, %r3;", 127, 1, 0) == 1);
}

}  // namespace video_test
