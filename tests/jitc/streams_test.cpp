/// Runs of jitc with standard streams that are closed, on a full device, or pipes without a reader.
#include "subprocess.hpp"

#include <array>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <unistd.h>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

/// The write end of a pipe without a reader. Child processes inherit it.
class ClosedPipe {
 public:
  ClosedPipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    ::close(ends[0]);
    end_ = ends[1];
  }
  ~ClosedPipe() { ::close(end_); }
  ClosedPipe(const ClosedPipe&) = delete;
  ClosedPipe& operator=(const ClosedPipe&) = delete;

  [[nodiscard]] int end() const { return end_; }

 private:
  int end_ = -1;
};

/// Shell redirections with which writing to standard error fails.
std::vector<std::string> unwritable_errors(const ClosedPipe& pipe) {
  return {"2>/dev/full", "2>&-", "2>&" + std::to_string(pipe.end())};
}

}  // namespace

TEST_CASE("results are the same if standard error cannot be written") {
  const Folder folder;
  const ClosedPipe pipe;
  write_npy(folder / "a.npy", "<f4", {6}, bytes_of(counting(6)));
  for (const auto& redirect : unwritable_errors(pipe)) {
    CAPTURE(redirect);
    const auto out = folder / "y.npy";
    const std::vector<std::string> words{
        "run", "copy",     "--in", folder / "a.npy", "--out", out, "--check", "--sim-seed",
        "3",   "--device", "sim",  "--log-level",    "trace"};
    const auto plain = jitc::test::jitc(words, {.redirect = redirect});
    CHECK(plain.status == 0);
    CHECK(plain.out.empty());
    CHECK(data_of(out) == bytes_of(counting(6)));
    const auto json = jitc::test::jitc(words + std::vector<std::string>{"--json"}, {.redirect = redirect});
    CHECK(json.status == 0);
    CHECK(nlohmann::json::parse(json.out).at("outputs").at(0) == out);
  }
}

TEST_CASE("failures have the same exit codes if standard error cannot be written") {
  const ClosedPipe pipe;
  for (const auto& redirect : unwritable_errors(pipe)) {
    CAPTURE(redirect);
    const auto status = [&](std::vector<std::string> words) {
      return jitc::test::jitc(std::move(words), {.redirect = redirect}).status;
    };
    CHECK(status({"frobnicate"}) == 2);
    CHECK(status({"run", "copy", "--shape", "4", "--type", "f31"}) == 2);
    CHECK(status({"validate", "copy", "--shape", "10x10", "--box", "3x3"}) == 2);
    CHECK(status({"run", "copy", "--in", "/nonexistent.npy"}) == 3);
    CHECK(status({"lint", "/nonexistent.ptx"}) == 3);
    const auto json =
        jitc::test::jitc({"run", "copy", "--in", "/nonexistent.npy", "--json"}, {.redirect = redirect});
    CHECK(json.status == 3);
    CHECK(nlohmann::json::parse(json.out).at("error").at("code") == "io");
  }
}

TEST_CASE("reports of the simulated device have the same exit code if standard error cannot be written") {
  const Folder folder;
  const std::string example = JITC_EXAMPLE_LAUNCH;
  auto ptx = read_file(example + "/scale.ptx");
  const std::string_view fence = "fence.proxy.async.shared::cta;";
  ptx.replace(ptx.find(fence), fence.size(), "");
  write_file(folder / "scale.ptx", ptx);
  write_file(folder / "scale.json", read_file(example + "/scale.json"));
  const auto result =
      jitc::test::jitc({"run", "--ptx", folder / "scale.ptx", "--launch", folder / "scale.json", "--json"},
                       {.redirect = "2>/dev/full"});
  CHECK(result.status == 1);
  CHECK(nlohmann::json::parse(result.out).at("run").at("simulation").at("reports").size() == 1);
}

TEST_CASE("output that cannot be written to standard output is an error") {
  const ClosedPipe pipe;
  const auto words = GENERATE(values<std::vector<std::string>>({
      {"--help"},
      {"--version"},
      {"run", "--help"},
      {"cache", "ls", "--help"},
      {"source", "copy"},
      {"source", "copy", "--json"},
      {"validate", "copy"},
      {"layout", "--box", "8x32"},
      {"tune", "--list"},
      {"doctor"},
  }));
  for (const auto& redirect :
       std::vector<std::string>{">/dev/full", ">&-", ">&" + std::to_string(pipe.end())}) {
    CAPTURE(words, redirect);
    const auto result = jitc::test::jitc(words, {.redirect = redirect});
    CHECK(result.status == 3);
    CHECK_THAT(result.err, StartsWith("jitc: error: cannot write to standard output: "));
  }
}

TEST_CASE("an output file does not get the descriptor of a closed standard stream") {
  const Folder folder;
  write_npy(folder / "a.npy", "<f4", {6}, bytes_of(counting(6)));
  // With standard input and output closed, the next opened file would get descriptor 0 or 1.
  const auto result = jitc::test::jitc(
      {"run", "copy", "--in", folder / "a.npy", "--out", folder / "y.npy", "--device", "sim", "--json"},
      {.redirect = "<&- >&- 2>&-"});
  CHECK(result.status == 3);  // the JSON cannot be written
  CHECK(read_file(folder / "y.npy").starts_with("\x93NUMPY"));
  CHECK(data_of(folder / "y.npy") == bytes_of(counting(6)));
  const auto source =
      jitc::test::jitc({"source", "copy", "-o", folder / "copy.cu"}, {.redirect = ">&- 2>&-"});
  CHECK(source.status == 0);
  CHECK(jitc::test::jitc({"source", "copy", "-o", "/dev/stdout"}, {.redirect = ">&-"}).status == 3);
  CHECK_THAT(read_file(folder / "copy.cu"),
             ContainsSubstring("__global__") && !ContainsSubstring("copy.cu: "));
}
