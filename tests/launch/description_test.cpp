#include "launch/parameter.hpp"

#include <tmajit/error.hpp>
#include <tmajit/launch/description.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;

namespace {

constexpr auto whole = R"({
  "entry": "k",
  "source": "k.cu",
  "grid": [4, 2],
  "block": [32, 1, 2],
  "cluster": [2, 1],
  "shared_bytes": 4096,
  "buffers": {
    "a": {"in": "a.npy", "out": "b.npy", "dtype": "bf16"},
    "v": {"dtype": "f16", "shape": [2, 3], "values": [1, -2.5, "inf", "nan", "0x3c01", 65504]},
    "y": {"out": "y.npy", "dtype": "float32", "shape": [8], "fill": 238}
  },
  "parameters": [
    {"type": "u32", "value": 7},
    {"type": "i16", "value": [-1, 2]},
    {"buffer": "a", "offset": 16},
    {"tensor_map": {"buffer": "y", "box": [8], "swizzle": "32B", "oob_fill": "nan", "l2_promotion": "128B",
                    "interleave": "none", "element_strides": [1], "strides": [4], "shape": [8], "dtype": "u32",
                    "offset": 32}},
    {"tensor_map": {"buffer": "v", "shape": [2, 3, 4, 8], "element_strides": [1, 2, 1, 1],
                    "pixel_box": {"lower": [-1, 0], "upper": [1, -2], "channels": 8, "pixels": 6}}},
    {"struct": [{"type": "u8", "value": 255}, {"buffer": "v"}, {"type": "u32", "value": [1, 2, 3]}]}
  ]
})";

/// The error for `text`, or "accepted".
std::string description_refusal(const std::string& text) {
  try {
    (void)parse_launch(text);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    return error.what();
  }
  return "accepted";
}

/// A legal description with `member` in place of the member of the same key.
std::string with(const std::string& member) {
  const auto key = member.substr(0, member.find(':'));
  std::string text = "{" + member;
  for (const std::string other :
       {R"("grid": 1)", R"("block": 32)", R"("buffers": {"b": {"dtype": "f32", "shape": [4, 4]}})"}) {
    if (!other.starts_with(key)) text += ", " + other;
  }
  return text + "}";
}

std::string with_parameter(const std::string& parameter) {
  return with("\"parameters\": [" + parameter + "]");
}
std::string with_buffer(const std::string& buffer) {
  return with("\"buffers\": {\"b\": " + buffer + "}");
}

}  // namespace

TEST_CASE("all members of a launch description are parsed, and survive a round trip") {
  const auto launch = parse_launch(whole);
  CHECK(launch.entry == "k");
  CHECK(launch.source == "k.cu");
  CHECK(launch.grid == std::array<std::uint32_t, 3>{4, 2, 1});
  CHECK(launch.block == std::array<std::uint32_t, 3>{32, 1, 2});
  CHECK(launch.cluster == std::array<std::uint32_t, 3>{2, 1, 1});
  CHECK(launch.shared_bytes == 4096);
  REQUIRE(launch.buffers.size() == 3);
  CHECK(launch.buffers[0].in == "a.npy");
  CHECK(launch.buffers[0].out == "b.npy");
  CHECK(launch.buffers[0].type == ElementType::bf16);
  CHECK(launch.buffers[1].values ==
        std::vector<std::uint64_t>{0x3c00, 0xc100, 0x7c00, 0x7fff, 0x3c01, 0x7bff});
  CHECK(launch.buffers[2].fill == 238);
  REQUIRE(launch.parameters.size() == 6);
  CHECK(bytes_of(launch.parameters[0]) == 4);
  CHECK(std::get<ScalarParameter>(launch.parameters[1]).bits == std::vector<std::uint64_t>{0xffff, 2});
  CHECK(std::get<PointerParameter>(launch.parameters[2]).offset == 16);
  const auto& map = std::get<TensorMapParameter>(launch.parameters[3]);
  CHECK(map.swizzle == Swizzle::b32);
  CHECK(map.strides == std::vector<std::uint64_t>{4});
  CHECK(bytes_of(launch.parameters[3]) == 128);
  const auto& images = std::get<TensorMapParameter>(launch.parameters[4]);
  CHECK(images.rank() == 4);
  CHECK(images.pixel_box == PixelBoxDescription{{-1, 0}, {1, -2}, 8, 6});
  CHECK(field_offsets(std::get<StructParameter>(launch.parameters[5])) ==
        std::vector<std::uint64_t>{0, 8, 16, 32});
  CHECK(describe(launch.parameters[1]) == "i16[2]");
  CHECK(describe(launch.parameters[5]) == "a struct of 3 fields");
  CHECK(parse_launch(launch_json(launch)) == launch);
}

