// If processes with a common cache directory need the same kernel at the same time, only one compiles it.
#include "runtime/builder.hpp"
#include "runtime/child_process.hpp"
#include "runtime/single_flight.hpp"
#include "temporary_folder.hpp"

#include <tmajit/codegen.hpp>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <unistd.h>

using namespace tmajit;
using namespace std::chrono_literals;

namespace {

// A toolchain is two plain functions. This controls what they do, and is set before processes are forked.
struct SlowToolchain {
  CompilerIdentity compiler{13, 0, "build", "/somewhere"};
  std::filesystem::path counted;  ///< file to which each compilation appends a byte
  std::chrono::milliseconds takes{0};
};
SlowToolchain slow_toolchain;

const CompilerIdentity& slow_identity() {
  return slow_toolchain.compiler;
}

Artifact slow_compile(const Source& source, const CompileOptions&) {
  const int file = ::open(slow_toolchain.counted.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0 || ::write(file, "x", 1) != 1) throw std::runtime_error("a compile was not counted");
  ::close(file);
  std::this_thread::sleep_for(slow_toolchain.takes);
  Artifact artifact;
  artifact.entry = source.entry;
  artifact.source = source.text;
  artifact.ptx = "ptx of " + source.text;
  artifact.cubin.resize(50'000, std::byte{7});
  return artifact;
}

struct ProcessFixture {
  explicit ProcessFixture(std::chrono::milliseconds takes) {
    slow_toolchain.counted = folder.path() / "compiles";
    slow_toolchain.takes = takes;
  }
  ProcessFixture(const ProcessFixture&) = delete;
  ProcessFixture& operator=(const ProcessFixture&) = delete;

  [[nodiscard]] std::filesystem::path cache() const { return folder.path() / "cache"; }
  [[nodiscard]] std::size_t compiles() const {
    std::error_code none;
    const auto size = std::filesystem::file_size(slow_toolchain.counted, none);
    return none ? 0 : size;
  }
  /// Requests one kernel from `threads` threads. Returns whether all of them got it.
  [[nodiscard]] bool ask(std::chrono::milliseconds patience, int threads = 1) const {
    RuntimeOptions options;
    options.cache_directory = cache();
    const Builder builder(options, {.identity = &slow_identity, .compile = &slow_compile}, patience);
    SingleFlight<std::string, BuiltKernel> kernels;
    const Source source{"text", "entry", ""};
    std::atomic<int> whole = 0;
    {
      std::vector<std::jthread> asking;
      asking.reserve(threads);
      for (int i = 0; i < threads; ++i) {
        asking.emplace_back([&] {
          const auto kernel = kernels.get(1, "key", [&] {
            return std::make_shared<const BuiltKernel>(builder.build({.custom = &source}));
          });
          whole += kernel->artifact.ptx == "ptx of text";
        });
      }
    }
    return whole == threads;
  }
  /// Waits until a process has begun to compile.
  void wait_for_compile() const {
    for (int i = 0; i < 1000 && compiles() == 0; ++i) std::this_thread::sleep_for(10ms);
    REQUIRE(compiles() == 1);
  }
  [[nodiscard]] std::size_t locks() const {
    const auto begin = std::filesystem::directory_iterator(cache() / "locks");
    return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator()));
  }

  TemporaryFolder folder;
};

}  // namespace

TEST_CASE("eight processes with eight threads each compile a kernel once") {
  const ProcessFixture fixture(300ms);
  std::vector<ChildProcess> children;
  children.reserve(8);
  for (int i = 0; i < 8; ++i) children.emplace_back([&] { return fixture.ask(60s, 8) ? 0 : 1; });
  for (auto& child : children) CHECK(child.exit_code(60s) == 0);
  CHECK(fixture.compiles() == 1);
  CHECK(fixture.locks() == 0);
  CHECK(DiskCache(fixture.cache()).entries().size() == 1);
}

TEST_CASE("64 processes with eight threads each compile every kernel of a cold cache once") {
  constexpr int kernels = 4;
  const ProcessFixture fixture(30ms);
  // All threads request all kernels, each thread from another one on.
  const auto request_all = [&](int process) {
    RuntimeOptions options;
    options.cache_directory = fixture.cache();
    const Builder builder(options, {.identity = &slow_identity, .compile = &slow_compile}, 60s);
    SingleFlight<std::string, BuiltKernel> known;
    std::atomic<int> wrong = 0;
    {
      std::vector<std::jthread> threads;
      for (int thread = 0; thread < 8; ++thread) {
        threads.emplace_back([&, thread] {
          for (int i = 0; i < kernels; ++i) {
            const int number = (process + thread + i) % kernels;
            const Source source{"text" + std::to_string(number), "entry", ""};
            const auto kernel = known.get(static_cast<std::size_t>(number), source.text, [&] {
              return std::make_shared<const BuiltKernel>(builder.build({.custom = &source}));
            });
            wrong += kernel->artifact.ptx == "ptx of " + source.text ? 0 : 1;
          }
        });
      }
    }
    return wrong == 0 ? 0 : 1;
  };
  std::vector<ChildProcess> children;
  for (int process = 0; process < 64; ++process)
    children.emplace_back([&, process] { return request_all(process); });
  for (auto& child : children) CHECK(child.exit_code(100s) == 0);
  CHECK(fixture.compiles() == kernels);
  CHECK(fixture.locks() == 0);
  CHECK(DiskCache(fixture.cache()).entries().size() == kernels);
  CHECK(DiskCache(fixture.cache()).verify(false).broken.empty());
}

