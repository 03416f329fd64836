#include "compile/diagnostics.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

constexpr std::string_view ptxas_log =
    "ptxas info    : 24 bytes gmem\n"
    "ptxas info    : Compiling entry function 'other' for 'sm_90a'\n"
    "ptxas info    : Function properties for other\n"
    "ptxas         .     1 bytes stack frame, 2 bytes spill stores, 3 bytes spill loads\n"
    "ptxas info    : Used 4 registers, used 5 barriers, 6 bytes smem\n"
    "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
    "ptxas info    : Function properties for k\n"
    "ptxas         .     32 bytes stack frame, 20 bytes spill stores, 16 bytes spill loads\n"
    "ptxas info    : Used 19 registers, used 1 barriers, 32 bytes cumulative stack size, 1032 bytes smem\n"
    "ptxas info    : Function properties for helper\n"
    "ptxas         .     7 bytes stack frame, 7 bytes spill stores, 7 bytes spill loads\n";

}  // namespace

TEST_CASE("the resources of the named kernel are read from ptxas' log") {
  const auto k = parse_resources(ptxas_log, "k");
  REQUIRE(k);
  CHECK(k->registers == 19);
  CHECK(k->spill_store_bytes == 20);
  CHECK(k->spill_load_bytes == 16);
  CHECK(k->stack_bytes == 32);
  CHECK(k->static_shared_bytes == 1032);
  CHECK(k->barriers == 1);
  CHECK(parse_resources(ptxas_log, "other")->static_shared_bytes == 6);
}

TEST_CASE("a log without a report of the kernel gives no resources") {
  CHECK_FALSE(parse_resources(ptxas_log, "helper"));
  CHECK_FALSE(parse_resources(ptxas_log, ""));
  CHECK_FALSE(parse_resources("", "k"));
}

TEST_CASE("values that an older ptxas does not report are 0") {
  const auto report = parse_resources(
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Used 8 registers, 352 bytes cmem[0]\n",
      "k");
  REQUIRE(report);
  CHECK(report->registers == 8);
  CHECK(report->barriers == 0);
  CHECK(report->static_shared_bytes == 0);
}
