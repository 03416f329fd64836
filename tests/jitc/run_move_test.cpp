/// Moves on the simulated device, through the program itself.
#include "array_file.hpp"
#include "subprocess.hpp"

#include <cstring>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

template <class Element>
std::string bytes_of(const std::vector<Element>& elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(Element)};
}

std::string data_of(const std::string& path) {
  const jitc::InputArray array(path);
  return {reinterpret_cast<const char*>(array.data().data()), array.data().size()};
}

std::vector<std::string> run(std::vector<std::string> words) {
  words.insert(words.begin(), "run");
  words.insert(words.end(), {"--device", "sim"});
  return words;
}

/// The message of a command that must be refused with status 2.
std::string refusal(std::vector<std::string> words) {
  const auto result = jitc::test::jitc(run(std::move(words)));
  INFO(result.err);
  CHECK(result.status == 2);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, ContainsSubstring("jitc: error: "));
  return result.err;
}

}  // namespace

TEST_CASE("a permutation of a file is the file that NumPy would write") {
  const Folder folder;
  std::vector<float> x(5UL * 7);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  write_npy(folder / "a.npy", "<f4", {5, 7}, bytes_of(x));
  const auto json = jitc_json(
      run({"permute", "--axes", "1,0", "--in", folder / "a.npy", "--out", folder / "y.npy", "--check"}));
  CHECK(json.at("operation") == "permute");
  CHECK(json.at("run").at("device").at("simulated") == true);
  CHECK(json.at("run").at("bytes") == 2 * 5 * 7 * 4);
  CHECK(json.at("run").at("simulation").at("reports").empty());
  CHECK(json.at("check").at(0) ==
        nlohmann::json{{"name", "output"}, {"elements", 35}, {"wrong", 0}, {"stray_bytes", 0}});
  CHECK(json.at("plan").at("steps").size() == 1);
  CHECK(json.at("outputs") == std::vector<std::string>{folder / "y.npy"});
  std::vector<float> turned;
  for (std::size_t j = 0; j < 7; ++j) {
    for (std::size_t i = 0; i < 5; ++i) turned.push_back(x[i * 7 + j]);
  }
  CHECK(data_of(folder / "y.npy") == bytes_of(turned));
  CHECK(jitc::InputArray(folder / "y.npy").header().shape == std::vector<std::uint64_t>{7, 5});
}

TEST_CASE("moves of made-up arrays agree with a plain walk") {
  const auto words = GENERATE(values<std::vector<std::string>>({
      {"permute", "--axes", "0,2,1,3", "--shape", "3x4x5x6", "--type", "u8"},
      {"permute", "--axes", "1,0", "--shape", "64x64", "--type", "bf16"},
      {"permute", "--axes", "1,0", "--shape", "33x65", "--strides", "-70,1", "--out-strides", "1,-70"},
      {"permute", "--axes", "5,4,3,2,1,0", "--shape", "2x3x2x3x2x3", "--type", "f64"},
      {"copy", "--slice", "10:90,6:60:2", "--shape", "100x64", "--type", "i16"},
      {"copy", "--plan", "--shape", "1000", "--type", "u8", "--offset", "3", "--out-offset", "1"},
      {"copy", "--plan", "--shape", "2x2x2x2x2x2x2x2"},
      {"slice", "--slice", "::-1,::3", "--shape", "7x20"},
      {"slice", "--slice", "4:4", "--shape", "7x20"},
      {"flip", "--flip", "0,1", "--shape", "6x10"},
      {"broadcast", "--broadcast", "4x6x10", "--shape", "6x1"},
      {"concat", "--axis", "1", "--parts", "3,4,5", "--shape", "2x1"},
      {"split", "--axis", "0", "--parts", "1,0,4", "--shape", "5x6"},
  }));
  auto checked = words;
  checked.emplace_back("--check");
  const auto result = jitc::test::jitc(run(checked));
  INFO(result.err);
  CHECK(result.status == 0);
  CHECK_THAT(result.err,
             ContainsSubstring("move     " + words[0]) && ContainsSubstring("elements are right"));
}

