// Files of CUDA C++ on the command line.
#include "own_kernel.hpp"

#include "subprocess.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/launch/buffers.hpp>
#include <tmajit/runtime.hpp>
#include <tmajit/sim.hpp>

#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc;
using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string own_folder = JITC_EXAMPLE_OWN;
const std::vector<std::string> run_scale{
    "run", own_folder + "/scale.cu", "--launch", own_folder + "/scale.json", "--device", "sim"};

/// A copy of the example in a temporary folder, where tests may change it.
class OwnExample {
 public:
  OwnExample() {
    for (const char* name : {"scale.cu", "factors.cuh", "scale.json"})
      write_file(folder_ / name, read_file(own_folder + "/" + name));
  }
  void change(std::string_view name, const std::string& from, const std::string& to) const {
    std::string text = read_file(folder_ / name);
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
    write_file(folder_ / name, text);
  }
  [[nodiscard]] std::vector<std::string> words(const std::string& command) const {
    return {command, folder_ / "scale.cu", "--launch", folder_ / "scale.json"};
  }
  [[nodiscard]] const Folder& folder() const { return folder_; }

 private:
  Folder folder_;
};

}  // namespace

TEST_CASE("jitc runs a file of CUDA C++ and reports its kernel and its run") {
  const OwnExample example;
  const auto report = jitc_json(example.words("run") +
                                std::vector<std::string>{"--device", "sim", "-D", "rows=16", "--json"});
  CHECK(report.at("entry").get<std::string>().starts_with("_Z5scaleILi16E"));
  CHECK(report.at("run").at("grid")[0] == 2);
  CHECK(report.at("run").at("simulation").at("reports").empty());
  CHECK(report.at("registers").get<int>() > 0);
  const std::string y = data_of(example.folder() / "y.npy");
  std::vector<float> expected(std::size_t{30} * 32);
  REQUIRE(y.size() == expected.size() * sizeof(float));
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = 0.5F * static_cast<float>(1 + i % 4) + 10;
  CHECK(y == bytes_of(expected));
}

TEST_CASE("reports of a kernel in a file name the user's file and line") {
  const OwnExample example;
  example.change("scale.cu", "expect(sizeof tile)", "expect(sizeof tile + 16)");
  const auto report =
      jitc_json(example.words("run") + std::vector<std::string>{"--device", "sim", "--json"}, 1);
  const auto& places = report.at("run").at("simulation").at("reports")[0].at("source");
  REQUIRE_FALSE(places.empty());
  CHECK(places.back().at("file") == "scale.cu");
  CHECK(places.back().at("line") == 18);
  CHECK(places.back().at("text") == "full.expect(sizeof tile + 16);");
  const auto lint = jitc_json(example.words("lint") + std::vector<std::string>{"--json"}, 1);
  REQUIRE(lint.at("findings").size() == 1);
  CHECK(lint.at("findings")[0].at("rule") == "mbarrier.expected-bytes");
  CHECK(lint.at("findings")[0].at("source").back().at("line") == 18);
}

TEST_CASE("jitc ptx of a file needs no launch description if the kernel is known without it") {
  const auto ptx =
      jitc_json({"ptx", own_folder + "/scale.cu", "--entry", "scale<n, double>", "-D", "n=2", "--json"});
  CHECK(ptx.at("entry").get<std::string>().starts_with("_Z5scaleILi2EdE"));
  CHECK(jitc_json({"cubin", own_folder + "/scale.cu", "--launch", own_folder + "/scale.json", "--json"})
            .at("cubin_bytes") > 0);
  const Folder folder;
  write_file(folder / "k.cu", "#include \"deep.cuh\"\n__global__ void k(int* x) { *x = deep; }\n");
  CHECK_THAT(refusal({"ptx", folder / "k.cu"}, 3), ContainsSubstring("deep.cuh"));
  std::filesystem::create_directory(folder / "headers");
  write_file(folder / "headers/deep.cuh", "constexpr int deep = 5;\n");
  CHECK(jitc_json({"ptx", folder / "k.cu", "-I", folder / "headers", "--json"}).at("entry") == "_Z1kPi");
}

