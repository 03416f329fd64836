/// Operations run by the program jitc on the simulated device.
#include "arrays.hpp"
#include "subprocess.hpp"

#include <cstring>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

TEST_CASE("jitc run permute writes the file that NumPy would write") {
  const Folder folder;
  std::vector<float> x(5UL * 7);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  write_npy(folder / "a.npy", "<f4", {5, 7}, bytes_of(x));
  const auto json = jitc_json(simulated(
      {"permute", "--axes", "1,0", "--in", folder / "a.npy", "--out", folder / "y.npy", "--check"}));
  CHECK(json.at("operation") == "permute");
  CHECK(json.at("run").at("device").at("simulated") == true);
  CHECK(json.at("run").at("bytes") == 2 * 5 * 7 * 4);
  CHECK(json.at("run").at("simulation").at("reports").empty());
  CHECK(json.at("check").at(0) ==
        nlohmann::json{{"name", "output"}, {"elements", 35}, {"wrong", 0}, {"stray_bytes", 0}});
  REQUIRE(json.at("plan").at("steps").size() == 1);
  const auto& kernel = json.at("plan").at("steps").at(0);
  CHECK_FALSE(kernel.at("spec").at("choice").get<std::string>().empty());
  CHECK(kernel.at("spec").at("launch").at("grid").size() == 3);
  CHECK(kernel.at("registers").get<int>() > 0);
  CHECK(json.at("outputs") == std::vector<std::string>{folder / "y.npy"});
  std::vector<float> turned;
  for (std::size_t j = 0; j < 7; ++j) {
    for (std::size_t i = 0; i < 5; ++i) turned.push_back(x[i * 7 + j]);
  }
  CHECK(data_of(folder / "y.npy") == bytes_of(turned));
  CHECK(jitc::InputArray(folder / "y.npy").header().shape == std::vector<std::uint64_t>{7, 5});
}