TEST_CASE("launches in \"before\" share the buffers of the last launch") {
  const auto launch = parse_launch(R"({"entry": "second", "grid": 2, "block": 32, "overlaps": true,
    "buffers": {"b": {"dtype": "u32", "shape": [8]}}, "parameters": [{"buffer": "b"}],
    "before": [{"entry": "first", "grid": 4, "block": 64, "shared_bytes": 16, "parameters": [{"buffer": "b", "offset": 4}]},
               {"grid": 1, "block": 1, "cooperative": true, "note": "the only kernel"}]})");
  CHECK(launch.overlaps);
  REQUIRE(launch.before.size() == 2);
  CHECK(launch.before[0].entry == "first");
  CHECK(launch.before[0].grid[0] == 4);
  CHECK(launch.before[0].shared_bytes == 16);
  CHECK(std::get<PointerParameter>(launch.before[0].parameters[0]).offset == 4);
  CHECK(launch.before[1].path == "$.before[1]");
  CHECK(launch.before[1].cooperative);
  CHECK_FALSE(launch.before[1].overlaps);
  CHECK(parse_launch(launch_json(launch)) == launch);
  const auto wrong = [](const std::string& before) {
    return description_refusal(R"({"grid": 1, "block": 32, "before": [)" + before + "]}");
  };
  CHECK_THAT(wrong(R"({"block": 1})"), ContainsSubstring("$.before[0]: \"grid\" is missing"));
  CHECK_THAT(wrong(R"({"grid": 1, "block": 2048})"), ContainsSubstring("$.before[0].block"));
  CHECK_THAT(wrong(R"({"grid": 1, "block": 1, "buffers": {}})"), ContainsSubstring("$.before[0].buffers"));
  CHECK_THAT(wrong(R"({"grid": 1, "block": 1, "parameters": [{"buffer": "a"}]})"),
             ContainsSubstring("$.before[0].parameters[0]"));
}

TEST_CASE("omitted members of a launch description have defaults") {
  const auto launch = parse_launch(R"({"grid": 3, "block": 64})");
  CHECK(launch.entry.empty());
  CHECK(launch.grid == std::array<std::uint32_t, 3>{3, 1, 1});
  CHECK(launch.shared_bytes == 0);
  CHECK(launch.parameters.empty());
}

