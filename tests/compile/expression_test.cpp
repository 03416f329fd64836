#include "compile/expression.hpp"

#include "compile/diagnostics.hpp"
#include "compile/sources.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>

#include <random>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using tests::expression_source;
using tests::message_of;

namespace {

struct Wrong {
  std::string expression;
  std::string message;
  std::size_t caret;  ///< byte of the expression
};

/// The expected message, for expressions whose characters are all one column wide.
std::string shown(const Wrong& wrong) {
  return "the expression does not compile\nerror: " + wrong.message + "\n  " + wrong.expression + "\n  " +
         std::string(wrong.caret, ' ') + "^";
}

}  // namespace

TEST_CASE("expressions of every shape pass the check") {
  for (const char* text : {"x",
                           "  x * 2 ",
                           "(x)",
                           "x[0] + ((1))",
                           "x ? 1 : 0",
                           "1'000'000 + x",
                           "0x1p-3f * x",
                           "1e+5 - 1e-5",
                           "'a' + '\\'' + '\"'",
                           "\"a;b//c#\"[0]",
                           "x\t+\t1",
                           "float4{1, 2, 3, 4}.x",
                           "x < 3 && x > 2",
                           "u8'('",
                           ".5f",
                           "a<::b>(x)",
                           "x % 3",
                           "0xE+1",
                           "R + 1",
                           "é + 1",
                           "[](auto v) { return v; }(x)"}) {
    INFO(text);
    const auto mistake = check_expression(text);
    if (std::string_view(text).find("return v;") != std::string_view::npos) {
      CHECK(mistake.has_value());  // statements are refused, even in a lambda
    } else {
      CHECK_FALSE(mistake.has_value());
    }
  }
}

TEST_CASE("a syntax error of brackets, quotes or comments is found before NVRTC and marked with a caret") {
  const auto wrong =
      GENERATE(Wrong{"x * (2 + 1", "\"(\" is not closed", 4}, Wrong{"x + 1)", "\")\" closes nothing", 5},
               Wrong{"(x]", "\"]\" where \"(\" is to be closed first", 2},
               Wrong{"x[0", "\"[\" is not closed", 1}, Wrong{"x } {", "\"}\" closes nothing", 2},
               Wrong{"x; return 3", "a statement cannot stand in an expression", 1},
               Wrong{"x // note", "a comment cannot stand in an expression", 2},
               Wrong{"x /* note */", "a comment cannot stand in an expression", 2},
               Wrong{"#define y", "\"#\" cannot stand in an expression", 0},
               Wrong{"%:define y", "\"%:\" cannot stand in an expression", 0},
               Wrong{"x \\", "\"\\\" cannot stand in an expression", 2},
               Wrong{"x + \"abc", "this \" opens a literal that is not closed", 4},
               Wrong{"x + 'a", "this ' opens a literal that is not closed", 4},
               Wrong{"x + 'a\\'", "this ' opens a literal that is not closed", 4},
               Wrong{"1'000' + x", "this ' opens a literal that is not closed", 5},
               Wrong{"x + R\"(a)\"", "a raw string cannot stand in an expression", 4},
               Wrong{" ", "the expression is empty", 0});
  CHECK(message_of<CompileError>([&] { (void)compile(expression_source(wrong.expression)); }) ==
        shown(wrong));
}

TEST_CASE("line breaks and control characters are refused") {
  for (const char* text : {"x\n+ 1", "x\r\n", "'a\n'", "\"b\\\n\"[0]", "x + \x01", "x \x7f"}) {
    INFO(text);
    CHECK(check_expression(text).has_value());
  }
  CHECK(check_expression(std::string_view("x\0y", 3)).has_value());
  CHECK(check_expression("").has_value());
}