TEST_CASE("operations on random arrays agree with the reference") {
  const auto words = GENERATE(values<std::vector<std::string>>({
      {"permute", "--axes", "0,2,1,3", "--shape", "3x4x5x6", "--type", "u8"},
      {"permute", "--axes", "1,0", "--shape", "64x64", "--type", "bf16"},
      {"permute", "--axes", "1,0", "--shape", "33x65", "--strides", "-70,1", "--out-strides", "1,-70"},
      {"permute", "--axes", "5,4,3,2,1,0", "--shape", "2x3x2x3x2x3", "--type", "f64"},
      {"copy", "--slice", "10:90,6:60:2", "--shape", "100x64", "--type", "i16"},
      {"copy", "--shape", "1000", "--type", "u8", "--offset", "3", "--out-offset", "1"},
      {"copy", "--shape", "2x2x2x2x2x2x2x2"},
      {"slice", "--slice", "::-1,::3", "--shape", "7x20"},
      {"slice", "--slice", "4:4", "--shape", "7x20"},
      {"flip", "--flip", "0,1", "--shape", "6x10"},
      {"broadcast", "--broadcast", "4x6x10", "--shape", "6x1"},
      {"concat", "--axis", "1", "--parts", "3,4,5", "--shape", "2x1"},
      {"split", "--axis", "0", "--parts", "1,0,4", "--shape", "5x6"},
      {"split", "--axis", "-1", "--shape", "5x3"},
      {"split", "--axis", "-1", "--drop-axis", "yes", "--shape", "5x3"},
      {"split", "--axis", "0", "--parts", "1,2,0,1,1,1,1,1,1", "--shape", "9x3"},
      {"cast", "--out-dtype", "bf16", "--shape", "33x65"},
      {"map", "--expr", "x", "--dtype", "f16,f32", "--shape", "5x9"},
      // Tiles of the caller's choice, and families.
      {"copy", "--shape", "33x77", "--type", "u8", "--box", "8x16"},
      {"copy", "--shape", "33x64", "--type", "bf16", "--swizzle", "128B", "--box", "16x64"},
      {"copy", "--shape", "20x48", "--type", "tf32", "--element-strides", "3x1", "--box", "9x16"},
      {"copy", "--shape", "20x48", "--element-strides", "3x1", "--box", "4x16"},  // two rows of four
      {"bulk", "--shape", "3x5x31", "--type", "i32", "--expr", "x"},
      {"reduce_into", "--op", "add", "--shape", "33x77", "--type", "bf16"},
      {"gather", "--shape", "33x77", "--index-shape", "5x4", "--type", "bf16", "--value", "1"},
      {"gather", "--shape", "33x77", "--axes", "1", "--along", "yes", "--type", "f32,i32"},
      {"gather", "--shape", "33x77", "--dtype", "bf16", "--out-dtype", "f32", "--expr", "x*p0+1", "--number",
       "2"},
      {"gather", "--shape", "9x8x7", "--axes", "1,2", "--flip", "0", "--out-of-range", "clamp"},
      {"scatter", "--shape", "33x77", "--axes", "-1", "--out-of-range", "clamp"},
      {"scatter_add", "--shape", "4x33x8", "--axes", "1", "--type", "f16,f16,u32"},
      {"scatter_add", "--shape", "4x33x8", "--axes", "1", "--deterministic", "yes"},
      {"moe_permute", "--shape", "33x77", "--index-shape", "33x4", "--count", "9", "--alignment", "16"},
      {"moe_permute", "--shape", "20x6x8", "--type", "bf16,u32", "--count", "3", "--flip", "1"},
      {"gather", "--shape", "9x8x16", "--axes", "0,1", "--flat", "yes", "--out-of-range", "error"},
      {"scatter", "--shape", "9x16", "--axes", "0,1", "--flat", "yes"},
      {"gather_sum", "--shape", "33x77", "--index-shape", "5x4", "--type", "bf16"},
      {"gather_sum", "--shape", "33x77", "--index-shape", "5x40", "--inputs", "3", "--type",
       "f32,bf16,i32,f16"},
      {"gather_sum", "--shape", "33x77", "--index-shape", "500", "--ragged", "yes", "--type", "bf16"},
      {"gather_sum", "--shape", "33x77", "--index-shape", "5", "--ragged", "yes", "--inputs", "4"},
      {"cast_transpose", "--shape", "33x77", "--type", "bf16", "--number", "0.5"},
      {"top_k", "--shape", "33x77", "--type", "bf16", "--k", "9"},
      {"top_k", "--shape", "3x2000", "--k", "50", "--largest", "no", "--index", "i32"},
      {"top_k", "--shape", "50x3", "--type", "u8", "--k", "4", "--axis", "0", "--index", "no"},
      {"cast_transpose", "--shape", "3x40x24", "--type", "f16,f32", "--inputs", "2", "--to", "i8"},
      {"cast_transpose", "--shape", "33x77", "--orders", "transposed", "--amax", "no", "--to", "bf16"},
      {"reduce_into", "--op", "max", "--shape", "33x77", "--type", "i64", "--box", "8x16"},
      {"copy_ragged", "--shape", "4x33", "--axis", "0", "--parts", "4,0,70", "--type", "u8"},
      {"transpose", "--axes", "1,0", "--shape", "64x96", "--type", "u16"},
      {"general", "--shape", "7x9x5", "--axes", "1,2,0", "--pad", "1,0,2"},
  }));
  auto checked = words;
  checked.emplace_back("--check");
  const auto result = jitc::test::jitc(simulated(checked));
  INFO(result.err);
  CHECK(result.status == 0);
  CHECK_THAT(result.err,
             ContainsSubstring("problem  " + words[0]) && ContainsSubstring("elements are right"));
}

TEST_CASE("jitc run split writes an output for every part") {
  const Folder folder;
  write_npy(folder / "a.npy", "|u1", {3, 2}, "abcdef");
  const std::vector<std::string> words{"split", "--axis", "0", "--parts", "1,2", "--in", folder / "a.npy"};
  auto both = words;
  both.insert(both.end(), {"--out", folder / "b.npy", "--out", folder / "c.npy"});
  CHECK(jitc_json(simulated(both)).at("outputs").size() == 2);
  CHECK(data_of(folder / "b.npy") == "ab");
  CHECK(data_of(folder / "c.npy") == "cdef");
  auto one = words;
  one.insert(one.end(), {"--out", folder / "d.npy"});
  CHECK_THAT(refusal(simulated(one)), ContainsSubstring("--out is given 1 time, but split has 2 outputs"));
}