TEST_CASE("an output for every part of a split") {
  const Folder folder;
  write_npy(folder / "a.npy", "|u1", {3, 2}, "abcdef");
  const std::vector<std::string> words{"split", "--axis", "0", "--parts", "1,2", "--in", folder / "a.npy"};
  auto both = words;
  both.insert(both.end(), {"--out", folder / "b.npy", "--out", folder / "c.npy"});
  CHECK(jitc_json(run(both)).at("outputs").size() == 2);
  CHECK(data_of(folder / "b.npy") == "ab");
  CHECK(data_of(folder / "c.npy") == "cdef");
  auto one = words;
  one.insert(one.end(), {"--out", folder / "d.npy"});
  CHECK_THAT(refusal(one), ContainsSubstring("--out is given 1 time, but split has 2 outputs"));
}

TEST_CASE("copy and map are moves with an option of moves, or more than 5 dimensions, and families else") {
  const auto operation = [](const std::vector<std::string>& words) {
    const auto json = jitc_json(run(words));
    return json.contains("spec") ? "family" : "move";
  };
  const Folder folder;
  write_npy(folder / "a.npy", "<f4", {8, 8}, std::string(256, '\0'));
  write_npy(folder / "b.npy", "|u1", {2, 1, 2, 1, 2, 1}, "abcdefgh");
  const std::string a = folder / "a.npy";
  CHECK(operation({"copy", "--in", a}) == std::string("family"));
  CHECK(operation({"copy", "--in", a, "--plan"}) == std::string("move"));
  CHECK(operation({"copy", "--in", a, "--check"}) == std::string("move"));
  CHECK(operation({"copy", "--in", a, "--slice", "1:"}) == std::string("move"));
  CHECK(operation({"copy", "--in", folder / "b.npy"}) == std::string("move"));
  CHECK(operation({"copy", "--shape", "1x1x1x1x1x1"}) == std::string("move"));
  CHECK_THAT(refusal({"copy", "--in", a, "--slice", "1:", "--box", "4x4"}),
             ContainsSubstring("--box is an option of kernel families") &&
                 ContainsSubstring("--slice makes of copy"));
  CHECK_THAT(refusal({"permute", "--in", a, "--axes", "1,0", "--stages", "3"}),
             ContainsSubstring("--stages"));
  CHECK_THAT(refusal({"bulk", "--in", a, "--expr", "x", "--flip", "0"}),
             ContainsSubstring("--flip is an option of moves, and bulk is none"));
}

