/// Extreme numbers and empty shapes: no command may end by a signal, and all commands must agree on what is
/// legal.
#include "reference/random.hpp"
#include "subprocess.hpp"

#include <tmajit/operations.hpp>

#include <array>
#include <cctype>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Checks that all commands accept an operation without elements.
void check_that_nothing_moves(const std::vector<std::string>& words) {
  using Words = std::vector<std::string>;
  INFO(words.front());
  CHECK(jitc::test::jitc(Words{"validate"} + words).status == 0);
  CHECK(jitc::test::jitc(Words{"explain"} + words).status == 0);
  CHECK(jitc::test::jitc(simulated(words)).status == 0);
  CHECK_THAT(refusal(Words{"source"} + words), ContainsSubstring("there is nothing to move"));
}

}  // namespace

TEST_CASE("a sum of no elements is 0 and accepted by every command") {
  const std::vector<std::string> words{"reduce", "--op", "sum", "--shape", "4x0", "--axes", "1"};
  using Words = std::vector<std::string>;
  CHECK(jitc::test::jitc(Words{"validate"} + words).status == 0);
  CHECK(jitc::test::jitc(Words{"explain"} + words).status == 0);
  CHECK(jitc::test::jitc(Words{"source"} + words).status == 0);
  CHECK(jitc::test::jitc(simulated(words) + Words{"--check"}).status == 0);
}

TEST_CASE("found: a planner divided by 0 for 2^32 - 1 rows whose elements are not neighbours") {
  const auto result = jitc::test::jitc(
      {"validate", "rowwise", "--shape", "4x4294967295", "--axes", "0", "--steps", "y = x - max(x)"});
  CHECK(result.status == 0);
}

TEST_CASE("found: im2col without channels and convolution without outputs are no-ops") {
  check_that_nothing_moves({"im2col", "--shape", "2x5x6x0", "--filter", "3x3"});
  check_that_nothing_moves({"im2col", "--shape", "0x5x6x4", "--filter", "3x3"});
  check_that_nothing_moves({"convolution", "--shape", "2x5x6x4", "--filter", "3x3", "--outputs", "0"});
}

namespace {

using Words = std::vector<std::string>;

/// Small commands of the operations that are no recipes.
const std::vector<Words>& commands_by_hand() {
  static const std::vector<Words> all{
      {"copy", "--shape", "4x6", "--strides", "6,1", "--offset", "0"},
      {"permute", "--shape", "4x6", "--axes", "1,0"},
      {"slice", "--shape", "4x6", "--slice", "1:3:1,0:6:2"},
      {"flip", "--shape", "4x6", "--flip", "0"},
      {"broadcast", "--shape", "4x1", "--broadcast", "4x6"},
      {"pad", "--shape", "4x6", "--pad", "1,1:2,2", "--pad-value", "3"},
      {"cast", "--shape", "4x6", "--out-dtype", "bf16", "--out-offset", "1"},
      {"rowwise", "--shape", "4x6", "--steps", "y = x - mean(x)", "--axes", "1"},
      {"cast_transpose", "--shape", "4x6", "--orders", "both"},
      {"top_k", "--shape", "4x6", "--k", "2", "--axis", "1"},
      {"concat", "--shape", "4x6", "--axis", "0", "--parts", "1,3"},
      {"split", "--shape", "4x6", "--axis", "0", "--parts", "1,3"},
      {"map", "--shape", "4x6", "--expr", "x", "--out-strides", "6,1"},
      {"stencil", "--shape", "4x6", "--expr", "x(1)", "--dims", "1"},
      {"reduce", "--shape", "4x6", "--op", "sum", "--axes", "1"},
      {"scan", "--shape", "4x6", "--op", "sum", "--axis", "1"},
      {"copy_ragged", "--shape", "4x6", "--axis", "0", "--parts", "1,3"},
      {"reduce_into", "--shape", "16x32", "--op", "add"},
      {"im2col", "--shape", "2x6x5x4", "--filter", "3x3", "--pad", "1,1", "--window-step", "1,1",
       "--dilation", "1,1"},
      {"convolution", "--shape", "2x6x5x4", "--filter", "3x3", "--outputs", "3"},
      {"tiles", "--shape", "32x64", "--box", "4x16", "--element-strides", "2x1", "--stages", "2",
       "--ctas-per-sm", "2", "--tiles-per-cta", "1"},
      {"gather", "--shape", "4x6", "--index-shape", "3", "--axes", "1"},
      {"scatter", "--shape", "4x6", "--axes", "1", "--along", "yes"},
      {"scatter_add", "--shape", "4x6", "--index-shape", "4"},
      {"gather_sum", "--shape", "4x6", "--index-shape", "5x2", "--inputs", "3"},
      {"gather_sum", "--shape", "4x6", "--index-shape", "5", "--ragged", "yes"},
      {"moe_permute", "--shape", "4x6", "--index-shape", "4x2", "--count", "3", "--alignment", "2"}};
  return all;
}

/// A small command of each operation.
const std::vector<Words>& commands() {
  static const std::vector<Words> all = [] {
    std::vector<Words> listed = commands_by_hand();
    for (const tmajit::OperationInfo& info : tmajit::operations()) {
      if (info.sources.empty()) continue;
      Words& words = listed.emplace_back(Words{std::string(info.name), "--shape", "4x6"});
      for (const tmajit::Argument& argument : info.arguments) {
        if (argument.type == tmajit::ArgumentType::choice) continue;
        const bool counts = argument.type == tmajit::ArgumentType::count;
        words.insert(words.end(),
                     {std::string(argument.option), counts ? "2" : std::string(argument.example)});
      }
    }
    return listed;
  }();
  return all;
}

/// The position of a number in a command: its word and the range of its digits.
struct Number {
  std::size_t word = 0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

std::vector<Number> numbers_of(const Words& words) {
  std::vector<Number> found;
  for (std::size_t word = 2; word < words.size(); word += 2) {
    if (words[word - 1] == "--expr" || words[word - 1] == "--out-dtype") continue;
    const std::string& text = words[word];
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (std::isdigit(static_cast<unsigned char>(text[at])) == 0) continue;
      std::size_t end = at;
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
      found.push_back({word, at, end});
      at = end;
    }
  }
  return found;
}

Words with(const Words& words, const Number& number, const std::string& value) {
  Words changed = words;
  changed[number.word].replace(number.begin, number.end - number.begin, value);
  return changed;
}

struct Outcome {
  int status = 0;
  std::string text;  ///< errors, then the output
};

/// Runs a command. It must end with one of jitc's exit codes, not by a signal.
Outcome outcome_of(const Words& words) {
  const auto result = jitc::test::jitc(words);
  INFO(result.err);
  CHECK(result.status >= 0);
  CHECK(result.status <= 3);
  if (result.status != 0)
    CHECK_THAT(result.err, ContainsSubstring("error: ") || ContainsSubstring("illegal: "));
  return {result.status, result.err + result.out};
}

}  // namespace

