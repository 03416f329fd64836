#include <tmajit/report/source_location.hpp>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

TEST_CASE("an instruction's source line is found, and the line where it was inlined") {
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
  const auto first = source_locations(artifact, 4);
  REQUIRE(first.size() == 1);
  CHECK(describe(first[0]) == "k.cu:2: two();");
  const auto second = source_locations(artifact, 6);
  REQUIRE(second.size() == 2);
  CHECK(describe(second[0]) == "expression:7");
  CHECK(describe(second[1]) == "k.cu:3: three");
  CHECK(source_locations(artifact, 10).empty());
  CHECK(source_locations(artifact, 0).empty());
  CHECK(source_locations(artifact, 1000).empty());
}

TEST_CASE("the instruction's own line comes first, and then the calling frames from inner to outer") {
  Artifact artifact;
  artifact.entry = "k";
  artifact.ptx =
      ".visible .entry k()\n{\n.loc 1 9 1\n.loc 2 40 1, function_name $a, inlined_at 1 9 1\n"
      ".loc 3 7 1, function_name $b, inlined_at 2 40 1\nadd.u32 a, b, c;\n}\n"
      ".file 1 \"/opt/cutlass/include/cutlass/device_kernel.h\"\n.file 2 \"/home/me/gemm/mainloop.cuh\"\n"
      ".file 3 \"/opt/cutlass/include/cute/arch/copy_sm90_tma.hpp\"\n";
  Finding finding;
  finding.kernel = "k";
  finding.ptx_line = 6;
  finding.source_file = "mainloop.cuh";
  finding.source_path = "gemm/mainloop.cuh";
  finding.source_line = 40;
  const auto locations = own_first(source_locations({&artifact}, finding));
  REQUIRE(locations.size() == 3);
  CHECK(locations[0].own);
  CHECK(locations[0].path == "/home/me/gemm/mainloop.cuh");
  CHECK(describe(locations[1]) == "copy_sm90_tma.hpp:7");
  CHECK(describe(locations[2]) == "device_kernel.h:9");
  CHECK_FALSE(locations[1].own);
}
