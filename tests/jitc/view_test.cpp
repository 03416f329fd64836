// jitc view: the kernels that it takes, its output and its refusals. tests/view has the pages.
#include "subprocess.hpp"

#include <fstream>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string examples_folder = JITC_EXAMPLE_OWN;

/// The JSON that a page embeds.
nlohmann::json data_of_page(const std::string& page) {
  const std::string open = "id=\"data\">";
  const auto begin = page.find(open);
  REQUIRE(begin != std::string::npos);
  const auto end = page.find("</script>", begin);
  return nlohmann::json::parse(page.substr(begin + open.size(), end - begin - open.size()));
}

nlohmann::json kernel_of(const std::vector<std::string>& words) {
  const auto result = jitc::test::jitc(words);
  REQUIRE(result.status == 0);
  return data_of_page(result.out)["kernels"][0];
}

}  // namespace

TEST_CASE("the page of an operation has its explanation, its candidates and its tiles") {
  const auto kernel =
      kernel_of({"view", "permute", "--shape", "512x1024", "--axes", "1,0", "--dtype", "f32"});
  CHECK_THAT(kernel["title"].get<std::string>(), ContainsSubstring("permute --axes 1,0: f32 512x1024"));
  CHECK_THAT(kernel["explanation"]["text"].get<std::string>(), ContainsSubstring("canonical"));
  const auto& candidates = kernel["explanation"]["candidates"];
  REQUIRE(candidates.size() > 1);
  CHECK(candidates[0]["chosen"] == true);
  CHECK(candidates[0]["predicted_us"] > 0);
  const auto tiles =
      kernel_of({"view", "copy", "--shape", "256x256", "--box", "64x32", "--swizzle", "128B"})["tiles"];
  REQUIRE(tiles.size() == 1);
  CHECK_THAT(tiles[0]["box"].get<std::string>(), ContainsSubstring("f32 64x32, swizzle 128B"));
}

TEST_CASE("a candidate that jitc tune measured has its time") {
  // The shipped choices have this class for an H200, which jitc plans for where there is no GPU.
  const auto explanation = kernel_of(
      {"view", "permute", "--shape", "64x128x256x512", "--axes", "0,2,1,3", "--type", "f32"})["explanation"];
  const bool is_tuned = explanation["text"].get<std::string>().find("by a measurement") != std::string::npos;
  const auto& candidates = explanation["candidates"];
  CHECK(candidates[0]["measured_us"].is_number() == is_tuned);
  if (is_tuned) CHECK(candidates[0]["measured_us"] > 0);
  CHECK(candidates[1]["measured_us"].is_null());
}

TEST_CASE("the page of a kernel of one's own has its headers and its launch's tiles") {
  const auto kernel = kernel_of(
      {"view", examples_folder + "/convolution.cu", "--launch", examples_folder + "/convolution.json"});
  CHECK(kernel["title"] == examples_folder + "/convolution.cu");
  CHECK_THAT(kernel["source"]["text"].get<std::string>(), ContainsSubstring("tmajit/mbarrier.cuh"));
  CHECK(kernel["source"]["headings"].size() > 1);
  CHECK_THAT(kernel["rows"].dump(), ContainsSubstring("convolution<"));
  CHECK(kernel["findings"].empty());
  // The images' map is an im2col map, the filter's is tiled.
  REQUIRE(kernel["tiles"].size() == 2);
  CHECK(kernel["tiles"][1]["name"] == "parameter 1");
  CHECK_THAT(kernel["tiles"][1]["box"].get<std::string>(), ContainsSubstring("f32 32x1x16"));
}

TEST_CASE("option --compare without an operation compares kernels of the same operation") {
  const auto result =
      jitc::test::jitc({"view", "copy", "--shape", "64x64", "--compare", "--shape 64x64 --type u8"});
  REQUIRE(result.status == 0);
  const auto data = data_of_page(result.out);
  REQUIRE(data["kernels"].size() == 2);
  CHECK_THAT(data["kernels"][1]["title"].get<std::string>(), ContainsSubstring("u8 64x64"));
  CHECK(data["diffs"]["ptx"][0].size() == data["diffs"]["ptx"][1].size());
}

TEST_CASE("option --compare without a file compares kernels of a file whose path has spaces and quotes") {
  const Folder folder;
  const std::string file = folder / "it's a kernel.cu";
  std::ofstream(file) << "extern \"C\" __global__ void k(int* x) { *x = value; }\n";
  const auto result = jitc::test::jitc({"view", file, "-D", "value=3", "--compare", "-D 'value=4'"});
  REQUIRE(result.status == 0);
  const auto kernels = data_of_page(result.out)["kernels"];
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[1]["title"] == file);
  CHECK_THAT(kernels[1]["rows"].dump(), ContainsSubstring("value = 4"));
}

TEST_CASE("jitc view writes a file, and its size as JSON") {
  const Folder folder;
  const std::string file = folder / "page.html";
  const auto report = jitc_json({"view", "copy", "--shape", "64x64", "-o", file, "--json"});
  CHECK(report["output"] == file);
  CHECK(report["bytes"] == read_file(file).size());
  CHECK(report["findings"] == 0);
}

TEST_CASE("wrong usage of jitc view gives exit code 2, and a missing file 3") {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"view"},
                                                {"view", "cpoy"},
                                                {"view", "copy", "--launch", "a.json"},
                                                {"view", "copy", "--compare", "copy --none"},
                                                {"view", "copy", "--compare", "k.ptx --launch a.json"},
                                                {"view", "copy", "--step", "3"}}) {
    INFO(words.back());
    CHECK(jitc::test::jitc(words).status == 2);
  }
  CHECK(jitc::test::jitc({"view", "none.ptx"}).status == 3);
}
