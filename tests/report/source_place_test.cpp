#include <tmajit/report/source_place.hpp>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

TEST_CASE("an instruction's place in the source, and where that was inlined") {
  Artifact artifact;
  artifact.source = "one\n  two();\nthree\n";
  artifact.ptx =
      ".visible .entry k()\n"
      "{\n"
      "\t.loc\t1 2 3\n"
      "\tadd.u32 a, b, c;\n"
      "\t.loc\t2 7 1, function_name $L__info_string0, inlined_at 1 3 5\n"
      "\tsub.u32 a, b, c;\n"
      "}\n"
      ".visible .entry j()\n"
      "{\n"
      "\tret;\n"
      "}\n"
      ".file\t1 \"/folder/k.cu\"\n"
      ".file\t2 \"expression\"\n";
  const auto first = source_places(artifact, 4);
  REQUIRE(first.size() == 1);
  CHECK(describe(first[0]) == "k.cu:2: two();");
  const auto second = source_places(artifact, 6);
  REQUIRE(second.size() == 2);
  CHECK(describe(second[0]) == "expression:7");
  CHECK(describe(second[1]) == "k.cu:3: three");
  CHECK(source_places(artifact, 10).empty());
  CHECK(source_places(artifact, 0).empty());
  CHECK(source_places(artifact, 1000).empty());
}
