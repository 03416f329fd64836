#include "files.hpp"
#include "subprocess.hpp"

#include <tmajit/box_layout.hpp>

#include <algorithm>
#include <regex>
#include <sstream>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using tmajit::ElementType;
using tmajit::Swizzle;

namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

/// Parses the file as XML; returns the root's name and the number of <rect> elements.
std::string parse_xml(const std::string& path) {
  const auto python = find_program("python3");
  if (python.empty()) SKIP("no python3 to parse XML with");
  const auto result = jitc::run_process(
      python, {"-c",
               "import sys, xml.etree.ElementTree as e; r = e.parse(sys.argv[1]).getroot(); "
               "print(r.tag, len(r.findall('{http://www.w3.org/2000/svg}rect')))",
               path});
  INFO(result.err);
  REQUIRE(result.status == 0);
  return result.out;
}

}  // namespace

TEST_CASE("a small layout is printed as text") {
  const auto result = jitc::test::jitc({"layout", "--type", "bf16", "--box", "9x16", "--swizzle", "32B"});
  CHECK(result.status == 0);
  CHECK(result.err.empty());
  CHECK(result.out == R"(bf16 9x16, swizzle 32B: 9 rows of 32 bytes, 288 bytes, aligned to 256 bytes

bank       0-3     4-7    8-11   12-15   16-19   20-23   24-27   28-31
0x0000   0:0-7  0:8-15   1:0-7  1:8-15   2:0-7  2:8-15   3:0-7  3:8-15
0x0080  4:8-15   4:0-7  5:8-15   5:0-7  6:8-15   6:0-7  7:8-15   7:0-7
0x0100   8:0-7  8:8-15
a cell: 16 bytes, row:columns of its elements

BANK CONFLICTS                   none              32B *             64B               128B
row, 2 bytes a lane              none              none              none              2-way, mean 1.80
row, 4 bytes a lane              none              none              2-way, mean 1.67  2-way, mean 1.67
row, 8 bytes a lane              none              none              2-way, mean 1.67  2-way, mean 1.67
row, 16 bytes a lane             none              none              2-way, mean 1.67  2-way, mean 1.67
column, 2 bytes a lane           3-way             2-way             2-way             2-way
column, 4 bytes a lane           3-way, mean 2.67  2-way, mean 1.67  2-way, mean 1.67  2-way, mean 1.67
column, 8 bytes a lane           3-way, mean 2.33  2-way, mean 1.67  2-way, mean 1.67  2-way, mean 1.67
column, 16 bytes a lane          2-way, mean 1.67  2-way, mean 1.33  2-way, mean 1.33  2-way, mean 1.33
8x8 matrix (ldmatrix)            2-way             none              none              none
8x8 matrix, transposed (.trans)  2-way             none              none              none
* this swizzle; – the box is illegal under it
)");
}

