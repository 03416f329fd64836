/// Files that are named "-": standard input and standard output.
#include "subprocess.hpp"

#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sys/stat.h>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Whether a redirection can make a terminal, /dev/ptmx, a standard stream.
bool has_terminal() {
  return jitc::test::jitc({"--version"}, {.redirect = "</dev/ptmx"}).status == 0;
}

}  // namespace

TEST_CASE("jitc run filters an array from standard input to standard output") {
  const Folder folder;
  write_npy(folder / "a.npy", "<f4", {2, 3}, bytes_of(counting(6)));
  const auto files = jitc::test::jitc(
      simulated({"permute", "--axes", "1,0", "--in", folder / "a.npy", "--out", folder / "y.npy"}));
  REQUIRE(files.status == 0);
  const auto filter = [&](const std::string& redirect) {
    const auto run = jitc::test::jitc(simulated({"permute", "--axes", "1,0", "--in", "-", "--out", "-"}),
                                      {.redirect = redirect + (folder / "filtered.npy")});
    CHECK(run.status == 0);
    CHECK_THAT(run.err, ContainsSubstring("input    standard input: <f4 [2, 3]") &&
                            ContainsSubstring("output   standard output: <f4 [3, 2]"));
  };
  filter("<" + (folder / "a.npy") + " >");
  CHECK(read_file(folder / "filtered.npy") == read_file(folder / "y.npy"));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::thread writer([&] { write_file(folder / "pipe", read_file(folder / "a.npy")); });
  filter("<" + (folder / "pipe") + " >>");
  writer.join();
  CHECK(read_file(folder / "filtered.npy") == read_file(folder / "y.npy") + read_file(folder / "y.npy"));
  const auto json =
      jitc::test::jitc(simulated({"copy", "--in", "-", "--json"}), {.redirect = "<" + folder / "a.npy"});
  CHECK(nlohmann::json::parse(json.out).at("tensors").at(0).at("file") == "standard input");
}

TEST_CASE("PTX and launch files come from standard input and go to standard output") {
  const Folder folder;
  const std::string ptx = folder / "k.ptx";
  const std::string launch = folder / "launch.json";
  const auto printed = jitc::test::jitc({"ptx", "copy", "--shape", "64x64", "--box", "8x16", "-o", "-"});
  REQUIRE(printed.status == 0);
  CHECK(printed.out == jitc::test::jitc({"ptx", "copy", "--shape", "64x64", "--box", "8x16"}).out);
  write_file(ptx, printed.out);
  const auto piped = [&](const std::vector<std::string>& words, const std::string& file) {
    return jitc::test::jitc(words, {.redirect = "<" + file});
  };
  const auto lint = piped({"lint", "-"}, ptx);
  CHECK(lint.status == 0);
  CHECK_THAT(lint.out, ContainsSubstring("clean: standard input"));
  const auto first = piped({"launch-file", "-", "-o", "-"}, ptx);
  CHECK(first.status == 0);
  CHECK(first.out == jitc::test::jitc({"launch-file", ptx}).out);
  CHECK(piped({"view", "-", "-o", "-"}, ptx).out.starts_with("<!"));

  write_file(launch, first.out);
  const auto unfilled = piped({"run", "--ptx", ptx, "--launch", "-"}, launch);
  CHECK(unfilled.status == 2);
  CHECK_THAT(unfilled.err, ContainsSubstring("standard input: ") && ContainsSubstring("to be filled in"));
}