TEST_CASE("the file of --into is the output's initial content for reduce_into") {
  const Folder folder;
  write_npy(folder / "a.npy", "<u4", {2}, std::string("\1\0\0\0\6\0\0\0", 8));
  write_npy(folder / "b.npy", "<u4", {2}, std::string("\3\0\0\0\5\0\0\0", 8));
  const std::vector<std::string> words{"reduce_into",    "--op",   "xor",           "--in",
                                       folder / "a.npy", "--into", folder / "b.npy"};
  auto right = words;
  right.insert(right.end(), {"--out", folder / "c.npy", "--check"});
  CHECK(jitc_json(simulated(right)).at("outputs").size() == 1);
  CHECK(data_of(folder / "c.npy") == std::string("\2\0\0\0\3\0\0\0", 8));
  auto over = words;
  over.insert(over.end(), {"--out", folder / "b.npy"});
  CHECK_THAT(refusal(simulated(over)), ContainsSubstring("b.npy"));
  write_npy(folder / "d.npy", "<u4", {1}, std::string("\3\0\0\0", 4));
  CHECK_THAT(
      refusal(simulated({"reduce_into", "--op", "or", "--in", folder / "a.npy", "--into", folder / "d.npy"})),
      ContainsSubstring("--into") && ContainsSubstring("has shape 1, but the output 2"));
  CHECK_THAT(refusal(simulated({"reduce_into", "--shape", "8"})), ContainsSubstring("needs --op"));
  CHECK_THAT(refusal(simulated({"copy", "--shape", "8", "--into", folder / "d.npy"})),
             ContainsSubstring("takes no --into"));
}

TEST_CASE("jitc run copy_ragged writes an output for every tensor of a batch") {
  const Folder folder;
  write_npy(folder / "a.npy", "|u1", {1, 2}, "ab");
  write_npy(folder / "b.npy", "|u1", {2, 2}, "cdef");
  CHECK(jitc_json(simulated({"copy_ragged", "--in", folder / "a.npy", "--in", folder / "b.npy", "--out",
                             folder / "c.npy", "--out", folder / "d.npy"}))
            .at("outputs")
            .size() == 2);
  CHECK(data_of(folder / "c.npy") == "ab");
  CHECK(data_of(folder / "d.npy") == "cdef");
  CHECK_THAT(refusal(simulated({"copy_ragged", "--shape", "4x4", "--parts", "1,2"})),
             ContainsSubstring("takes --axis and --parts together"));
}

TEST_CASE("a family's name selects a kernel of that family, and options of tiles select the caller's tile") {
  const auto spec = [](const std::vector<std::string>& words) {
    return jitc_json(simulated(words)).at("plan").at("steps").at(0).at("spec");
  };
  const auto copy = spec({"copy", "--shape", "40x64", "--box", "8x16"});
  CHECK(copy.at("family") == "copy");
  CHECK(copy.at("tile") == std::vector<int>{8, 16});
  CHECK(copy.at("tiles") == 5 * 4);
  CHECK(spec({"general", "--shape", "40x64", "--pad", "1,2"}).at("family") == "general");
  CHECK(spec({"rows", "--shape", "40x64"}).at("family") == "rows");
  CHECK(spec({"general", "--shape", "40x64", "--expr", "x + g[0]"}).at("expression") == "x + g[0]");
}

TEST_CASE("options that change a tensor's view cannot be combined with the caller's tile") {
  CHECK_THAT(refusal(simulated({"copy", "--shape", "8x8", "--axes", "1,0", "--box", "4x4"})),
             ContainsSubstring("--axes needs a kernel that the planner chooses, but --box takes a tile"));
  CHECK_THAT(refusal(simulated({"bulk", "--shape", "8x8", "--expr", "x", "--flip", "0"})),
             ContainsSubstring("--flip needs a kernel that the planner chooses, but bulk takes a tile"));
  CHECK_THAT(refusal(simulated({"permute", "--shape", "8x8", "--axes", "1,0", "--stages", "3"})),
             ContainsSubstring("--stages chooses a tile, but for permute the planner does"));
  CHECK_THAT(refusal(simulated({"rows", "--shape", "8x8", "--stages", "3"})),
             ContainsSubstring("--stages chooses a tile, but for family rows the planner does"));
  CHECK_THAT(refusal(simulated({"copy", "--shape", "8x8", "--l2", "64B"})),
             ContainsSubstring("--l2 is for loads of tiles"));
}

