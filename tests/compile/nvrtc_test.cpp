#include "compile/nvrtc.hpp"

#include "compile/sources.hpp"
#include "temporary_folder.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sys/wait.h>
#include <unistd.h>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using tests::expression_source;
using tests::message_of;

namespace {

/// Runs the hidden test case `name` in a new process of this program, with `$TMAJIT_NVRTC` set, because a
/// process loads NVRTC only once. Returns the exit code.
int run_case_alone(const char* name, const std::string& nvrtc) {
  const auto child = ::fork();
  if (child == 0) {
    ::setenv("TMAJIT_NVRTC", nvrtc.c_str(), 1);
    ::execl("/proc/self/exe", "test_compile", name, static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("compiler() returns NVRTC's version, build id and path") {
  const auto& identity = compiler();
  CHECK(identity.major >= 12);
  CHECK(identity.minor >= 0);
  CHECK(identity.build.size() >= 16);
  CHECK(std::filesystem::exists(identity.path));
  CHECK(&identity == &compiler());
}

TEST_CASE("the build id is the one that the linker wrote") {
  // The linker writes a SHA-1 in hexadecimal. The fallback has a dash and a dot.
  const auto& identity = compiler();
  const auto* address = reinterpret_cast<const void*>(Nvrtc::instance().api().version);
  CHECK(build_id(address, "") == identity.build);
  CHECK(identity.build.find_first_not_of("0123456789abcdef") == std::string::npos);
  // The fallback for an address in no library: size and time of the file.
  CHECK_THAT(build_id(nullptr, identity.path), ContainsSubstring("-") && ContainsSubstring("."));
  CHECK(build_id(nullptr, "/nonexistent").empty());
}

TEST_CASE("without NVRTC the error names unusable files, counts the places searched and names a remedy") {
  const std::vector<std::string> paths{"/nonexistent/libnvrtc.so.13", "libnvrtc-nonexistent.so", "libm.so.6",
                                       "/proc/self/status"};
  try {
    const Nvrtc nvrtc(paths);
    FAIL("found NVRTC in " << nvrtc.identity().path);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::unavailable);
    const std::string message = error.what();
    CHECK_THAT(message, ContainsSubstring("4 places searched") && !ContainsSubstring("nonexistent"));
    CHECK_THAT(message, ContainsSubstring("\n  /proc/self/status: "));
    CHECK_THAT(message, ContainsSubstring("libm.so.6: not an NVRTC that makes cubins"));
    CHECK_THAT(message,
               ContainsSubstring("install the CUDA toolkit 12.4") && ContainsSubstring("TMAJIT_NVRTC"));
  }
}

TEST_CASE("without any NVRTC file the message has two lines") {
  const std::vector<std::string> paths(18, "/nonexistent/libnvrtc.so");
  const auto message = message_of<Error>([&] { const Nvrtc nvrtc(paths); });
  CHECK(std::ranges::count(message, '\n') == 1);
}

TEST_CASE("the first usable NVRTC is loaded") {
  const std::string path = compiler().path;
  const std::vector<std::string> paths{"/nonexistent", "libm.so.6", path, "/nonexistent"};
  CHECK(Nvrtc(paths).identity().path == path);
}

TEST_CASE("places are searched for NVRTC in the documented order") {
  ::unsetenv("TMAJIT_NVRTC");
  ::setenv("CUDA_HOME", "/opt/cuda-home", 1);
  ::setenv("CUDA_PATH", "/opt/cuda-path", 1);
  const auto paths = nvrtc_paths();
  const auto rank = [&](const std::string& path) {
    const auto found = std::find(paths.begin(), paths.end(), path);
    REQUIRE(found != paths.end());
    return found - paths.begin();
  };
  CHECK(rank("libnvrtc.so.13") < rank("libnvrtc.so.12"));
  CHECK(rank("libnvrtc.so") < rank("/opt/cuda-home/lib64/libnvrtc.so.13"));
  CHECK(rank("/opt/cuda-home/lib64/libnvrtc.so") < rank("/opt/cuda-path/lib64/libnvrtc.so.13"));
  const auto own = std::filesystem::canonical("/proc/self/exe").parent_path() / "libnvrtc.so.13";
  CHECK(rank("/opt/cuda-path/lib64/libnvrtc.so") < rank(own.string()));

  ::setenv("TMAJIT_NVRTC", "/opt/mine/libnvrtc.so", 1);
  CHECK(nvrtc_paths() == std::vector<std::string>{"/opt/mine/libnvrtc.so"});
  for (const char* name : {"TMAJIT_NVRTC", "CUDA_HOME", "CUDA_PATH"}) ::unsetenv(name);
}

TEST_CASE("$TMAJIT_NVRTC that names no file makes compile() fail clearly") {
  CHECK(run_case_alone("child: no NVRTC", "/nonexistent/libnvrtc.so") == 0);
}

TEST_CASE("child: no NVRTC", "[.]") {
  for (int i = 0; i < 2; ++i) {  // the second call tries again and fails again
    const auto message = message_of<Error>([] { (void)compile(expression_source("x")); });
    CHECK_THAT(message, ContainsSubstring("/nonexistent/libnvrtc.so: not found"));
  }
  // Unbalanced brackets are found without a compiler.
  CHECK_THROWS_AS(compile(expression_source("(x")), CompileError);
}

TEST_CASE("NVRTC in a folder of its own finds its builtins library there") {
  const std::filesystem::path nvrtc = compiler().path;
  const auto builtins =
      "libnvrtc-builtins.so." + std::to_string(compiler().major) + "." + std::to_string(compiler().minor);
  if (!std::filesystem::exists(nvrtc.parent_path() / builtins))
    SKIP("this NVRTC keeps its builtins elsewhere");
  const TemporaryFolder folder;
  std::filesystem::copy_file(nvrtc, folder.path() / "libnvrtc.so.13");
  std::filesystem::copy_file(nvrtc.parent_path() / builtins, folder.path() / builtins);
  CHECK(run_case_alone("child: odd folder", (folder.path() / "libnvrtc.so.13").string()) == 0);
}

TEST_CASE("child: odd folder", "[.]") {
  const std::string folder = std::filesystem::path(std::getenv("TMAJIT_NVRTC")).parent_path();
  CHECK_NOTHROW(compile(expression_source("sinf(x)")));
  CHECK(compiler().path == folder + "/libnvrtc.so.13");
  // NVRTC and its builtins are loaded from this folder and from no other.
  std::ifstream maps("/proc/self/maps");
  std::size_t builtins_of_folder = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("libnvrtc") == std::string::npos) continue;
    INFO(line);
    CHECK(line.find(folder) != std::string::npos);
    builtins_of_folder += line.find(folder + "/libnvrtc-builtins") != std::string::npos;
  }
  CHECK(builtins_of_folder > 0);
}