TEST_CASE("the accesses of one instruction of a warp to the tile are printed as text") {
  const auto result = jitc::test::jitc(
      {"layout", "--box", "8x32", "--pattern", "column", "--access", "16", "--instruction", "1"});
  CHECK(result.status == 0);
  CHECK_THAT(result.out,
             StartsWith(R"(f32 8x32, swizzle none: 8 rows of 128 bytes, 1.0 KiB, aligned to 128 bytes

column, 16 bytes a lane, instruction 1 of 2: 32 wavefronts instead of 4 (8-way conflict)
banks 16, 17, 18, 19: 8 words

)"));
  CHECK_THAT(result.out,
             ContainsSubstring("\n0x0180      ·      ·      ·      ·      3     11     19     27\n"));
}

TEST_CASE("a layout as JSON has the position of every unit and the cost of access patterns") {
  const auto json = jitc_json({"layout", "--type", "f16", "--box", "2x3x40", "--swizzle", "128B", "--pattern",
                               "row", "--access", "4"});
  CHECK(json.at("box") == std::vector<int>{2, 3, 40});
  CHECK(json.at("pitch_bytes") == 128);
  CHECK(json.at("bytes") == 768);
  CHECK(json.at("units").size() == 6ULL * 5);
  const tmajit::BoxLayout box(ElementType::f16, std::array{2U, 3U, 40U}, Swizzle::b128);
  for (const auto& unit : json.at("units")) {
    const auto index = unit.at("index").get<std::vector<std::uint32_t>>();
    const auto offset = unit.at("offset").get<std::uint32_t>();
    CHECK(box.offset(index) == offset);
    CHECK(unit.at("bank") == offset / 4 % 32);
  }
  for (const auto& pattern : json.at("patterns")) {
    CHECK(pattern.at("swizzles").at("64B").is_null());
    CHECK(pattern.at("swizzles").at("128B").at("wavefronts") >=
          pattern.at("swizzles").at("128B").at("ideal_wavefronts"));
  }
  const auto& access = json.at("access");
  CHECK(access.at("instructions") == 4);
  CHECK(access.at("lanes").size() == 32);
  CHECK(access.at("lanes").at(20).at("index") == std::vector<int>{0, 1, 0});
  CHECK(access.at("words_of_banks").size() == 32);
}

TEST_CASE("a layout as SVG is XML with a rectangle for every unit") {
  const Folder folder;
  const auto path = folder / "a.svg";
  const auto result =
      jitc::test::jitc({"layout", "--type", "bf16", "--box", "16x64", "--swizzle", "128B", "-o", path});
  CHECK(result.status == 0);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, ContainsSubstring("a.svg: bf16 16x64, swizzle 128B"));
  const auto svg = read_file(path);
  // The page, 16 · 8 units, 8 colours in the legend, and 10 patterns under two legal swizzles.
  CHECK(parse_xml(path) == "{http://www.w3.org/2000/svg}svg 157\n");
  CHECK_THAT(svg,
             ContainsSubstring(">1:8–15</text>") && ContainsSubstring("<title>bf16 16x64, swizzle 128B"));
  CHECK(count(svg, "class=\"unit c3\"") == 16 + 1);

  const auto json = jitc_json({"layout", "--box", "8x4", "-o", path});
  CHECK(json.at("output") == path);
  CHECK(folder.names() == std::vector<std::string>{"a.svg"});
}

TEST_CASE("the picture in the documentation equals the one that jitc layout draws") {
  const Folder folder;
  const auto path = folder / "a.svg";
  REQUIRE(jitc::test::jitc({"layout", "--type", "bf16", "--box", "32x64", "--swizzle", "128B", "-o", path})
              .status == 0);
  CHECK(read_file(path) == read_file(JITC_DOCUMENTATION "/images/layout-bf16-32x64-128B.svg"));
}

TEST_CASE("every kind of picture is well-formed XML") {
  const Folder folder;
  const auto arguments = GENERATE(values<std::vector<std::string>>({
      {"--type", "f32", "--box", "2x9x24", "--swizzle", "128B", "--colour", "row"},
      {"--type", "u8", "--box", "2x1x3x48", "--interleave", "16B", "--swizzle", "128B", "--pattern",
       "column"},
      {"--type", "f64", "--box", "256x16", "--pattern", "row", "--access", "16", "--instruction", "63"},
      {"--type", "f16", "--box", "64x64", "--swizzle", "128B", "--pattern", "matrix-transposed"},
      {"--type", "u8", "--box", "4x4x4x4x16", "--color", "column", "--lines", "3"},
  }));
  auto all = arguments;
  all.insert(all.begin(), "layout");
  all.insert(all.end(), {"-o", folder / "a.svg"});
  const auto result = jitc::test::jitc(all);
  INFO(result.err);
  REQUIRE(result.status == 0);
  CHECK_THAT(parse_xml(folder / "a.svg"), StartsWith("{http://www.w3.org/2000/svg}svg "));
}

