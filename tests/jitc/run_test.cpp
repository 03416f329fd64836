#include "subprocess.hpp"

#include <tmajit/device.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

/// A folder with an input file, for tests of `jitc run` that need no device.
struct Input : Folder {
  Input() { write_npy(*this / "a.npy", "<f4", {16, 16}, std::string(1024, '\0')); }
  [[nodiscard]] std::vector<std::string> run(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"run", "copy", "--in", *this / "a.npy"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

}  // namespace

TEST_CASE("a run on a missing GPU is an error that names alternatives, and writes no file") {
  if (!tmajit::list_gpus().empty()) SKIP("this machine has a GPU");
  const Input input;
  const auto result = jitc::test::jitc(input.run({"--device", "gpu", "--out", input / "y.npy"}));
  CHECK(result.status == 3);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, StartsWith("jitc: error: no Hopper GPU") && ContainsSubstring("--device sim") &&
                             ContainsSubstring("jitc doctor"));
  CHECK(input.names() == std::vector<std::string>{"a.npy"});
  CHECK(jitc_json(input.run({"--device", "gpu"}), 3).at("error").at("code") == "unavailable");
}

TEST_CASE("wrong input is refused before a GPU is opened") {
  const Input input;
  const auto refuse = [](const std::vector<std::string>& arguments, int status, const char* says) {
    const auto result = jitc::test::jitc(arguments);
    INFO(result.err);
    CHECK(result.status == status);
    CHECK_THAT(result.err, StartsWith("jitc: error: ") && ContainsSubstring(says));
  };
  refuse({"run", "copy", "--in", input / "none.npy"}, 3, "No such file");
  write_file(input / "bad.npy", "nothing of the sort");
  refuse({"run", "copy", "--in", input / "bad.npy"}, 3, "bad.npy: not a usable .npy file");
  write_npy(input / "short.npy", "<f4", {100, 100}, "short");
  refuse({"run", "copy", "--in", input / "short.npy"}, 3, "promises 40000 bytes");
  write_npy(input / "object.npy", "|O", {1}, "12345678");
  refuse({"run", "copy", "--in", input / "object.npy"}, 2, "Python objects");
  refuse(input.run({"--dtype", "f16"}), 2, "astype('f2')");
  refuse(input.run({"--strides", "17,1", "--stages", "2"}), 2, "strides.multiple");
  refuse(input.run({"--box", "3x3"}), 2, "box.inner-bytes");
  refuse(input.run({"--out-strides", "0,1"}), 2, "several indices one element");
  refuse(input.run({"--out", input / "missing/y.npy"}), 3, "missing/y.npy");
  refuse(input.run({"--out", "/proc/y.npy"}), 3, "/proc/y.npy");
  write_npy(input / "empty.npy", "<f4", {0, 16}, "");
  refuse({"run", "copy", "--stages", "2", "--in", input / "empty.npy"}, 2, "shape[0]");
  write_npy(input / "scalar.npy", "<f4", {}, "1234");
  refuse({"run", "copy", "--stages", "2", "--in", input / "scalar.npy"}, 2, "rank");
}

TEST_CASE("an unknown device is wrong usage") {
  const Input input;
  for (const auto* device : {"cpu", "simulator", "gpu:", "gpu:x", "gpu:-1", "gpu0"}) {
    const auto result = jitc::test::jitc(input.run({"--device", device}));
    INFO(result.err);
    CHECK(result.status == 2);
    CHECK_THAT(result.err, ContainsSubstring("--device"));
  }
}
