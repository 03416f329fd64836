// The steps of rowwise operations, read from text.
#include "kernel/row_steps.hpp"

#include "error_of.hpp"

#include <set>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string error(std::string_view text, std::uint32_t sources = 1) {
  return tests::error_of([&] { return parse_row_steps(text, sources); }).what();
}

}  // namespace

TEST_CASE("steps say what they read, and whether they have a value for each element") {
  const std::vector<RowStep> steps =
      parse_row_steps("m = max(x); e = expf(x - m) ; unused = sum(e * e); y0 = e / sum(e); y1 = m", 1);
  REQUIRE(steps.size() == 5);  // `unused` is left out
  CHECK((steps[0].name == "m" && steps[0].reduction == ReductionOp::max && steps[0].expression == "x"));
  CHECK((steps[0].by_row() && steps[0].sources == 1));
  CHECK((!steps[1].by_row() && steps[1].reads == std::vector<std::uint32_t>{0}));
  CHECK((steps[2].reduction == ReductionOp::sum && steps[2].expression == "e" && steps[2].by_row()));
  CHECK((steps[3].expression == "e / " + steps[2].name && steps[3].destination == 0U));
  CHECK((steps[4].destination == 1U && steps[4].by_row()));
  CHECK(destination_count(steps) == 2);
}

TEST_CASE("all assigned names are listed, also those that no destination needs") {
  CHECK(assigned_names(" m = max(x); unused = x; y0 = x == m ? 1 : 0 ;; y1=m;") ==
        std::vector<std::string>{"m", "unused", "y0", "y1"});
  CHECK((destination_number("y") == 0 && destination_number("y0") == 0 && destination_number("y7") == 7));
  CHECK((!destination_number("y8") && !destination_number("ye") && !destination_number("x1")));
}

TEST_CASE("reductions are told from C's functions of the same name by their arguments") {
  const std::vector<RowStep> steps = parse_row_steps("y = max(x, 0) + min(max(x), 1e5f)", 1);
  REQUIRE(steps.size() == 2);
  CHECK((steps[0].reduction == ReductionOp::max && steps[0].expression == "x"));
  CHECK(steps[1].expression == "max(x, 0) + min(" + steps[0].name + ", 1e5f)");
  const std::vector<RowStep> nested = parse_row_steps("y = sum(x * max(sum(x) - x))", 1);
  CHECK(nested.size() == 3);
  CHECK((nested[2].reduction == ReductionOp::sum && !nested[1].name.empty()));
}

TEST_CASE("found: reductions within expressions get names that no step has") {
  const std::vector<RowStep> steps =
      parse_row_steps("sum_1 = x * 2; sum_3 = sum(x) + sum(x * x); y = sum_1 / sum(sum_3 + x)", 1);
  std::set<std::string> names;
  for (const RowStep& step : steps) names.insert(step.name);
  CHECK(names.size() == steps.size());
  CHECK(steps.back().reads.size() == 2);
  CHECK(steps[steps.back().reads.front()].expression == "x * 2");
}

TEST_CASE("wrong steps are errors that quote the step and say what is legal") {
  CHECK_THAT(error("max(x)"), ContainsSubstring("step \"max(x)\": a step is \"name = expression\""));
  CHECK_THAT(error("y == x"), ContainsSubstring("a step is"));
  CHECK_THAT(error("y ="), ContainsSubstring("the expression is missing"));
  CHECK_THAT(error("n = sum(x); y = n"),
             ContainsSubstring("n is the length of the row; choose another name"));
  CHECK_THAT(error("x1 = 3; y = x"), ContainsSubstring("x1 is a source"));
  CHECK_THAT(error("max = x; y = x"), ContainsSubstring("max is a reduction"));
  // Found: a value for each row with this name was hidden by a parameter of generated functions.
  for (const std::string name : {"slot", "steps", "kept_e", "pair_m"})
    CHECK_THAT(error(name + " = max(x); y = x - " + name),
               ContainsSubstring(name + " is a name in the kernel's text"));
  CHECK_THAT(error("a = x; a = x; y = a"), ContainsSubstring("assigned a second time"));
  CHECK_THAT(error("y = x2", 2), ContainsSubstring("x2 does not exist, since there are 2 sources"));
  CHECK_THAT(error("y = x", 2), ContainsSubstring("write x0 to x1"));
  CHECK_THAT(error("y = sum(x"), ContainsSubstring("a bracket is not closed"));
  CHECK_THAT(error("y = sum(x, x)"), ContainsSubstring("sum reduces one expression over the row"));
  CHECK_THAT(error("m = max(x)"), ContainsSubstring("no step assigns a destination"));
  CHECK_THAT(error("y1 = x"), ContainsSubstring("without y0"));
  CHECK_THAT(error("y = x; y1 = x"), ContainsSubstring("call them y0, y1"));
  std::string many = "a0 = x";
  for (int k = 1; k < 40; ++k) many += "; a" + std::to_string(k) + " = a" + std::to_string(k - 1) + " + 1";
  CHECK_THAT(error(many + "; y = a39"), ContainsSubstring("more than 32"));
}
