// File systems that fail: a fetch gives the right kernel or none, no call throws, and the cache works again
// as soon as the file system does.
#include "cache/faulty_files.hpp"
#include "cache/layout.hpp"
#include "cache/samples.hpp"
#include "captured_log.hpp"
#include "seed.hpp"

#include <tmajit/cache.hpp>
#include <tmajit/error.hpp>

#include <random>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::FaultyFileSystem;
using tests::same;
using tests::sample_artifact;
using tests::sample_key;

namespace {

constexpr unsigned faulty_keys = 12;

/// The kernel of a key: each key has one of its own.
Artifact artifact_of(unsigned number) {
  return sample_artifact(std::size_t{500} * number, static_cast<char>('a' + number));
}

/// Calls of one process. Each step is one call; returns whether it kept its promise.
class Caller {
 public:
  Caller(std::filesystem::path directory, std::uint64_t seed)
      : directory_(std::move(directory)), cache_(directory_, std::uint64_t{80} << 10), random_(seed) {}

  bool step() {
    const auto number = static_cast<unsigned>(random_() % faulty_keys);
    switch (random_() % 16) {
      case 0: cache_.remember({.major = 13, .minor = 0, .build = "build", .path = "/somewhere"}); return true;
      case 1: return only_known(cache_.known_compilers());
      case 2: cache_ = DiskCache(directory_, std::uint64_t{random_() % 200} << 10); return true;
      case 3: return throws_only_io([&] { (void)cache_.trim(std::uint64_t{random_() % 100} << 10); });
      case 4: return throws_only_io([&] { (void)cache_.entries(); });
      case 5: return throws_only_io([&] { (void)cache_.verify(random_() % 2 == 0); });
      case 6: return random_() % 4 != 0 || throws_only_io([&] { (void)cache_.clear(); });
      case 7:
      case 8:
      case 9:
      case 10: (void)cache_.store(sample_key(number), artifact_of(number)); return true;
      default: {
        const auto fetched = cache_.fetch(sample_key(number));
        return !fetched || same(*fetched, artifact_of(number));
      }
    }
  }

 private:
  static bool only_known(const std::vector<CompilerIdentity>& compilers) {
    return compilers.empty() || (compilers.size() == 1 && compilers[0].build == "build");
  }
  template <class Call>
  static bool throws_only_io(Call call) {
    try {
      call();
    } catch (const Error& error) {
      return error.code() == ErrorCode::io;
    }
    return true;
  }

  std::filesystem::path directory_;
  DiskCache cache_;
  std::mt19937_64 random_;
};

/// Every key can be stored and fetched, and the folder keeps its bound.
void check_recovered(const std::filesystem::path& directory) {
  std::error_code none;
  const DiskCache cache(directory, std::uint64_t{1} << 20);
  for (unsigned number = 0; number < faulty_keys; ++number) {
    CHECK(cache.store(sample_key(number), artifact_of(number)));
    const auto fetched = cache.fetch(sample_key(number));
    CHECK((fetched && same(*fetched, artifact_of(number))));
  }
  CHECK(cache.entries().size() == faulty_keys);
  CHECK(cache.verify(false).broken.empty());
  const auto trimmed = cache.trim(16384);
  CHECK(trimmed.remaining_bytes <= 16384);
  CHECK(cache.clear() == trimmed.remaining);
}

}  // namespace

TEST_CASE("a file system that fails at random gives the right kernel or none") {
  const auto seed = tests::seed(1);
  const auto sequences = tests::from_environment("TMAJIT_CASES", 20);
  const tests::CapturedLog log;
  std::size_t faults = 0;
  for (std::uint64_t sequence = 0; sequence < sequences; ++sequence) {
    INFO("TMAJIT_SEED=" << seed << ", sequence " << sequence);
    const TemporaryFolder folder;
    const auto directory = folder.path() / "cache";
    std::mt19937_64 random(seed * 1000 + sequence);
    FaultyFileSystem files(random());
    std::vector<Caller> callers;
    for (int i = 0; i < 3; ++i) callers.emplace_back(directory, random());
    for (int i = 0; i < 200; ++i) {
      if (i % 40 == 0) files.set_rate(static_cast<unsigned>(random() % 12));
      if (random() % 60 == 0)
        files.set_clock(std::chrono::hours(static_cast<int>(random() % 40'000) - 20'000));
      if (random() % 80 == 0) std::filesystem::remove_all(directory);
      REQUIRE(callers[random() % callers.size()].step());
    }
    files.set_rate(0);
    check_recovered(directory);
    faults += files.faults();
  }
  CHECK(faults > sequences);
}

TEST_CASE("threads on a file system that fails at random get the right kernels or none") {
  const auto seed = tests::seed(2);
  INFO("TMAJIT_SEED=" << seed);
  const tests::CapturedLog log;
  const TemporaryFolder folder;
  FaultyFileSystem files(seed);
  files.set_rate(8);
  std::atomic<unsigned> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        Caller caller(folder.path() / "cache", seed + i);
        for (int step = 0; step < 400; ++step) wrong += caller.step() ? 0 : 1;
      });
    }
  }
  CHECK(wrong == 0);
  CHECK(files.faults() > 100);
  files.set_rate(0);
  check_recovered(folder.path() / "cache");
}

namespace {

/// Opens give ESTALE for some calls, as if another client had replaced the file.
class StaleFiles final : public FileSystem {
 public:
  explicit StaleFiles(int stale_reads) : before_(replace_file_system(*this)), stale_reads_(stale_reads) {}
  ~StaleFiles() override { replace_file_system(before_); }
  StaleFiles(const StaleFiles&) = delete;
  StaleFiles& operator=(const StaleFiles&) = delete;
  ::ssize_t read(int file, char* bytes, std::size_t count) override {
    if (stale_reads_-- <= 0) return FileSystem::read(file, bytes, count);
    errno = ESTALE;
    return -1;
  }

 private:
  FileSystem& before_;
  int stale_reads_;
};

}  // namespace

TEST_CASE("a file that another machine replaces while it is read is opened anew, once") {
  const TemporaryFolder folder;
  const tests::CapturedLog log;
  const DiskCache cache(folder.path());
  REQUIRE(cache.store(sample_key(), sample_artifact()));
  {
    const StaleFiles once(1);
    CHECK(cache.fetch(sample_key()));
  }
  {
    const StaleFiles twice(2);
    CHECK_FALSE(cache.fetch(sample_key()));
  }
  CHECK(cache.fetch(sample_key()));
}
