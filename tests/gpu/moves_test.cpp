/// Random moves of every kind on the GPU, against the reference: TMAJIT_CASES of them, of TMAJIT_PATTERNS
/// patterns.
#include "gpu/support.hpp"
#include "ops/cross_moves.hpp"
#include "ops/random_run.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

using namespace tmajit;

TEST_CASE("random moves of every kind equal the reference, every byte around them too", "[gpu]") {
  REQUIRE_HOPPER(device);
  const std::uint64_t cases = gpu::from_environment("TMAJIT_CASES", 2000);
  Runtime runtime({.device = device, .cache_directory = std::nullopt});
  const tests::RandomRunResult result = tests::run_random_moves(
      runtime,
      {.seed = gpu::seed(),
       .cases = cases,
       .patterns = gpu::from_environment("TMAJIT_PATTERNS", std::max<std::uint64_t>(cases / 10, 200)),
       .threads = std::clamp(std::thread::hardware_concurrency(), 1U, 16U)});
  std::cout << result.text();
  for (const std::string& failure : result.failures) FAIL_CHECK(failure);
  CHECK(result.cases == cases);
}

namespace {

/// Runs every candidate of cases 0 … of a seed, in several host threads. `random_move` makes a case's move,
/// for and `make` makes an EveryCandidate of it whose destination in host memory is right.
template <class RandomMove, class Make>
void run_every_candidate(const std::shared_ptr<Device>& device, const RandomMove& random_move,
                         const Make& make) {
  const std::uint64_t cases = gpu::from_environment("TMAJIT_CANDIDATE_CASES", 200);
  const std::uint64_t seed = gpu::seed();
  Runtime runtime({.device = device, .cache_directory = std::nullopt});
  std::atomic<std::uint64_t> next = 0;
  std::mutex mutex;
  std::vector<std::string> failures;
  std::map<std::string_view, std::uint64_t> counts;
  const auto work = [&] {
    for (std::uint64_t n = next++; n < cases; n = next++) {
      const auto drawn = random_move(seed + n, 100'000);
      std::string wrong;
      try {
        tests::EveryCandidate move = make(runtime, drawn);
        for (const Candidate& candidate : move.candidates()) {
          if (wrong.empty()) wrong = move.run(candidate);
          const std::lock_guard lock(mutex);
          ++counts[candidate.family->name()];
        }
      } catch (const std::exception& error) {
        wrong = error.what();
      }
      if (wrong.empty()) continue;
      const std::lock_guard lock(mutex);
      failures.push_back("case " + std::to_string(n) + ", " + drawn.text() + ": " + wrong);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 0; i < std::clamp(std::thread::hardware_concurrency(), 1U, 16U); ++i) {
      threads.emplace_back(work);
    }
  }
  for (const auto& [kernel, times] : counts) std::cout << "  " << kernel << ": " << times << '\n';
  for (const std::string& failure : failures) FAIL_CHECK(failure);
}

tests::EveryCandidate made_of(Runtime& runtime, const tests::CrossMove& drawn) {
  tests::EveryCandidate move(runtime, drawn.destination, drawn.sources, drawn.expression, drawn.padding);
  drawn.do_on_host(move);
  return move;
}

}  // namespace

TEST_CASE("every candidate of random permutations moves every element", "[gpu]") {
  REQUIRE_HOPPER(device);
  run_every_candidate(device, tests::random_permutation,
                      [](Runtime& runtime, const tests::RandomPermutation& drawn) {
                        tests::EveryCandidate move(runtime, drawn.destination, {drawn.source});
                        reference::copy(move.host(0), move.host(1));
                        return move;
                      });
}

TEST_CASE("every candidate of random pads across dimensions surrounds every element", "[gpu]") {
  REQUIRE_HOPPER(device);
  run_every_candidate(device, tests::random_cross_pad, made_of);
}

TEST_CASE("every candidate of random casts across dimensions converts every element", "[gpu]") {
  REQUIRE_HOPPER(device);
  run_every_candidate(device, tests::random_cross_cast, made_of);
}

TEST_CASE("every candidate of random maps across dimensions computes every element", "[gpu]") {
  REQUIRE_HOPPER(device);
  run_every_candidate(device, tests::random_cross_map, made_of);
}
