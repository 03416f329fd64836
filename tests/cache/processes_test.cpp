#include "cache/samples.hpp"

#include <tmajit/cache.hpp>

#include <atomic>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <sys/wait.h>
#include <unistd.h>

using namespace tmajit;
using tests::count_files;
using tests::same;
using tests::sample_artifact;
using tests::sample_key;

namespace {

constexpr unsigned keys = 3;
constexpr std::size_t bytes = 20000;

/// Stores and fetches the same few keys. Returns how many calls failed or gave a wrong artifact.
unsigned faults(const DiskCache& cache, unsigned rounds) {
  unsigned count = 0;
  for (unsigned i = 0; i < rounds; ++i) {
    const auto number = i % keys;
    const auto artifact = sample_artifact(bytes, static_cast<char>('a' + number));
    count += !cache.store(sample_key(number), artifact);
    const auto fetched = cache.fetch(sample_key(number));
    count += !fetched || !same(*fetched, artifact);
    cache.remember({.major = 13, .minor = static_cast<int>(number), .build = "b", .path = {}});
  }
  return count;
}

}  // namespace

TEST_CASE("processes and threads that store the same keys fetch whole entries only") {
  const TemporaryFolder folder;
  const auto directory = folder.path() / "cache";  // the processes also race to create it
  std::vector<::pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const auto child = ::fork();
    if (child == 0) {
      const DiskCache cache(directory);
      std::atomic<unsigned> wrong{0};
      std::vector<std::thread> threads(3);
      for (auto& thread : threads) thread = std::thread([&] { wrong += faults(cache, 60); });
      for (auto& thread : threads) thread.join();
      ::_exit(wrong == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const auto child : children) {
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  }
  const DiskCache cache(directory);
  CHECK(cache.entries().size() == keys);
  CHECK(cache.known_compilers().size() == keys);
  CHECK(count_files(directory) == std::size_t{2} * keys + 1);  // with the size
}

TEST_CASE("clear() and a concurrent store() of another thread both succeed") {
  const TemporaryFolder folder;
  const DiskCache cache(folder.path() / "cache");
  std::atomic<bool> done{false};
  unsigned failed = 0;
  std::thread writer([&] {
    for (unsigned i = 0; i < 300; ++i) failed += !cache.store(sample_key(i % 7), sample_artifact(bytes));
    done = true;
  });
  while (!done) {
    CHECK_NOTHROW(cache.clear());
    CHECK_NOTHROW(cache.entries());
  }
  writer.join();
  CHECK(failed == 0);
  CHECK_NOTHROW(cache.clear());
  CHECK(cache.entries().empty());
}
