/// The files that a run writes, and their types.
#include "arrays.hpp"
#include "subprocess.hpp"

#include <filesystem>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("two outputs, or an input and an output, cannot be the same file") {
  const Folder folder;
  const auto in = folder / "a.npy";
  write_npy(in, "|u1", {4}, "abcd");
  const std::vector<std::string> split{"split", "--axis", "0", "--parts", "1,3", "--in", in};
  const auto refused = [&](const std::string& first, const std::string& second) {
    return refusal(simulated(split + std::vector<std::string>{"--out", first, "--out", second}));
  };
  const auto dotted = (folder.path() / "." / "y.npy").string();
  CHECK_THAT(refused(folder / "y.npy", folder / "y.npy"), ContainsSubstring("y.npy is written twice"));
  CHECK_THAT(refused(folder / "y.npy", dotted), ContainsSubstring("y.npy is written twice"));
  write_file(folder / "old.npy", "old");
  std::filesystem::create_symlink(folder / "old.npy", folder / "link.npy");
  CHECK_THAT(refused(folder / "old.npy", folder / "link.npy"),
             ContainsSubstring("link.npy is written twice"));
  CHECK_THAT(refused(folder / "y.npy", in), ContainsSubstring("a.npy is read and written"));
  CHECK_THAT(refusal(simulated({"copy", "--in", in, "--out", in})),
             ContainsSubstring("a.npy is read and written"));
  CHECK(folder.names() == std::vector<std::string>{"a.npy", "link.npy", "old.npy"});
  CHECK(read_file(folder / "old.npy") == "old");
  CHECK(data_of(in) == "abcd");
  // A device file is not replaced, so several outputs may be written to it.
  CHECK(jitc::test::jitc(
            simulated(split + std::vector<std::string>{"--out", "/dev/null", "--out", "/dev/null"}))
            .status == 0);
}

TEST_CASE("two buffers of a launch cannot be written to the same file") {
  const Folder folder;
  write_file(folder / "scale.ptx", read_file(std::string(JITC_EXAMPLE_LAUNCH) + "/scale.ptx"));
  auto text = read_file(std::string(JITC_EXAMPLE_LAUNCH) + "/scale.json");
  const std::string_view values = "\"values\": [1, 2, 3, 4]";
  text.replace(text.find(values), values.size(), "\"out\": \"./y.npy\"");
  write_file(folder / "launch.json", text);
  CHECK_THAT(refusal({"run", "--ptx", folder / "scale.ptx", "--launch", folder / "launch.json"}),
             ContainsSubstring("y.npy is written twice"));
  CHECK(folder.names() == std::vector<std::string>{"launch.json", "scale.ptx"});
}

TEST_CASE("operations that only move bits write booleans as booleans") {
  const Folder folder;
  const std::string bits("\1\0\0\1\1\0", 6);
  write_npy(folder / "a.npy", "|b1", {2, 3}, bits);
  const auto descr_of = [&](const std::vector<std::string>& words) {
    static_cast<void>(jitc_json(simulated(words + std::vector<std::string>{"--out", folder / "y.npy"})));
    return jitc::InputArray(folder / "y.npy").header().descr;
  };
  const std::vector<std::string> in{"--in", folder / "a.npy"};
  CHECK(descr_of(std::vector<std::string>{"copy"} + in) == "|b1");
  CHECK(data_of(folder / "y.npy") == bits);
  CHECK(descr_of(std::vector<std::string>{"permute", "--axes", "1,0"} + in) == "|b1");
  CHECK(descr_of(std::vector<std::string>{"concat", "--axis", "0"} + in + in) == "|b1");
  CHECK(descr_of(std::vector<std::string>{"copy", "--box", "2x16"} + in) == "|b1");
  CHECK(descr_of(std::vector<std::string>{"pad", "--pad", "1,1", "--pad-value", "1"} + in) == "|b1");
  CHECK_THAT(refusal(simulated(std::vector<std::string>{"pad", "--pad", "1,1", "--pad-value", "2"} + in)),
             ContainsSubstring("--pad-value 2: the elements are booleans; legal are 0 and 1"));
  // Operations that compute or convert, and --dtype, write numbers.
  CHECK(descr_of(std::vector<std::string>{"copy", "--dtype", "u8"} + in) == "|u1");
  CHECK(descr_of(std::vector<std::string>{"cast", "--out-dtype", "u8"} + in) == "|u1");
  CHECK(descr_of(std::vector<std::string>{"map", "--expr", "x+1"} + in) == "|u1");
  write_npy(folder / "b.npy", "|u1", {2, 3}, "abcdef");
  CHECK(descr_of(std::vector<std::string>{"concat", "--axis", "0", "--in", folder / "b.npy"} + in) == "|u1");
}