TEST_CASE("an error that NVRTC finds in an expression is marked at its position") {
  const auto wrong = GENERATE(
      Wrong{"x * 2 + y", "identifier \"y\" is undefined", 8},
      Wrong{"   x * 2 + y", "identifier \"y\" is undefined", 11},
      Wrong{"foo(x)", "identifier \"foo\" is undefined", 0},
      Wrong{"x.y", "expression must have class type but it has type \"float\"", 0},
      Wrong{"x + \"a\"", "expression must have arithmetic or unscoped enum type", 4},
      Wrong{"x + 08", "invalid octal digit", 5}, Wrong{"x + 0x", "invalid hexadecimal number", 4},
      Wrong{"2 + *x", "operand of \"*\" must be a pointer but has type \"float\"", 5},
      Wrong{"true ? x : \"abc\"", "operand types are incompatible (\"float\" and \"const char *\")", 9},
      Wrong{"sizeof(int[-1]) * x", "the size of an array must be greater than zero", 11},
      Wrong{"asm(\"nop\")", "expected an expression", 0}, Wrong{"x 2", "expected a \";\"", 2},
      Wrong{"return x", "expected an expression", 0});
  CHECK(message_of<CompileError>([&] { (void)compile(expression_source(wrong.expression)); }) ==
        shown(wrong));
}

TEST_CASE("an error that NVRTC finds after the expression is marked at the expression's end") {
  for (const Wrong& wrong :
       {Wrong{"x +", "expected an expression", 3}, Wrong{"x ? 1", "expected a \":\"", 5}}) {
    CHECK(message_of<CompileError>([&] { (void)compile(expression_source(wrong.expression)); }) ==
          shown(wrong) + "\n  (found in the generated text around it, tmajit_small.cu:5)");
  }
}

TEST_CASE("the first three errors are shown and the rest are counted") {
  const auto message =
      message_of<CompileError>([] { (void)compile(expression_source("a + b + c + d + e")); });
  CHECK_THAT(message,
             ContainsSubstring("\"a\"") && ContainsSubstring("\"c\"") && !ContainsSubstring("\"d\""));
  CHECK(message.ends_with("\nand 2 more errors"));
  CHECK_THAT(message_of<CompileError>([] { (void)compile(expression_source("a + b + c + d")); }),
             ContainsSubstring("and 1 more error"));
}

TEST_CASE("a message of several lines is shown whole") {
  const auto message = message_of<CompileError>([] { (void)compile(expression_source("x + __ldg(x)")); });
  CHECK_THAT(message, ContainsSubstring("argument types are: (float)\n  x + __ldg(x)\n      ^"));
}

TEST_CASE("a CompileError holds NVRTC's whole log") {
  try {
    (void)compile(expression_source("x + y"));
    FAIL("it compiled");
  } catch (const CompileError& error) {
    CHECK_THAT(error.log(),
               ContainsSubstring("expression(1): error") && ContainsSubstring("1 error detected"));
  }
}

TEST_CASE("the caret stays under its character with tabs, multi-byte characters and shortened lines") {
  CHECK(excerpt("x + y", 4) == "  x + y\n      ^");
  CHECK(excerpt("x", 99) == "  x\n   ^");
  CHECK(excerpt("", 0) == "  \n  ^");
  CHECK(excerpt("\tx + y", 5) == "   x + y\n       ^");
  CHECK(excerpt("'é' + y", 7) == "  'é' + y\n        ^");
  const std::string line = std::string(500, 'a') + "!" + std::string(500, 'b');
  const auto cut = excerpt(line, 500);
  const auto second = cut.find('\n') + 1;
  CHECK(cut.size() < 300);
  CHECK(cut.starts_with("  …"));
  // "…" is three bytes and one column.
  CHECK(cut.find('!') - 2 == cut.size() - 1 - second);
}

TEST_CASE("random text crashes neither check_expression() nor excerpt()") {
  std::mt19937 random(20240611);
  constexpr std::string_view alphabet = "x1.+-e'\"\\()[]{};#/*%<>: \t\n\x80\xc3\xa9R";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (auto n = random() % 24; n > 0; --n) text += alphabet[random() % alphabet.size()];
    const auto mistake = check_expression(text);
    if (mistake) REQUIRE(mistake->offset <= text.size());
    REQUIRE_FALSE(excerpt(text, mistake ? mistake->offset : text.size()).empty());
  }
}