TEST_CASE("a text that is not JSON is refused with line and column") {
  CHECK_THAT(description_refusal(""), StartsWith("not JSON: parse error at line 1, column 1"));
  CHECK_THAT(description_refusal("{\n  \"grid\": 1,\n  block: 2\n}"), ContainsSubstring("line 3, column 3"));
  CHECK_THAT(description_refusal("{\"grid\": \"\xff\"}"), StartsWith("not JSON: "));
  CHECK_THAT(description_refusal(R"({"grid": 1, "block": 1, "grid": 2})"),
             ContainsSubstring("an object has the key \"grid\" twice"));
  CHECK_THAT(description_refusal(std::string(100'000, '[')), StartsWith("not JSON: "));
}

TEST_CASE("the error for a mistake in a launch description names its JSON path") {
  struct Mistake {
    std::string text;
    const char* path;
    const char* says;
  };
  const Mistake mistakes[] = {
      {"[]", "$: ", "an object is needed"},
      {"7", "$: 7; ", "an object"},
      {R"({"block": 1})", "$: ", "\"grid\" is missing"},
      {R"({"grid": 1})", "$: ", "\"block\" is missing"},
      {with(R"("grid": 0)"), "$.grid: 0; ", "from 1 to 2147483647"},
      {with(R"("grid": 1.5)"), "$.grid: 1.5; ", "whole number"},
      {with(R"("grid": -1)"), "$.grid: -1; ", "whole number"},
      {with(R"("grid": [1, 2, 3, 4])"), "$.grid: a list of 4; ", "x, y and z"},
      {with(R"("grid": [1, 70000])"), "$.grid[1]: 70000; ", "from 1 to 65535"},
      {with(R"("block": [64, 32])"), "$.block: ", "2048 threads"},
      {with(R"("block": "x")"), "$.block: \"x\"; ", "whole number"},
      {with(R"("cluster": 2)"), "$.cluster: ", "[2, 1, 1] does not divide the grid, [1, 1, 1]"},
      {with(R"("cluster": 17)"), "$.cluster: 17; ", "from 1 to 16"},
      {with(R"("cluster": [4, 8])"), "$.cluster: ", "32 CTAs; a cluster has at most 16"},
      {with(R"("shared_bytes": 300000)"), "$.shared_bytes: 300000; ", "to 232448"},
      {with(R"("entry": 3)"), "$.entry: 3; ", "a string"},
      {with(R"("entry": "")"), "$.entry: ", "name of a kernel"},
      {with(R"("source": "")"), "$.source: ", "name of a file"},
      {with(R"("gird": 3)"), "$.gird: ", "legal are entry, source, constants, include, grid"},
      {with(R"("a b": 3)"), "$[\"a b\"]: ", "no such key"},
      {with(R"("buffers": [])"), "$.buffers: []; ", "an object"},
      {with(R"("parameters": {})"), "$.parameters: {}; ", "a list"},
      {with_buffer("{}"), "$.buffers.b: ", "\"dtype\" is missing"},
      {with_buffer(R"({"dtype": "f32"})"), "$.buffers.b: ", "\"shape\" is missing"},
      {with_buffer(R"({"dtype": "f33", "shape": [1]})"), "$.buffers.b.dtype: ", "bf16"},
      {with_buffer(R"({"dtype": "f32", "shape": []})"), "$.buffers.b.shape: []; ", "1 to 8"},
      {with_buffer(R"({"dtype": "f32", "shape": [1, 0]})"), "$.buffers.b.shape[1]: 0; ", "from 1"},
      {with_buffer(R"({"dtype": "f32", "shape": [1099511627776, 2]})"), "$.buffers.b.shape: ", "elements"},
      {with_buffer(R"({"dtype": "f32", "shape": [2], "fill": 256})"), "$.buffers.b.fill: 256; ", "to 255"},
      {with_buffer(R"({"dtype": "u8", "shape": [2], "values": [1, 2, 3]})"),
       "$.buffers.b.values: ", "3 values; the shape has 2"},
      {with_buffer(R"({"dtype": "u8", "shape": [2], "values": []})"), "$.buffers.b.values: ", "0 values"},
      {with_buffer(R"({"dtype": "u8", "shape": [2], "values": [1, 300]})"), "$.buffers.b.values[1]: 300; ",
       "u8 takes whole numbers from 0 to 255"},
      {with_buffer(R"({"dtype": "u8", "shape": [2], "values": [1], "fill": 1})"),
       "$.buffers.b: ", "exclude each other"},
      {with_buffer(R"({"in": ""})"), "$.buffers.b.in: ", "name of a .npy file"},
      {with_buffer(R"({"in": 1})"), "$.buffers.b.in: 1; ", "a string"},
      {with_buffer(R"({"in": "a.npy", "typ": 1})"), "$.buffers.b.typ: ", "legal are in, out, dtype"},
      {with_parameter("3"), "$.parameters[0]: 3; ", "a parameter is"},
      {with_parameter("{}"), "$.parameters[0]: {}; ", "a parameter is"},
      {with_parameter(R"({"type": "u32"})"), "$.parameters[0]: ", "\"value\" is missing"},
      {with_parameter(R"({"type": "u32", "value": 1}, {"type": "i8", "value": -129})"),
       "$.parameters[1].value: -129; ", "from -128 to 127"},
      {with_parameter(R"({"type": "u32", "value": -1})"), "$.parameters[0].value: -1; ", "to 4294967295"},
      {with_parameter(R"({"type": "u32", "value": 4294967296})"), "$.parameters[0].value: ", "u32 takes"},
      {with_parameter(R"({"type": "u64", "value": 18446744073709551616})"),
       "$.parameters[0].value: ", "u64 takes"},
      {with_parameter(R"({"type": "u16", "value": "0x12345"})"), "$.parameters[0].value: ", "1 to 4 hexa"},
      {with_parameter(R"({"type": "f16", "value": 1e9})"),
       "$.parameters[0].value: ", "f16 takes numbers up to 65504"},
      {with_parameter(R"({"type": "e4m3", "value": "inf"})"), "$.parameters[0].value: ", "e4m3 takes"},
      {with_parameter(R"({"type": "f32", "value": "1"})"), "$.parameters[0].value: \"1\"; ", "f32 takes"},
      {with_parameter(R"({"type": "f32", "value": []})"), "$.parameters[0].value: []; ",
       "1 to 32764 numbers"},
      {with_parameter(R"({"type": "f32", "value": null})"), "$.parameters[0].value: null; ", "f32 takes"},
      {with_parameter(R"({"type": "f32", "value": 1, "x": 1})"),
       "$.parameters[0].x: ", "legal are type, value"},
      {with_parameter(R"({"buffer": "c"})"), "$.parameters[0].buffer: \"c\"; ", "$.buffers has b"},
      {with_parameter(R"({"buffer": "b", "offset": -4})"), "$.parameters[0].offset: -4; ", "whole number"},
      {with_parameter(R"({"struct": []})"), "$.parameters[0].struct: []; ", "needs at least one field"},
      {with_parameter(R"({"struct": [{"struct": []}]})"), "$.parameters[0].struct[0]: ", "a field is one"},
      {with_parameter(R"({"struct": [{"tensor_map": {"buffer": "b", "box": [4]}, "at": 32}]})"),
       "$.parameters[0].struct[0].at: 32; ", "a tensor map needs an offset that is a multiple of 64 bytes"},
      {with_parameter(R"({"struct": [{"type": "u32", "value": 1}, {"type": "u8", "value": 1, "at": 3}]})"),
       "$.parameters[0].struct[1].at: 3; ", "4"},
      {with_parameter(R"({"struct": [{"type": "u32", "value": 1, "at": 8}], "bytes": 11})"),
       "$.parameters[0].bytes: 11; ", "12"},
      {with_parameter(R"({"type": "u32", "value": 1, "at": 8})"), "$.parameters[0]", "at"},
      {with_parameter(R"({"tensor_map": 1})"), "$.parameters[0].tensor_map: 1; ", "an object"},
      {with_parameter(R"({"tensor_map": {"box": [4]}})"),
       "$.parameters[0].tensor_map: ", "\"buffer\" is missing"},
      {with_parameter(R"({"tensor_map": {"buffer": "b"}})"),
       "$.parameters[0].tensor_map: ", "\"box\" is missing"},
      {with_parameter(R"({"tensor_map": {"buffer": "b", "box": [1,1,1,1,1,1,1,1,1]}})"),
       "$.parameters[0].tensor_map.box: a list of 9; ", "0 to 8"},
      {with_parameter(R"({"tensor_map": {"buffer": "b", "box": [4, 4], "strides": [4]}})"),
       "$.parameters[0].tensor_map.strides: 1 dimension; ", "the box has 2"},
      {with_parameter(R"({"tensor_map": {"buffer": "b", "pixel_box": {"lower": [0], "upper": [0, 1]}}})"),
       "$.parameters[0].tensor_map.pixel_box.upper: 2 numbers; ", "lower has 1"},
      {with_parameter(R"({"tensor_map": {"buffer": "b", "pixel_box": {"lower": [0], "upper": [0]}}})"),
       "$.parameters[0].tensor_map.pixel_box: ", "\"channels\" is missing"},
      {with_parameter(R"({"tensor_map": {"buffer": "b", "box": [4, 4], "pixel_box": {}}})"),
       "$.parameters[0].tensor_map.pixel_box: ", "either \"box\" or \"pixel_box\""},
      {with_parameter(R"({"tensor_map": {"buffer": "b", "box": [4, 4], "swizzle": "96B"}})"),
       "$.parameters[0].tensor_map.swizzle: ", "128B"},
      {with_parameter(R"({"tensor_map": {"buffer": "b", "box": [4, 4], "swizle": "32B"}})"),
       "$.parameters[0].tensor_map.swizle: ", "legal are buffer, offset"},
      {with_parameter(R"({"tensor_map": {"buffer": "b", "box": [4, 4]}, "type": "u8"})"),
       "$.parameters[0].type: ", "legal are tensor_map"},
  };
  for (const auto& mistake : mistakes) {
    INFO(mistake.text);
    CHECK_THAT(description_refusal(mistake.text),
               StartsWith(mistake.path) && ContainsSubstring(mistake.says));
  }
}

TEST_CASE("fields of a struct parameter are at their \"at\", or aligned after the field before") {
  const auto text = R"({"grid": 1, "block": 32, "note": "for people",
    "buffers": {"b": {"dtype": "f32", "shape": [16, 32], "note": "also"}},
    "parameters": [{"struct": [
      {"type": "u8", "value": 1},
      {"tensor_map": {"buffer": "b", "box": [8, 32]}, "note": "of x"},
      {"buffer": "b", "at": 320},
      {"type": "u16", "value": [1, 2]}]},
      {"struct": [{"type": "u32", "value": 7, "at": 4}], "bytes": 256}]})";
  const LaunchDescription launch = parse_launch(text);
  const auto& structure = std::get<StructParameter>(launch.parameters[0]);
  CHECK(field_offsets(structure) == std::vector<std::uint64_t>{0, 64, 320, 328, 384});
  CHECK(alignment_of(structure) == 64);
  CHECK(bytes_of(launch.parameters[0]) == 384);
  CHECK(bytes_of(launch.parameters[1]) == 256);
  CHECK(parse_launch(launch_json(launch)) == launch);
}

TEST_CASE("the error for a draft lists the \"?\" that are not filled in") {
  const auto unfilled = R"({"grid": "? CTAs", "block": 32, "note": "? not this one",
    "buffers": {"b": {"dtype": "f32", "shape": ["?", 4]}}})";
  CHECK_THROWS_MATCHES(parse_launch(unfilled), Error,
                       Catch::Matchers::Message("2 values are still to be filled in, marked by a \"?\": "
                                                "$.buffers.b.shape[0]; $.grid (CTAs)"));
}

