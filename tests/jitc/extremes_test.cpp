/// Empty shapes: no command ends by a signal, and all commands agree.
#include "subprocess.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;

namespace {

void check_that_nothing_moves(const std::vector<std::string>& words) {
  using Words = std::vector<std::string>;
  INFO(words.front());
  CHECK(jitc::test::jitc(Words{"validate"} + words).status == 0);
  CHECK(jitc::test::jitc(Words{"explain"} + words).status == 0);
  CHECK(jitc::test::jitc(simulated(words)).status == 0);
  CHECK_THAT(refusal(Words{"source"} + words), ContainsSubstring("there is nothing to move"));
}

}  // namespace

TEST_CASE("found: im2col without channels and convolution without outputs are no-ops") {
  check_that_nothing_moves({"im2col", "--shape", "2x5x6x0", "--filter", "3x3"});
  check_that_nothing_moves({"im2col", "--shape", "0x5x6x4", "--filter", "3x3"});
  check_that_nothing_moves({"convolution", "--shape", "2x5x6x4", "--filter", "3x3", "--outputs", "0"});
}
