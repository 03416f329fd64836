#include "subprocess.hpp"

#include <tmajit/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

void check_failed(const jitc::ProcessResult& result, const std::string& says) {
  INFO(result.err);
  CHECK(result.status == 3);
  CHECK(result.out.empty());
  CHECK_THAT(result.err, StartsWith("jitc: error: ") && ContainsSubstring(says));
}

}  // namespace

TEST_CASE("a full disk is a single error that names the file") {
  check_failed(jitc::test::jitc({"ptx", "copy", "-o", "/dev/full"}), "No space left on device");
  CHECK(std::filesystem::is_character_file("/dev/full"));
}

TEST_CASE("a missing folder is a single error that names it") {
  const Folder folder;
  check_failed(jitc::test::jitc({"cubin", "copy", "-o", folder / "missing/k.cubin"}), "missing/k.cubin");
  CHECK(folder.names().empty());
}

TEST_CASE("a folder in place of a file is a single error that names it") {
  const Folder folder;
  check_failed(jitc::test::jitc({"ptx", "copy", "-o", folder.path().string()}), "Is a directory");
}

TEST_CASE("a read-only folder is a single error that names the file") {
  // Not even root can create files in /proc.
  check_failed(jitc::test::jitc({"source", "copy", "-o", "/proc/kernel.cu"}), "/proc/kernel.cu");
}

TEST_CASE("a write that exceeds the file size limit leaves no partial and no temporary file") {
  const Folder folder;
  check_failed(
      jitc::test::jitc({"ptx", "copy", "--no-cache", "-o", folder / "k.ptx"}, {.file_size_limit = 1000}),
      "File too large");
  CHECK(folder.names().empty());
}

TEST_CASE("a failed write leaves an existing file unchanged") {
  const Folder folder;
  write_file(folder / "k.ptx", "old");
  check_failed(
      jitc::test::jitc({"ptx", "copy", "--no-cache", "-o", folder / "k.ptx"}, {.file_size_limit = 1000}),
      "File too large");
  CHECK(read_file(folder / "k.ptx") == "old");
  CHECK(jitc::test::jitc({"ptx", "map", "--expr", "wrong", "-o", folder / "k.ptx"}).status == 3);
  CHECK(read_file(folder / "k.ptx") == "old");
  CHECK(folder.names() == std::vector<std::string>{"k.ptx"});
}

TEST_CASE("a successful write replaces the file, keeps its permissions, and follows symbolic links") {
  const Folder folder;
  write_file(folder / "real.ptx", "old");
  std::filesystem::permissions(folder / "real.ptx", std::filesystem::perms(0640));
  std::filesystem::create_symlink("real.ptx", folder / "link.ptx");
  REQUIRE(jitc::test::jitc({"ptx", "copy", "-o", folder / "link.ptx"}).status == 0);
  CHECK(std::filesystem::is_symlink(folder / "link.ptx"));
  CHECK_THAT(read_file(folder / "real.ptx"), ContainsSubstring(".target sm_90a"));
  CHECK(std::filesystem::status(folder / "real.ptx").permissions() == std::filesystem::perms(0640));
  CHECK(folder.names() == std::vector<std::string>{"link.ptx", "real.ptx"});
}

TEST_CASE("the whole output of a child process is read from both streams at once") {
  const auto result = jitc::run_process(
      find_program("sh"),
      {"-c",
       "i=0; while [ $i -lt 3000 ]; do printf '%0100d' 1; printf '%0100d' 2 >&2; i=$((i+1)); done; exit 3"});
  CHECK(result.status == 3);
  CHECK(result.out.size() == 300000);
  CHECK(result.err.size() == 300000);
  CHECK(jitc::run_process(find_program("sh"), {"-c", "kill -TERM $$"}).status == 128 + 15);
  CHECK_THROWS_AS(jitc::run_process("/nonexistent/program", {}), tmajit::Error);
}