TEST_CASE("numbers can be expressions of the description's constants, which a caller can override") {
  const std::string text = R"json({
    "constants": {"rows": 8, "on": true, "factor": "0.5f", "far": -1, "stages": "3u"},
    "include": ["headers"],
    "grid": ["ceil_div(30, rows)", "stages"], "block": "8 * rows", "shared_bytes": "stages * rows * 128",
    "buffers": {"x": {"dtype": "f32", "shape": ["3 * rows", 32]}},
    "parameters": [{"tensor_map": {"buffer": "x", "box": ["rows", 32]}}, {"type": "i32", "value": "far"}]})json";
  const auto launch = parse_launch(text);
  CHECK(launch.grid == std::array<std::uint32_t, 3>{4, 3, 1});
  CHECK(launch.block[0] == 64);
  CHECK(launch.shared_bytes == 3072);
  CHECK(launch.buffers[0].shape == std::vector<std::uint64_t>{24, 32});
  CHECK(std::get<TensorMapParameter>(launch.parameters[0]).box == std::vector<std::uint32_t>{8, 32});
  CHECK(std::get<ScalarParameter>(launch.parameters[1]).bits == std::vector<std::uint64_t>{0xffffffff});
  CHECK(launch.include == std::vector<std::string>{"headers"});
  CHECK(parse_launch(launch_json(launch)) == launch);

  const auto other = parse_launch(text, {{"rows", 16}, {"more", 1}});
  CHECK(other.grid[0] == 2);
  CHECK(other.constants.size() == 6);
  CHECK_THROWS_MATCHES(parse_launch(R"({"constants": {"rows": [8]}, "grid": 1, "block": 1})"), Error,
                       MessageMatches(ContainsSubstring(
                           "$.constants.rows: a list of 1; a number, true, false or a C++ literal")));
  CHECK_THROWS_MATCHES(parse_launch(R"({"constants": {"rows": "eight"}, "grid": 1, "block": 1})"), Error,
                       MessageMatches(ContainsSubstring("$.constants.rows: the constant rows = eight")));
  CHECK_THROWS_MATCHES(parse_launch(R"({"constants": {"rows": 8}, "grid": "8 - rows", "block": 1})"), Error,
                       MessageMatches(ContainsSubstring("$.grid: \"8 - rows\" is 0; a whole number from 1")));
}

/// For schema_test.py: writes the error for each line of the file $TMAJIT_LAUNCHES to a file beside it.
TEST_CASE("refusals of launch files", "[.][refusals]") {
  const std::filesystem::path path = std::getenv("TMAJIT_LAUNCHES");
  std::ifstream launches(path);
  auto to = path;
  std::ofstream refusals(to.replace_extension(".refusals"));
  for (std::string line; std::getline(launches, line);) {
    const auto refusal = description_refusal(line);
    refusals << (refusal == "accepted" ? std::string() : refusal.substr(0, refusal.find('\n'))) << '\n';
  }
}