TEST_CASE("standard streams that cannot be used are refused before any work") {
  const Folder folder;
  write_npy(folder / "a.npy", "<f4", {4}, bytes_of(counting(4)));
  CHECK_THAT(refusal({"run", "map", "--expr", "x0+x1", "--in", "-", "--in", "-"}),
             ContainsSubstring("--in and --in both read standard input; give one of them a file"));
  CHECK_THAT(refusal({"run", "--ptx", "-", "--launch", "-"}),
             ContainsSubstring("--ptx and --launch both read standard input") ||
                 ContainsSubstring("--launch and --ptx both read standard input"));
  CHECK_THAT(refusal({"lint", "-", "--allow-file", "-"}), ContainsSubstring("both read standard input"));
  CHECK_THAT(
      refusal({"run", "split", "--axis", "0", "--parts", "2,2", "--shape", "4", "--out", "-", "--out", "-"}),
      ContainsSubstring("--out and --out both write to standard output"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", "copy", "--shape", "4", "--out", "-"},
        std::vector<std::string>{"ptx", "copy", "-o", "-"},
        std::vector<std::string>{"tune", "--export", "-"}}) {
    const auto run = jitc::test::jitc(words + std::vector<std::string>{"--json"});
    CHECK(run.status == 2);
    CHECK_THAT(run.err, ContainsSubstring("both write to standard output; give one of them a file"));
  }
  CHECK_THAT(refusal({"run", "copy", "--shape", "4", "--out", "-", "--format", "sarif"}),
             ContainsSubstring("--out and --format sarif both write to standard output"));
}

TEST_CASE("terminals as standard streams are refused") {
  if (!has_terminal()) SKIP("no /dev/ptmx");
  const auto read = jitc::test::jitc({"run", "copy", "--in", "-"}, {.redirect = "</dev/ptmx"});
  CHECK(read.status == 2);
  CHECK_THAT(read.err,
             ContainsSubstring("--in -: standard input is a terminal; send it a file, by < or a pipe"));
  for (const std::vector<std::string>& words : {simulated({"copy", "--shape", "4", "--out", "-"}),
                                                std::vector<std::string>{"cubin", "copy", "-o", "-"},
                                                std::vector<std::string>{"view", "copy", "-o", "-"}}) {
    const auto written = jitc::test::jitc(words, {.redirect = ">/dev/ptmx"});
    CHECK(written.status == 2);
    CHECK_THAT(written.err, ContainsSubstring("terminal"));
  }
}

TEST_CASE("standard input and output that fail are errors") {
  const Folder folder;
  write_npy(folder / "a.npy", "<f4", {4}, bytes_of(counting(4)));
  const auto fails = [&](const std::vector<std::string>& words, const std::string& redirect) {
    const auto run = jitc::test::jitc(words, {.redirect = redirect});
    CHECK(run.status == 3);
    return run.err;
  };
  CHECK_THAT(fails(simulated({"copy", "--in", "-"}), "<&-"),
             ContainsSubstring("cannot read standard input: "));
  CHECK_THAT(fails(simulated({"copy", "--in", "-"}), "</dev/null"),
             ContainsSubstring("standard input: not a usable .npy file: it is empty"));
  CHECK_THAT(fails(simulated({"copy", "--in", folder / "a.npy", "--out", "-"}), ">/dev/full"),
             ContainsSubstring("cannot write standard output: "));
  CHECK_THAT(fails(simulated({"copy", "--in", folder / "a.npy", "--out", "-"}), ">&-"),
             ContainsSubstring("cannot write standard output: "));
}

TEST_CASE("a file that is called - needs a folder before its name") {
  const Folder folder;
  write_npy(folder / "-", "<f4", {4}, bytes_of(counting(4)));
  CHECK(jitc::test::jitc(simulated({"copy", "--in", folder / "-", "--out", folder / "y.npy"})).status == 0);
  CHECK(data_of(folder / "y.npy") == bytes_of(counting(4)));
}

TEST_CASE("launch files name files, not standard streams") {
  const Folder folder;
  write_file(folder / "k.ptx", jitc::test::jitc({"ptx", "copy", "--shape", "64x64", "--box", "8x16"}).out);
  write_file(folder / "l.json", R"({"grid": 1, "block": 32, "buffers": {"x": {"in": "-"}}})");
  CHECK_THAT(refusal({"run", "--ptx", folder / "k.ptx", "--launch", folder / "l.json"}),
             ContainsSubstring(
                 "$.buffers.x.in: \"-\"; a file is needed; only options of jitc name standard streams"));
}