TEST_CASE("a picture that cannot be written whole leaves no file") {
  const Folder folder;
  const auto path = folder / "a.svg";
  write_file(path, "before");
  const auto result = jitc::test::jitc({"layout", "--box", "64x32", "-o", path}, {.file_size_limit = 4096});
  CHECK(result.status == 3);
  CHECK_THAT(result.err, StartsWith("jitc: error: cannot write "));
  CHECK(read_file(path) == "before");
  CHECK(folder.names() == std::vector<std::string>{"a.svg"});
  CHECK(jitc::test::jitc({"layout", "--box", "8x8", "-o", folder / "none/a.svg"}).status == 3);
}

TEST_CASE("wrong usage of jitc layout gives exit code 2 and writes nothing") {
  struct Wrong {
    std::vector<std::string> arguments;
    const char* says;
  };
  const Folder folder;
  const auto wrong = GENERATE_REF(values<Wrong>({
      {{}, "--box"},
      {{"--box", "8x"}, "--box 8x"},
      {{"--box", "8x8", "--type", "f31"}, "f31"},
      {{"--box", "8x8", "--swizzle", "128B_ATOM_32B"}, "128B"},
      {{"--box", "8x8", "--interleave", "64B"}, "64B"},
      {{"--box", "8x3"}, "box.inner-bytes"},
      {{"--box", "8x64", "--swizzle", "128B"}, "box.swizzle"},
      {{"--box", "300x8"}, "box.range"},
      {{"--box", "1x1x1x1x1x8"}, "rank.range"},
      {{"--box", "8x8", "--interleave", "16B"}, "rank.interleave"},
      {{"--box", "8x8", "--pattern", "diagonal"}, "row, column, matrix, matrix-transposed"},
      {{"--box", "8x8", "--pattern", "matrix-transposed"}, "elements of 2 bytes"},
      {{"--box", "4x8", "--pattern", "matrix"}, "this box has 4 rows"},
      {{"--box", "8x8", "--pattern", "row", "--access", "2"}, "accesses 4, 8, 16 bytes"},
      {{"--box", "8x8", "--pattern", "row", "--instruction", "2"}, "there are 2"},
      {{"--box", "8x8", "--access", "4"}, "--pattern"},
      {{"--box", "8x8", "--instruction", "0"}, "--pattern"},
      {{"--box", "8x8", "--colour", "value"}, "column, row"},
      {{"--box", "8x8", "--lines", "-1"}, "--lines"},
      {{"--box", "8x8", "-o", "a.png"}, ".svg"},
      {{"--box", "8x8", "-o", "svg"}, ".svg"},
  }));
  auto arguments = wrong.arguments;
  arguments.insert(arguments.begin(), "layout");
  const auto result = jitc::test::jitc(arguments);
  INFO(result.err);
  CHECK(result.status == 2);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, StartsWith("jitc: error: ") && ContainsSubstring(wrong.says));
  arguments.insert(arguments.end(), {"-o", folder / "a.svg"});
  if (std::ranges::count(arguments, "-o") == 1) CHECK(jitc::test::jitc(arguments).status == 2);
  CHECK(folder.names().empty());
}

TEST_CASE("a layout is coloured at a terminal unless $NO_COLOR is set") {
  const auto script = find_program("script");
  if (script.empty()) SKIP("no script(1) to make a terminal with");
  const std::string command = std::string(JITC_PROGRAM) + " layout --box 8x8";
  const auto coloured = jitc::run_process(script, {"-qec", command, "/dev/null"});
  CHECK(coloured.status == 0);
  CHECK_THAT(coloured.out, ContainsSubstring("\x1b[38;5;16;48;5;"));
  const auto plain = jitc::run_process(script, {"-qec", "NO_COLOR=1 " + command, "/dev/null"});
  CHECK_THAT(plain.out, !ContainsSubstring("\x1b[") && ContainsSubstring("bank"));
}
