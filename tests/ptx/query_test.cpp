#include "ptx/query.hpp"

#include "ptx/texts.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace tmajit::ptx;

TEST_CASE("a prefix matches whole modifiers, or whole parts of them between colons") {
  CHECK(matches("ld.global.f32", "ld"));
  CHECK(matches("ld.global.f32", "ld.global"));
  CHECK(matches("ld.global.f32", "ld.global.f32"));
  CHECK_FALSE(matches("ldmatrix.sync", "ld"));
  CHECK_FALSE(matches("ld.global.f32", "ld.glob"));
  CHECK(matches("x.mbarrier::complete_tx::bytes", "x.mbarrier"));
  CHECK_FALSE(matches("ld", "ld.global"));
}

TEST_CASE("counts include the instructions of nested scopes and of all functions") {
  const std::string text =
      tests::kernel("{ add.s32 %r1, %r2, 1; { add.u64 %rd1, %rd1, 2; } }\nadd.s32 %r1, %r1, 1;") +
      ".func f() { add.f32 %f1, %f2, %f3; ret; }";
  const Module module = tests::parse(text);
  CHECK(count(module, "add") == 4);
  CHECK(count(module, "add.s32") == 2);
  CHECK(count(*module.find("kernel"), "add") == 3);
  CHECK(count(text, "add.u64") == 1);
  CHECK(histogram(text) == Histogram{{"add.s32", 2}, {"add.u64", 1}, {"add.f32", 1}, {"ret", 1}});
}

TEST_CASE("a query of invalid PTX throws the parser's diagnostics") {
  CHECK_THROWS_AS(count("nonsense", "add"), std::invalid_argument);
  CHECK_THROWS_AS(histogram("nonsense"), std::invalid_argument);
}
