/// Compares random cases of every operation on the GPU with the reference: TMAJIT_CASES cases of
/// TMAJIT_KERNEL_SEEDS kernel seeds, and every candidate kernel of a few large cases.
#include "gpu/support.hpp"
#include "ops/cross_moves.hpp"
#include "ops/run_case.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

using namespace tmajit;

TEST_CASE("random cases of every operation equal the reference and change no byte around it", "[gpu]") {
  REQUIRE_HOPPER(device);
  const std::uint64_t cases = gpu::from_environment("TMAJIT_CASES", 4000);
  Runtime runtime({.device = device, .cache_directory = std::nullopt});
  const tests::RandomRunResult result = tests::run_random_cases(
      runtime,
      {.seed = gpu::seed(),
       .cases = cases,
       .kernel_seeds = gpu::from_environment("TMAJIT_KERNEL_SEEDS", std::max<std::uint64_t>(cases / 10, 400)),
       .threads = std::clamp(std::thread::hardware_concurrency(), 1U, 16U)});
  std::cout << result.text();
  for (const std::string& failure : result.failures) FAIL_CHECK(failure);
  CHECK(result.cases == cases);
}

TEST_CASE("every candidate of large stencils and im2col equals the reference", "[gpu]") {
  REQUIRE_HOPPER(device);
  Runtime runtime({.device = device, .cache_directory = std::nullopt});
  const auto check = [&](std::string_view operation, const Arguments& arguments, ElementType type,
                         const Dims& shape) {
    auto test_case = reference::dense_case(operation, arguments, {}, {TensorView::contiguous(type, shape)});
    test_case.contents = reference::Contents::numbers;
    INFO(test_case.text());
    CHECK(tests::run_candidates(runtime, test_case, 1) == "");
  };
  for (const char* boundary : {"zero", "wrap"}) {
    const auto stencil = [&](const char* expression, const Dims& shape) {
      check("stencil", {{"expression", expression}, {"boundary", boundary}}, ElementType::f32, shape);
    };
    stencil("x(-1, 0) + x(1, 0) + x(0, -1) + x(0, 1) - 4 * x", {3000, 1000});
    stencil("x(-1, 0, 0) + x(1, 0, 0) + x(0, -1, 0) + x(0, 1, 0) - 4 * x", {150, 100, 200});
    stencil("x(-2) - x(3)", {3'000'000});
  }
  const Arguments windows{
      {"filter", Dims{3, 3}}, {"strides", Dims{2, 1}}, {"padding", PadWidths{{1, 1}, {1, 1}}}};
  for (const std::int64_t channels : {8, 64, 200, 600})
    check("im2col", windows, ElementType::bf16, {8, 28, 28, channels});
}

namespace {

/// Runs every candidate of the cases of a seed, with several host threads. random_move() makes a case's move,
/// and make() an EveryCandidate of it.
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
  return {runtime, drawn.destination, drawn.sources, drawn.expression, drawn.padding};
}

}  // namespace

TEST_CASE("every candidate of random permutations moves every element", "[gpu]") {
  REQUIRE_HOPPER(device);
  run_every_candidate(device, tests::random_permutation,
                      [](Runtime& runtime, const tests::RandomPermutation& drawn) {
                        return tests::EveryCandidate(runtime, drawn.destination, {drawn.source});
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
