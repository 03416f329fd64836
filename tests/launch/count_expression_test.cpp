#include "launch/count_expression.hpp"

#include <tmajit/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring, Catch::Matchers::MessageMatches;

TEST_CASE("valid expressions of integers and named constants are evaluated, invalid ones are rejected") {
  const Counts constants{{"rows", 8}, {"columns", 30}, {"offset", -3}};
  const std::pair<const char*, std::int64_t> valid[] = {{"7", 7},
                                                        {"columns", 30},
                                                        {" 2 + 3 * rows ", 26},
                                                        {"(2 + 3) * rows - 1", 39},
                                                        {"columns / rows", 3},
                                                        {"columns % rows", 6},
                                                        {"ceil_div(columns, rows)", 4},
                                                        {"ceil_div(32, rows)", 4},
                                                        {"ceil_div(offset, 2)", -1},
                                                        {"min(rows, 3) + max(rows, 3)", 11},
                                                        {"10 - 4 - 3", 3},
                                                        {"-offset", 3},
                                                        {"- -2", 2}};
  for (const auto& [text, value] : valid) {
    CAPTURE(text);
    CHECK(evaluate_count(text, constants) == value);
  }
  const std::pair<const char*, const char*> invalid[] = {
      {"", "a number or a name is missing"},
      {"rows +", "a number or a name is missing"},
      {"rows)", "')' is not expected"},
      {"(rows", "')' is missing"},
      {"row", "row is not a constant; legal are columns, offset, rows; did you mean rows?"},
      {"rows / 0", "a division by 0"},
      {"rows % 0", "a division by 0"},
      {"1.5", "'.' is not expected"},
      {"3x", "3x is no whole number"},
      {"abs(1, 2)", "abs is not a function"},
      {"min(1)", "',' is missing"},
      {"9223372036854775807 + 1", "does not fit 64 bits"},
      {"99999999999 * 99999999999", "does not fit 64 bits"}};
  for (const auto& [text, message] : invalid) {
    CAPTURE(text);
    CHECK_THROWS_MATCHES(evaluate_count(text, constants), Error, MessageMatches(ContainsSubstring(message)));
  }
  CHECK_THROWS_MATCHES(evaluate_count(std::string(100'000, '('), constants), Error,
                       MessageMatches(ContainsSubstring("nested too deeply")));
}
