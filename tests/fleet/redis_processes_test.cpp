// Many processes with many threads that need the same kernels at once, as the machines of a fleet do.
#include "captured_log.hpp"
#include "fleet/redis_server.hpp"
#include "runtime/builder.hpp"
#include "runtime/child_process.hpp"
#include "runtime/single_flight.hpp"
#include "seed.hpp"

#include <atomic>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

using namespace tmajit;
using namespace std::chrono_literals;

namespace redis_processes_test {
namespace {

// A toolchain is two plain functions. This controls what they do, and is set before processes are forked.
struct CountingToolchain {
  CompilerIdentity compiler{13, 0, "build", "/somewhere"};
  std::filesystem::path counted;  ///< file to which each compilation appends the source's text
  std::chrono::milliseconds takes{0};
};
CountingToolchain counting_toolchain;

const CompilerIdentity& counting_identity() {
  return counting_toolchain.compiler;
}

Artifact counting_compile(const Source& source, const CompileOptions&) {
  const std::string line = source.text + "\n";
  const int file =
      ::open(counting_toolchain.counted.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0 || ::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::runtime_error("a compile was not counted");
  ::close(file);
  std::this_thread::sleep_for(counting_toolchain.takes);
  Artifact artifact;
  artifact.entry = source.entry;
  artifact.source = source.text;
  artifact.ptx = "ptx of " + source.text;
  artifact.cubin.resize(50'000, std::byte{7});
  return artifact;
}

struct FleetFixture {
  explicit FleetFixture(std::string url, std::chrono::milliseconds takes,
                        std::chrono::milliseconds max_wait = 30s)
      : options{.url = std::move(url), .max_wait = max_wait} {
    counting_toolchain.counted = folder.path() / "compiles";
    counting_toolchain.takes = takes;
  }

  /// The compilations of each source.
  [[nodiscard]] std::map<std::string, int> compiles() const {
    std::map<std::string, int> result;
    std::ifstream file(counting_toolchain.counted);
    for (std::string line; std::getline(file, line);) ++result[line];
    return result;
  }
  /// Requests `kernels` kernels from `threads` threads, each thread in an order of its own, without a cache
  /// on disk. Returns whether all threads got them.
  [[nodiscard]] bool ask(int kernels, int threads, std::uint64_t seed) const {
    RuntimeOptions runtime;
    runtime.cache_directory = std::nullopt;
    runtime.fleet = options;
    const Builder builder(runtime, {.identity = &counting_identity, .compile = &counting_compile}, 60s);
    SingleFlight<std::string, BuiltKernel> table;
    std::atomic<int> whole = 0;
    {
      std::vector<std::jthread> asking;
      for (int thread = 0; thread < threads; ++thread) {
        asking.emplace_back([&, thread] {
          std::vector<int> order(static_cast<std::size_t>(kernels));
          for (int i = 0; i < kernels; ++i) order[static_cast<std::size_t>(i)] = i;
          std::mt19937_64 random(seed + static_cast<std::uint64_t>(thread));
          std::ranges::shuffle(order, random);
          for (const int number : order) {
            const Source source{fmt::format("kernel {}", number), "entry", ""};
            const auto kernel = table.get(std::hash<int>()(number), source.text, [&] {
              return std::make_shared<const BuiltKernel>(builder.build({.custom = &source}));
            });
            whole += kernel->artifact.ptx == "ptx of " + source.text;
          }
        });
      }
    }
    return whole == kernels * threads;
  }

  TemporaryFolder folder;
  FleetOptions options;
};

void compile_once(const FleetFixture& fixture, int processes, int threads, int kernels) {
  const auto seed = tests::seed(1);
  INFO("seed " << seed);
  int gate[2];  // which ends when all processes are there
  REQUIRE(::pipe2(gate, O_CLOEXEC) == 0);
  std::vector<ChildProcess> children;
  for (int i = 0; i < processes; ++i) {
    children.emplace_back([&, i] {
      ::close(gate[1]);
      char none = 0;
      if (::read(gate[0], &none, 1) != 0) return 2;
      return fixture.ask(kernels, threads, seed + 1000 * static_cast<std::uint64_t>(i)) ? 0 : 1;
    });
  }
  ::close(gate[1]);
  ::close(gate[0]);
  for (ChildProcess& child : children) CHECK(child.exit_code(300s) == 0);
  const auto compiles = fixture.compiles();
  CHECK(compiles.size() == static_cast<std::size_t>(kernels));
  for (const auto& [source, count] : compiles) {
    INFO(source);
    CHECK(count == 1);
  }
}

}  // namespace

TEST_CASE("64 processes with 8 threads each compile each kernel once over Redis") {
  const tests::RedisServer server;
  const int kernels = static_cast<int>(tests::from_environment("TMAJIT_FLEET_KERNELS", 4));
  compile_once(FleetFixture(server.url(), 50ms), 64, 8, kernels);
}

TEST_CASE("16 processes with 4 threads each compile each kernel once over a folder") {
  const TemporaryFolder folder;
  const int kernels = static_cast<int>(tests::from_environment("TMAJIT_FLEET_KERNELS", 4));
  compile_once(FleetFixture("file://" + (folder / "shared"), 50ms), 16, 4, kernels);
}

TEST_CASE("a process that is killed while it compiles blocks others for the time of its lease") {
  const tests::RedisServer server;
  FleetFixture fixture(server.url(), 60s);
  fixture.options.lease = 500ms;
  ChildProcess first([&] { return fixture.ask(1, 1, 1) ? 0 : 1; });
  for (int i = 0; i < 1000 && fixture.compiles().empty(); ++i) std::this_thread::sleep_for(10ms);
  counting_toolchain.takes = 0ms;
  first.kill(SIGKILL);
  CHECK(fixture.ask(1, 2, 1));
  CHECK(fixture.compiles()["kernel 0"] == 2);
}

TEST_CASE("every request gets its kernel while the Redis server is stopped, continued and killed") {
  tests::RedisServer server;
  const FleetFixture fixture(server.url(), 5ms, 50ms);
  const tests::CapturedLog log;
  std::vector<ChildProcess> children;
  for (int i = 0; i < 4; ++i)
    children.emplace_back([&, i] { return fixture.ask(100, 4, static_cast<std::uint64_t>(i)) ? 0 : 1; });
  for (const int signal : {SIGSTOP, SIGCONT, SIGSTOP}) {
    std::this_thread::sleep_for(50ms);
    server.signal(signal);
  }
  std::this_thread::sleep_for(50ms);
  server.kill();
  for (ChildProcess& child : children) CHECK(child.exit_code(120s) == 0);
}

}  // namespace redis_processes_test