TEST_CASE("the commands of this file cover every operation") {
  for (const tmajit::OperationInfo& info : tmajit::operations()) {
    INFO(info.name);
    CHECK(std::ranges::any_of(commands(), [&](const Words& words) { return words.front() == info.name; }));
  }
}

namespace {

/// Checks that `jitc validate` and `source` have the same exit code, and also `run` if `runs` is set, and
/// `explain` if both flags are set.
void check_that_commands_agree(const Words& words, bool runs, bool explains) {
  std::string line;
  for (const std::string& word : words) line += word + ' ';
  INFO(line);
  const Outcome validated = outcome_of(Words{"validate"} + words);
  const Outcome source = outcome_of(Words{"source"} + words);
  // `jitc source` fails if there is nothing to move, because it has no kernel to show.
  const bool nothing = source.text.find("there is nothing to move") != std::string::npos;
  CHECK((source.status == validated.status || (nothing && validated.status == 0)));
  if (runs) {
    const Outcome run = outcome_of(simulated(words));
    // `jitc run` copies rows that a tensor map cannot describe to rows that it can.
    const bool pads = run.text.find("apart on the device") != std::string::npos;
    CHECK((run.status == validated.status || (pads && run.status == 0)));
  }
  if (runs && explains) CHECK(outcome_of(Words{"explain"} + words).status == validated.status);
}

}  // namespace

TEST_CASE("with one number replaced by an extreme one, no command crashes and all commands agree") {
  // With TMAJIT_EVERY=1 each number is replaced by every value, else by one of them.
  const bool every = tests::from_environment("TMAJIT_EVERY", 0) != 0;
  const std::uint64_t seed = tests::seed(20261126);
  INFO("TMAJIT_SEED=" << seed);
  reference::Random random(seed);
  const Words values{
      "0", "1", "-1", "2147483648", "4294967295", "9223372036854775807", "-9223372036854775808"};
  for (const Words& command : commands()) {
    for (const Number& number : numbers_of(command)) {
      const std::string chosen = reference::one_of(random, values);
      for (const std::string& value : values) {
        if (!every && value != chosen) continue;
        const bool explains = reference::one_in(random, 4);
        check_that_commands_agree(with(command, number, value), value.size() <= 2, explains);
      }
    }
  }
}