TEST_CASE("what makes no sense of a move is one clear error") {
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
      {{"pad", "--shape", "4x4", "--pad", "1"}, "--pad 1 is for 1 dimensions, but there are 2"},
      {{"pad", "--shape", "4x4", "--pad", "-3,0:-2,0"}, "crops 5 elements of dimension 0, which has 4"},
      {{"pad", "--shape", "4x4", "--pad", "1,1:2"}, "2 numbers before the colon and 1 after"},
      {{"copy", "--shape", "4x4", "--slice", ":", "--pad-value", "3"}, "--pad-value without --pad"},
      {{"flip", "--shape", "4x4", "--flip", "2"}, "--flip 2: there is no dimension 2"},
      {{"broadcast", "--shape", "4x4", "--broadcast", "4x5"}, "4"},
      {{"cast", "--shape", "4x4"}, "cast needs --out-dtype"},
      {{"copy", "--plan", "--shape", "4x4", "--out-dtype", "u8"}, "cast converts values"},
      {{"map", "--shape", "4x4", "--plan"}, "map needs --expr"},
      {{"map", "--shape", "4x4", "--expr", "x+1", "--check"}, "--check has nothing to compare a map with"},
      {{"cast", "--shape", "4x4", "--out-dtype", "f16", "--pad", "1,1"}, "cast takes no --pad"},
      {{"permute", "--shape", "4x4", "--axes", "1,0", "--expr", "x"}, "permute takes no --expr"},
      {{"concat", "--shape", "4x4"}, "concat needs --axis"},
      {{"concat", "--shape", "4x4", "--axis", "2"}, "no dimension 2"},
      {{"concat", "--shape", "4x4", "--axis", "0,1"}, "legal is one dimension"},
      {{"split", "--shape", "4x4", "--axis", "0"}, "split needs --parts"},
      {{"split", "--shape", "4x4", "--axis", "0", "--parts", "1,2"}, "must add up to 4"},
      {{"split", "--shape", "4x4", "--axis", "0", "--parts", "5"}, "must add up to 4"},
      {{"permute", "--shape", "4x4", "--axes", "1,0", "--axis", "1"}, "permute takes no --axis"},
      {{"copy", "--plan", "--shape", "4x4", "--strides", "1"}, "--strides 1 has 1 numbers"},
      {{"copy", "--plan", "--shape", "4x4", "--out-strides", "0,1"}, "same element at several indices"},
      {{"copy", "--plan", "--shape", "4x4", "--out-strides", "1,1"}, "same element at several indices"},
      {{"copy", "--plan", "--shape", "4x4", "--inputs", "2"}, "copy takes one input"},
      {{"frobnicate", "--shape", "4x4"}, "no kernel family or move \"frobnicate\""},
  }));
  CAPTURE(wrong.words);
  CHECK_THAT(refusal(wrong.words), ContainsSubstring(wrong.says));
}

TEST_CASE("arrays of different shapes are joined only along the axis") {
  const Folder folder;
  write_npy(folder / "a.npy", "|u1", {2, 2}, "abcd");
  write_npy(folder / "b.npy", "|u1", {2, 1}, "ef");
  CHECK_THAT(refusal({"concat", "--axis", "0", "--in", folder / "a.npy", "--in", folder / "b.npy"}),
             ContainsSubstring("input 1 has shape 2x1, but input 0 has 2x2"));
  static_cast<void>(jitc_json(run({"concat", "--axis", "1", "--in", folder / "a.npy", "--in",
                                   folder / "b.npy", "--out", folder / "y.npy"})));
  CHECK(data_of(folder / "y.npy") == "abecdf");
}

TEST_CASE("the kernel of a move comes in every stage") {
  const std::vector<std::string> move{"permute", "--axes", "1,0", "--shape", "256x512", "--type", "bf16"};
  const auto stage = [&](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), move.begin(), move.end());
    words.insert(words.end(), more.begin(), more.end());
    const auto result = jitc::test::jitc(words);
    INFO(result.err);
    CHECK(result.status == 0);
    return result.out;
  };
  const auto source = stage({"source"}, {});
  CHECK_THAT(source, ContainsSubstring("__global__") && !ContainsSubstring("#include"));
  CHECK_THAT(stage({"ptx"}, {}), ContainsSubstring(".target sm_90a") && ContainsSubstring(".entry tmajit_"));
  CHECK_THAT(stage({"cubin"}, {}), StartsWith("\x7f"
                                              "ELF"));
  std::vector<std::string> words{"ptx"};
  words.insert(words.end(), move.begin(), move.end());
  const auto json = jitc_json(words);
  CHECK(json.at("operation") == "permute");
  CHECK(json.at("key").get<std::string>().size() == 64);
  CHECK(json.at("threads").get<int>() >= 32);
  CHECK(json.at("plan").at("steps").size() == 1);
  words.insert(words.end(), {"--step", "2"});
  const auto beyond = jitc::test::jitc(words);
  CHECK(beyond.status == 2);
  CHECK_THAT(beyond.err, ContainsSubstring("--step 2, but the plan has 1"));
}