TEST_CASE("an invalid option gives a single error that names it") {
  struct Wrong {
    std::vector<std::string> words;
    const char* says;
  };
  const auto wrong = GENERATE(values<Wrong>({
      {{"permute", "--shape", "4x4"}, "permute needs --axes"},
      {{"permute", "--shape", "4x4", "--axes", "0"}, "--axes 0 names 1 dimension, but the input has 2"},
      {{"permute", "--shape", "4x4", "--axes", "0,0"}, "dimension 0 is named twice"},
      {{"permute", "--shape", "4x4", "--axes", "0,2"}, "there is no dimension 2"},
      {{"permute", "--axes", "0,1"}, "permute needs its inputs"},
      {{"slice", "--shape", "4x4"}, "slice needs --slice"},
      {{"slice", "--shape", "4x4", "--slice", "1:2:3:4"}, "more than two colons"},
      {{"slice", "--shape", "4x4", "--slice", "::0"}, "the step 0"},
      {{"slice", "--shape", "4", "--slice", ":,:"}, "2"},
      {{"pad", "--shape", "4x4"}, "pad needs --pad"},
      {{"pad", "--shape", "4x4", "--pad", "1"},
       "widths 1:1: 1 number before and 1 after; both need one for each of 2 dimensions"},
      {{"pad", "--shape", "4x4", "--pad", "-3,0:-2,0"}, "crop 5 elements of dimension 0, which has 4"},
      {{"pad", "--shape", "4x4", "--pad", "1,1:2"}, "2 numbers before the colon and 1 after"},
      {{"copy", "--shape", "4x4", "--slice", ":", "--pad-value", "3"}, "--pad-value without --pad"},
      {{"flip", "--shape", "4x4", "--flip", "2"}, "--flip 2: there is no dimension 2"},
      {{"broadcast", "--shape", "4x4", "--broadcast", "4x5"}, "4"},
      {{"cast", "--shape", "4x4"}, "cast needs --out-dtype"},
      {{"copy", "--shape", "4x4", "--out-dtype", "u8"},
       "copy moves bits, but f32 elements have 4 bytes and u8 elements 1; cast converts values"},
      {{"map", "--shape", "4x4"}, "map needs --expr"},
      {{"map", "--shape", "4x4", "--expr", "x&1", "--check"}, "--check has nothing to compare 'x&1' with"},
      {{"stencil", "--shape", "4x4", "--expr", "erf(x(0,1))", "--check"}, "the CPU evaluates expressions of"},
      {{"reduce", "--shape", "4x4", "--op", "arg_max", "--expr", "x*x+1", "--check"}, "must be exact"},
      {{"stencil", "--shape", "4x4", "--expr", "x(0,1)", "--boundary", "mirror"}, "mirror"},
      {{"stencil", "--shape", "4x4", "--expr", "x(0,1)", "--boundary-value", "2"},
       "--boundary-value without"},
      {{"stencil", "--shape", "4x4", "--expr", "x(0,g[0])"}, "needs an offset that is a whole number"},
      {{"map", "--shape", "4x4", "--expr", "x", "--boundary", "wrap"}, "map takes no --boundary"},
      {{"im2col", "--shape", "4x4x4"}, "im2col needs --filter"},
      {{"im2col", "--shape", "4x4", "--filter", "3"}, "images, one to three dimensions"},
      {{"im2col", "--shape", "4x4x4", "--filter", "3x3"}, "2 numbers for 1 dimension of an image"},
      {{"im2col", "--shape", "4x4x4", "--filter", "5"}, "no larger than the padded image"},
      {{"im2col", "--shape", "4x4x4", "--filter", "3", "--pad", "1", "--pad-value", "1"},
       "im2col takes no --pad-value"},
      {{"copy", "--shape", "4x4x4", "--filter", "3"}, "copy takes no --filter"},
      {{"im2col", "--shape", "4x4x4", "--filter", "3", "--outputs", "3"}, "im2col takes no --outputs"},
      {{"convolution", "--shape", "4x4x4", "--filter", "3"}, "convolution needs --outputs"},
      {{"convolution", "--shape", "4x4x4", "--outputs", "3"}, "convolution needs --filter"},
      {{"snapshot", "--shape", "4x16", "--check"}, "--check: snapshot writes tiles"},
      {{"copy", "--plan", "--shape", "4x4"}, "--plan"},
      {{"cast", "--shape", "4x4", "--out-dtype", "f16", "--pad", "1,1"}, "cast takes no --pad"},
      {{"permute", "--shape", "4x4", "--axes", "1,0", "--expr", "x"}, "permute takes no --expr"},
      {{"concat", "--shape", "4x4"}, "concat needs --axis"},
      {{"concat", "--shape", "4x4", "--axis", "2"}, "no dimension 2"},
      {{"concat", "--shape", "4x4", "--axis", "0,1"}, "2 dimensions; legal is one"},
      {{"split", "--shape", "4x4"}, "split needs --axis"},
      {{"split", "--shape", "4x4", "--axis", "0", "--drop-axis", "yes", "--parts", "2,2"},
       "parts 2,2 of a dropped axis"},
      {{"split", "--shape", "4x4", "--axis", "0", "--parts", "1,2"}, "must add up to 4"},
      {{"split", "--shape", "4x4", "--axis", "0", "--parts", "5"}, "must add up to 4"},
      {{"permute", "--shape", "4x4", "--axes", "1,0", "--axis", "1"}, "permute takes no --axis"},
      {{"copy", "--shape", "4x4", "--strides", "1"}, "--strides 1 has 1 number,"},
      {{"copy", "--shape", "4x4", "--out-strides", "0,1"}, "several indices one element"},
      {{"copy", "--shape", "4x4", "--out-strides", "1,1"}, "several indices one element"},
      {{"copy", "--shape", "4x4", "--inputs", "2"}, "copy takes one input"},
      {{"frobnicate", "--shape", "4x4"}, "no operation or family \"frobnicate\""},
  }));
  CAPTURE(wrong.words);
  CHECK_THAT(refusal(simulated(wrong.words)), ContainsSubstring(wrong.says));
}

