// Processes that end at any instruction: the cache stays whole, and no later process waits or fails.
#include "cache/layout.hpp"
#include "cache/samples.hpp"
#include "captured_log.hpp"
#include "files/file_lock.hpp"
#include "seed.hpp"

#include <tmajit/cache.hpp>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <sys/wait.h>
#include <unistd.h>

using namespace tmajit;
using namespace std::chrono_literals;
using tests::count_files;
using tests::same;
using tests::sample_artifact;
using tests::sample_key;

namespace {

constexpr unsigned killed_keys = 24;
/// Less than all kernels take, so that stores begin sweeps. Trims evict the kernels, which are all recent.
constexpr std::uint64_t killed_bound = std::uint64_t{600} << 10;

Artifact killed_artifact(unsigned number) {
  return sample_artifact(std::size_t{1000} * number, static_cast<char>('a' + number % 20));
}

/// Stores, fetches and evicts for ever. Exits with 1 if a fetch gives a wrong kernel.
[[noreturn]] void use_for_ever(const std::filesystem::path& directory, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const DiskCache cache(directory, killed_bound);
  for (;;) {
    const auto number = static_cast<unsigned>(random() % killed_keys);
    const FileLock lease(making_lock_path(directory, sample_key(number)), 0ms);
    const auto fetched = cache.fetch(sample_key(number));
    if (fetched && !same(*fetched, killed_artifact(number))) ::_exit(1);
    if (!fetched) (void)cache.store(sample_key(number), killed_artifact(number));
    if (random() % 16 == 0) (void)cache.trim(killed_bound / 2);
    cache.remember({.major = 13, .minor = static_cast<int>(random() % 3), .build = "b", .path = {}});
  }
}

/// Whether every entry can be read, and every key can be stored.
void check_whole(const DiskCache& cache) {
  CHECK(cache.verify(false).broken.empty());
  for (unsigned number = 0; number < killed_keys; ++number) {
    const auto fetched = cache.fetch(sample_key(number));
    CHECK((!fetched || same(*fetched, killed_artifact(number))));
  }
}

}  // namespace

TEST_CASE("processes that are killed at random points leave a whole cache") {
  const auto seed = tests::seed(4);
  const auto kills = tests::from_environment("TMAJIT_KILLS", 50);
  INFO("TMAJIT_SEED=" << seed << ", TMAJIT_KILLS=" << kills);
  const tests::CapturedLog log;
  const TemporaryFolder folder;
  const auto directory = folder.path() / "cache";
  std::mt19937_64 random(seed);
  for (std::uint64_t kill = 0; kill < kills; ++kill) {
    const auto child_seed = random();
    const auto child = ::fork();
    if (child == 0) use_for_ever(directory, child_seed);
    REQUIRE(child > 0);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20'000));
    REQUIRE(::kill(child, SIGKILL) == 0);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));  // it did not exit with a wrong kernel
    if (kill % 25 == 24) check_whole(DiskCache(directory, 0));
  }
  check_whole(DiskCache(directory, 0));

  // No lock of a dead process is held, and a sweep removes their files once they are old.
  for (unsigned number = 0; number < killed_keys; ++number)
    CHECK(FileLock(making_lock_path(directory, sample_key(number)), 0ms).is_held());
  for (const auto& leftover : {pending_folder(directory), locks_folder(directory)}) {
    for (const auto& file : std::filesystem::directory_iterator(leftover))
      std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() - 1h);
  }
  const DiskCache cache(directory);
  CHECK(cache.trim(0).remaining == 0);
  CHECK(count_files(pending_folder(directory)) == 0);
  CHECK(count_files(locks_folder(directory)) == 0);
  for (unsigned number = 0; number < killed_keys; ++number)
    CHECK(cache.store(sample_key(number), killed_artifact(number)));
  check_whole(cache);
}