TEST_CASE("NVRTC compiles a kernel once for processes that need it at the same time") {
  const ProcessFixture fixture(0ms);
  const Source source = custom_source("extern \"C\" __global__ void once(float* x) { *x = 1; }", "once");
  std::vector<ChildProcess> children;
  children.reserve(4);
  for (int i = 0; i < 4; ++i) {
    children.emplace_back([&] {
      Runtime runtime({.cache_directory = fixture.cache()});
      return runtime.kernel(source).level() == CacheLevel::compiled ? 1 : 0;
    });
  }
  int compiled = 0;
  for (auto& child : children) compiled += child.exit_code(60s).value_or(100);
  CHECK(compiled == 1);
}

TEST_CASE("a child that is forked while its parent compiles gets the kernel from disk") {
  skip_unless_threads_can_fork();
  const ProcessFixture fixture(500ms);
  std::atomic<bool> whole = false;
  {
    const std::jthread parent([&] { whole = fixture.ask(60s); });
    fixture.wait_for_compile();
    ChildProcess child([&] { return fixture.ask(60s) ? 0 : 1; });
    CHECK(child.exit_code(20s) == 0);
  }
  CHECK(whole);
  CHECK(fixture.compiles() == 1);
}

TEST_CASE("a process that is killed while it compiles blocks no other process") {
  const ProcessFixture fixture(60s);
  ChildProcess first([&] { return fixture.ask(60s) ? 0 : 1; });
  fixture.wait_for_compile();
  slow_toolchain.takes = 0ms;
  std::vector<ChildProcess> others;
  others.reserve(3);
  for (int i = 0; i < 3; ++i) others.emplace_back([&] { return fixture.ask(60s) ? 0 : 1; });
  std::this_thread::sleep_for(100ms);  // until the others wait
  CHECK(fixture.compiles() == 1);
  first.kill(SIGKILL);
  for (auto& other : others) CHECK(other.exit_code(20s) == 0);
  CHECK(fixture.compiles() == 2);
}

TEST_CASE("a process that is stopped while it compiles delays others by their time limit only") {
  const ProcessFixture fixture(1s);
  ChildProcess first([&] { return fixture.ask(60s) ? 0 : 1; });
  fixture.wait_for_compile();
  first.kill(SIGSTOP);
  slow_toolchain.takes = 0ms;
  std::vector<ChildProcess> others;
  others.reserve(3);
  for (int i = 0; i < 3; ++i) others.emplace_back([&] { return fixture.ask(300ms) ? 0 : 1; });
  for (auto& other : others) CHECK(other.exit_code(20s) == 0);
  CHECK(fixture.compiles() > 1);
  // A later process finds the kernel that they stored, and does not try to lock it. The first process
  // continues.
  ChildProcess later([&] { return fixture.ask(60s) ? 0 : 1; });
  CHECK(later.exit_code(20s) == 0);
  first.kill(SIGCONT);
  CHECK(first.exit_code(20s) == 0);
}

TEST_CASE("a kernel is compiled without a lock if none can be created") {
  const ProcessFixture fixture(0ms);
  std::filesystem::create_directory(fixture.cache());
  std::ofstream(fixture.cache() / "locks") << "in the way";
  CHECK(fixture.ask(60s));
  CHECK(fixture.ask(60s));
  CHECK(fixture.compiles() == 1);
}

TEST_CASE("an abandoned lock blocks no process, and clearing the cache removes it") {
  const ProcessFixture fixture(0ms);
  CHECK(fixture.ask(60s));
  const DiskCache cache(fixture.cache());
  const auto left = fixture.cache() / "locks" / std::string(64, 'a');
  std::ofstream(left) << "";
  CHECK(cache.entries().size() == 1);
  CHECK(cache.clear() == 1);
  CHECK(fixture.locks() == 1);  // another process may hold it
  std::filesystem::last_write_time(left, std::filesystem::file_time_type::clock::now() - 1h);
  CHECK(cache.clear() == 0);
  CHECK(fixture.locks() == 0);
}