TEST_CASE("a stencil takes its edges from --boundary and its dimensions from --dims") {
  const Folder folder;
  write_npy(folder / "a.npy", "|u1", {2, 3}, "\1\2\3\4\5\6");
  static_cast<void>(
      jitc_json(simulated({"stencil", "--expr", "x(-1)+x(1)", "--boundary", "wrap", "--dims", "1", "--check",
                           "--in", folder / "a.npy", "--out", folder / "y.npy"})));
  CHECK(data_of(folder / "y.npy") == "\5\4\3\13\12\11");
}

TEST_CASE("im2col writes the taps of each window as one row, with zeros around the images") {
  const Folder folder;
  write_npy(folder / "a.npy", "|u1", {1, 3, 2}, "\1\2\3\4\5\6");
  static_cast<void>(jitc_json(simulated({"im2col", "--filter", "2", "--window-step", "2", "--pad", "1",
                                         "--check", "--in", folder / "a.npy", "--out", folder / "y.npy"})));
  CHECK(data_of(folder / "y.npy") == std::string("\0\0\1\2\3\4\5\6", 8));
}

TEST_CASE("the second input file of a convolution is its filter") {
  const Folder folder;
  const std::string one("\0\0\x80\x3f", 4);
  const std::string two("\0\0\0\x40", 4);
  write_npy(folder / "a.npy", "<f4", {1, 3, 1}, one + two + one);
  write_npy(folder / "f.npy", "<f4", {1, 2, 1}, one + two);
  static_cast<void>(jitc_json(simulated({"convolution", "--check", "--in", folder / "a.npy", "--in",
                                         folder / "f.npy", "--out", folder / "y.npy"})));
  CHECK(data_of(folder / "y.npy") == std::string("\0\0\xa0\x40\0\0\x80\x40", 8));  // 5 and 4
}