TEST_CASE("options of operations are refused for files, and options of files for operations") {
  CHECK_THAT(refusal({"run", own_folder + "/scale.cu"}),
             ContainsSubstring("needs --launch FILE, which describes its launch"));
  CHECK_THAT(refusal(run_scale + std::vector<std::string>{"--check"}),
             ContainsSubstring("--check is an option of operations"));
  CHECK_THAT(refusal(run_scale + std::vector<std::string>{"--box", "8x8"}),
             ContainsSubstring("--box is an option of operations"));
  CHECK_THAT(refusal({"ptx", "copy", "-D", "n=1"}), ContainsSubstring("is an option of a file"));
  CHECK_THAT(refusal({"lint", own_folder + "/scale.cu", "-D", "n"}),
             ContainsSubstring("-D n: a name and its value are needed"));
  CHECK_THAT(refusal({"ptx", own_folder + "/scale.cu", "-I", "/no/such/folder"}, 3),
             ContainsSubstring("is no folder"));
}

TEST_CASE("jitc tune of a file checks its options before it opens a GPU") {
  const OwnExample example;
  const auto tune = [&](const std::vector<std::string>& more) {
    auto words = example.words("tune");
    words.insert(words.end(), more.begin(), more.end());
    return jitc::test::jitc(words);
  };
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{}, "--values says which constants to try"},
      {{"--values", "rows"}, "--values rows: a constant and values to try are needed"},
      {{"--values", "rows="}, "a constant and values to try are needed"},
      {{"--values", "rows=8,x"}, "rows"},
      {{"--values", "rows=8", "--values", "rows=4"}, "--values rows: it has values already"},
      {{"--values", "rows=8,16", "-D", "rows=8"}, "-D rows=8: --values already gives values of rows"},
      {{"--values", "rows=8", "--all"}, "has no choices to keep"},
      {{"--values", "rows=8", "--shape", "8"}, "--shape is an option of operations"},
  };
  for (const auto& [words, message] : wrong) {
    const auto result = tune(words);
    CAPTURE(message, result.err);
    CHECK(result.status == 2);
    CHECK_THAT(result.err, ContainsSubstring(message));
  }
  const auto operation = jitc::test::jitc({"tune", "copy", "--shape", "8", "--values", "rows=8"});
  CHECK(operation.status == 2);
  CHECK_THAT(operation.err, ContainsSubstring("--values is an option of a file"));
}

TEST_CASE("jitc run and a program's launch of the same description give the same result") {
  const OwnExample example;
  OwnOptions options{
      .include = {}, .constants = {"rows=4"}, .entry = {}, .launch = example.words("run").back()};
  const tmajit::KernelFile file = read_own_kernel(example.folder() / "scale.cu", options);
  const std::shared_ptr<tmajit::Device> device = tmajit::make_sim_device();
  const tmajit::Runtime runtime({.device = device, .cache_directory = std::nullopt});
  tmajit::LaunchBuffers buffers(*file.launch, file.launch_folder);
  buffers.upload(device);
  buffers.open_outputs();
  const tmajit::OwnLaunch launch = buffers.own_launch(*file.launch);
  CHECK(launch.shape.grid == std::array<std::uint32_t, 3>{8, 1, 1});
  CHECK(launch.tensors.size() == 3);
  runtime.kernel(tmajit::source(file.kernel), launch.shape.shared_bytes).prepare(launch)(nullptr);
  device->streams().synchronize(nullptr);
  static_cast<void>(buffers.download());
  const std::string prepared = read_file(example.folder() / "y.npy");
  auto words = example.words("run");
  words.insert(words.end(), {"--device", "sim", "-D", "rows=4"});
  REQUIRE(jitc::test::jitc(words).status == 0);
  CHECK(read_file(example.folder() / "y.npy") == prepared);
}
