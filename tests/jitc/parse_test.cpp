#include "parse.hpp"

#include "subprocess.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace jitc;

TEST_CASE("extents, strides and types are parsed, and wrong ones refused") {
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

TEST_CASE("quotes hold words of a text together") {
  const std::uint64_t start = jitc::test::seed();
  INFO("TMAJIT_SEED=" << start);
  std::mt19937_64 random(start);
  for (int n = 0; n < 300; ++n) {
    std::vector<std::string> words(random() % 5);
    std::string text;
    for (std::string& word : words) {
      const char quote = random() % 2 == 0 ? '"' : '\'';
      const std::string letters = std::string("ab= -\n") + (quote == '"' ? '\'' : '"');
      for (std::uint64_t length = random() % 6; length > 0; --length)
        word += letters[random() % letters.size()];
      const std::size_t bare = word.find_first_of(" \n'\"");  // these letters are quoted
      const std::size_t at = std::min(bare, random() % (word.size() + 1));
      text += std::string(1 + random() % 2, ' ') + word.substr(0, at) + quote + word.substr(at) + quote;
    }
    INFO(text);
    CHECK(command_words(text) == words);
  }
  CHECK(command_words(" a  --b=1 ") == std::vector<std::string>{"a", "--b=1"});
  CHECK_THROWS_AS(command_words("a 'b"), tmajit::Error);
}

TEST_CASE("the number of inputs that an expression reads is found in its text") {
  CHECK(inputs_of("x * 2") == 1);
  CHECK(inputs_of("x0 + x1 * x2") == 3);
  CHECK(inputs_of("x7") == 8);
  CHECK(inputs_of("max0 + ax3 + x12 + 0x5") == 0);
  CHECK(inputs_of("") == 0);
}