TEST_CASE("concat needs arrays whose shapes differ only along the axis") {
  const Folder folder;
  write_npy(folder / "a.npy", "|u1", {2, 2}, "abcd");
  write_npy(folder / "b.npy", "|u1", {2, 1}, "ef");
  CHECK_THAT(
      refusal(simulated({"concat", "--axis", "0", "--in", folder / "a.npy", "--in", folder / "b.npy"})),
      ContainsSubstring("source 1 has shape 2x1, but source 0 has 2x2"));
  static_cast<void>(jitc_json(simulated({"concat", "--axis", "1", "--in", folder / "a.npy", "--in",
                                         folder / "b.npy", "--out", folder / "y.npy"})));
  CHECK(data_of(folder / "y.npy") == "abecdf");
}

TEST_CASE("jitc source, ptx and cubin show the kernel of an operation, chosen by --step") {
  const std::vector<std::string> move{"permute", "--axes", "1,0", "--shape", "256x512", "--type", "bf16"};
  const auto stage = [&](const std::string& word) {
    const auto result = jitc::test::jitc(std::vector{word} + move);
    INFO(result.err);
    CHECK(result.status == 0);
    return result.out;
  };
  CHECK_THAT(stage("source"), ContainsSubstring("__global__") && !ContainsSubstring("#include"));
  CHECK_THAT(stage("ptx"), ContainsSubstring(".target sm_90a") && ContainsSubstring(".entry tmajit_"));
  CHECK_THAT(stage("cubin"), StartsWith("\x7f"
                                        "ELF"));
  const auto json = jitc_json(std::vector<std::string>{"ptx"} + move);
  CHECK(json.at("operation") == "permute");
  CHECK(json.at("key").get<std::string>().size() == 64);
  CHECK(json.at("threads").get<int>() >= 32);
  CHECK(json.at("steps") == 1);
  CHECK_THAT(refusal(std::vector<std::string>{"ptx"} + move + std::vector<std::string>{"--step", "2"}),
             ContainsSubstring("--step 2, but the plan has 1"));
}

TEST_CASE("the source of any operation needs neither NVRTC nor a device") {
  const auto words = GENERATE(values<std::vector<std::string>>({
      {"permute", "--axes", "1,0", "--shape", "256x512", "--type", "bf16"},
      {"pad", "--pad", "1,2", "--shape", "100x64"},
      {"map", "--expr", "x0 * x1", "--shape", "100x64"},
      {"concat", "--axis", "0", "--shape", "100x64"},
      {"copy", "--box", "64x64", "--type", "bf16"},
      {"bulk", "--expr", "x + 1"},
      {"rows", "--shape", "512x512"},
  }));
  CAPTURE(words);
  const Surroundings hidden{
      .environment = {"TMAJIT_NVRTC=/nonexistent/libnvrtc.so", "CUDA_VISIBLE_DEVICES="}};
  const auto result = jitc::test::jitc(
      std::vector<std::string>{"source"} + words + std::vector<std::string>{"--json"}, hidden);
  INFO(result.err);
  REQUIRE(result.status == 0);
  const auto json = nlohmann::json::parse(result.out);
  CHECK(json.at("key").is_null());
  CHECK_THAT(json.at("text").get<std::string>(), ContainsSubstring("__global__"));
  const auto& spec = json.at("spec");
  REQUIRE_FALSE(spec.at("parameters").empty());
  for (const auto& parameter : spec.at("parameters")) {
    CHECK_FALSE(parameter.at("type").get<std::string>().empty());
    CHECK_FALSE(parameter.at("name").get<std::string>().empty());
    CHECK(parameter.at("offset").get<int>() >= 0);
    CHECK(parameter.at("bytes").get<int>() > 0);
  }
  for (const auto* extent : {"grid", "block", "cluster"}) CHECK(spec.at("launch").at(extent).size() == 3);
  const auto compiled = jitc::test::jitc(
      std::vector<std::string>{"ptx"} + words + std::vector<std::string>{"--no-cache"}, hidden);
  CHECK(compiled.status == 3);
  CHECK_THAT(compiled.err, ContainsSubstring("NVRTC"));
}
