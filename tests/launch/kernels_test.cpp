#include <tmajit/error.hpp>
#include <tmajit/launch/kernels.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

constexpr auto two_kernels = R"(.version 8.0
.target sm_90a
.address_size 64
.func helper(.param .u32 n) { ret; }
.visible .entry first(.param .u64 .ptr .global .align 16 out, .param .align 64 .b8 map[128], .param .v2 .f32 pair)
{ ret; }
.visible .entry second() { ret; }
)";

std::string kernels_refusal(const std::string& json) {
  try {
    (void)match_kernel(parse_launch(json), kernels_of(two_kernels, "two.ptx"));
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

std::string launch(const std::string& parameters, const std::string& entry = "first") {
  return R"({"grid": 1, "block": 32, "buffers": {"b": {"dtype": "f32", "shape": [4]}}, "entry": ")" + entry +
         R"(", "parameters": [)" + parameters + "]}";
}

}  // namespace

TEST_CASE("launches in \"before\" are checked like the last launch") {
  const auto description = parse_launch(R"({"grid": 1, "block": 32, "entry": "second", "before": [
    {"grid": 1, "block": 32, "entry": "first"}, {"grid": 1, "block": 32}, {"grid": 1, "block": 32, "entry": "third"}]})");
  const auto why = [&](std::size_t i) -> std::string {
    try {
      (void)match_kernel(description.before[i], kernels_of(two_kernels, "two.ptx"));
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  CHECK_THAT(why(0), StartsWith("$.before[0].parameters: 0 parameters"));
  CHECK_THAT(why(1), StartsWith("$.before[1]: \"entry\" is missing"));
  CHECK_THAT(why(2), StartsWith("$.before[2].entry: \"third\" is no kernel"));
}

TEST_CASE("kernels_of() lists the kernels of a module with their parameters") {
  const auto kernels = kernels_of(two_kernels, "two.ptx");
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].name == "first");
  REQUIRE(kernels[0].parameters.size() == 3);
  CHECK(kernels[0].parameters[0].declaration == ".param .u64 out");
  CHECK(kernels[0].parameters[0].bytes == 8);
  CHECK(kernels[0].parameters[1].declaration == ".param .align 64 .b8 map[128]");
  CHECK(kernels[0].parameters[1].bytes == 128);
  CHECK(kernels[0].parameters[2].bytes == 8);
  CHECK(kernels[1].parameters.empty());
}

TEST_CASE("a launch's parameters must match the kernel's in number and size") {
  const std::string out = R"({"buffer": "b"})";
  const std::string map = R"({"tensor_map": {"buffer": "b", "box": [4]}})";
  const std::string pair = R"({"type": "f32", "value": [1, 2]})";
  CHECK(kernels_refusal(launch(out + "," + map + "," + pair)) == "accepted");
  CHECK(kernels_refusal(launch("", "second")) == "accepted");
  CHECK_THAT(
      kernels_refusal(launch(out)),
      StartsWith("$.parameters: 1 parameter, but kernel \"first\" takes 3; missing is number 1, \".param "
                 ".align 64 .b8 map[128]\", 128 bytes"));
  CHECK_THAT(kernels_refusal(launch(out, "second")),
             StartsWith("$.parameters: 1 parameter, but kernel \"second\" takes 0"));
  CHECK_THAT(
      kernels_refusal(launch(out + "," + out + "," + pair)),
      StartsWith("$.parameters[1]: an address has 8 bytes") && ContainsSubstring("map[128]\", 128 bytes"));
  CHECK_THAT(kernels_refusal(launch(R"({"type": "u32", "value": 0})")),
             StartsWith("$.parameters[0]: u32 has 4 bytes") && ContainsSubstring(".param .u64 out"));
  CHECK_THAT(kernels_refusal(launch("", "third")),
             StartsWith("$.entry: \"third\" is no kernel of the PTX; it has first, second"));
  CHECK_THAT(kernels_refusal(R"({"grid": 1, "block": 1})"),
             ContainsSubstring("the PTX has 2 kernels: first, second"));
}

TEST_CASE("the error for PTX that does not parse names its file and position") {
  CHECK_THAT(
      [] {
        try {
          (void)kernels_of("rubbish", "r.ptx");
        } catch (const Error& error) {
          return std::string(error.what());
        }
        return std::string();
      }(),
      StartsWith("r.ptx does not parse as PTX:\nr.ptx:1:1: error: "));
}
