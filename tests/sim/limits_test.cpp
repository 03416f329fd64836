/// Declarations that exceed their memory are refused when the kernel is loaded.
#include "sim/support.hpp"

#include <catch2/matchers/catch_matchers_string.hpp>

namespace limits_test {

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string refusal(const std::string& before, const std::string& body = "ret;") {
  try {
    (void)make_sim_device({.memory_bytes = 1 << 20})->kernels().load(tests::module_of(body, 1, before));
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::unsupported);
    return error.what();
  }
  return "it loads";
}

}  // namespace

TEST_CASE("variables that are larger than their state space are refused") {
  CHECK_THAT(refusal("", ".shared .b8 x[300000];\nret;"),
             ContainsSubstring("static shared memory of 300000 bytes"));
  CHECK_THAT(refusal(".const .b32 x[16385];\n"), ContainsSubstring("constant memory of 65540 bytes"));
  CHECK_THAT(refusal("", ".local .b8 x[600000];\nret;"), ContainsSubstring("local memory of 600000 bytes"));
  CHECK_THAT(refusal(".global .b8 x[4611686018427387904][4611686018427387904];\n"),
             ContainsSubstring("x has more than"));
  CHECK_THAT(refusal("", ".shared .align 131072 .b8 x[3];\nret;"),
             ContainsSubstring("aligned to 131072 bytes"));
}

TEST_CASE("initial values that do not fit their variables are refused") {
  CHECK_THAT(refusal(".global .b32 x[2] = {1, 2, 3};\n"), ContainsSubstring("more values than the variable"));
  CHECK_THAT(refusal(".global .u64 x[1] = {y};\n"), ContainsSubstring("the address of y"));
  CHECK(refusal(".global .b32 x[2] = {1};\n") == "it loads");
}

TEST_CASE("a simulated device without SMs is refused") {
  CHECK_THROWS_WITH(make_sim_device({.sm_count = 0}), ContainsSubstring("0 SMs"));
}

}  // namespace limits_test
