/// Random moves of every kind on the simulated device, which reports what their kernels do wrong, against the
/// reference.
#include "ops/random_run.hpp"

#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <iostream>
#include <optional>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::Buffers, reference::RandomMove;

namespace {

/// Buffers of their own allocations, so that whatever reads or writes past one is reported.
class Memory {
 public:
  /// Every buffer begins `shift` bytes after its allocation.
  Memory(std::shared_ptr<Device> device, const RandomMove& move, std::uint64_t shift)
      : device_(std::move(device)) {
    for (const std::uint64_t bytes : move.buffers) {
      allocations_.emplace_back(device_, bytes + shift);
      addresses_.push_back(allocations_.back().address() + shift);
    }
  }
  void write(const Buffers& buffers) {
    for (std::size_t i = 0; i < buffers.size(); ++i)
      device_->memory().copy_in(addresses_[i], buffers[i], nullptr);
  }
  [[nodiscard]] Buffers read(const Buffers& like) const {
    Buffers buffers = like;
    for (std::size_t i = 0; i < buffers.size(); ++i)
      device_->memory().copy_out(buffers[i], addresses_[i], nullptr);
    return buffers;
  }
  [[nodiscard]] std::span<const DevicePtr> addresses() const { return addresses_; }

 private:
  std::shared_ptr<Device> device_;
  std::vector<Buffer> allocations_;
  std::vector<DevicePtr> addresses_;
};

bool shares_memory(const RandomMove& move) {
  return std::ranges::any_of(move.sources, [&](const reference::BufferView& source) {
    return source.buffer == move.destinations[0].buffer;
  });
}

SimOptions options_of(std::uint64_t n) {
  constexpr SimOptions::Mode modes[] = {SimOptions::Mode::late, SimOptions::Mode::random,
                                        SimOptions::Mode::late, SimOptions::Mode::early};
  SimOptions options;
  options.mode = modes[n % 4];
  options.seed = n + 1;
  options.threads = 1;
  return options;
}

}  // namespace

TEST_CASE("random moves on the simulated device equal the reference, and nothing is reported") {
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 150);
  const std::uint64_t seed = reference::seed(20261121);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  // A device for each mode, whose kernels are compiled once; and one that looks for no races, for sources
  // that lie between the elements of a destination: kernels read the words that hold a source's elements, and
  // use no more of them than that, while others write what else is in those words.
  std::vector<std::unique_ptr<Runtime>> runtimes;
  for (std::uint64_t mode = 0; mode < 5; ++mode) {
    SimOptions options = options_of(mode);
    options.races = mode < 4;
    runtimes.push_back(std::make_unique<Runtime>(
        RuntimeOptions{.device = make_sim_device(options), .cache_directory = std::nullopt}));
  }
  tests::KernelCounts counts;
  for (std::uint64_t n = 0; n < cases; ++n) {
    // Two variations of a pattern run on one device.
    const RandomMove move =
        reference::random_move(seed + n / 2, n, {.elements = 2000, .most_elements = 12'000, .guard = 0});
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << describe(move));
    Runtime& runtime = *runtimes[shares_memory(move) ? 4 : n / 2 % 4];
    const Buffers before = random_buffers(move, seed + n);
    Buffers expected = before;
    reference::apply(move, expected);
    try {
      Memory memory(runtime.device(), move, 0);
      memory.write(before);
      const MovePlan plan = tests::plan(runtime, move, memory.addresses());
      plan();
      runtime.device()->streams().synchronize(nullptr);
      tests::count(plan, counts);
      CHECK(difference(move, expected, memory.read(before)) == "");

      if (n % 4 != 0) continue;
      Memory elsewhere(runtime.device(), move, tests::largest_element(move));
      elsewhere.write(before);
      const auto [destinations, sources] = tests::addresses(move, elsewhere.addresses());
      plan(destinations, sources);
      runtime.device()->streams().synchronize(nullptr);
      CHECK(difference(move, expected, elsewhere.read(before)) == "");
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
  for (const auto& [kernel, times] : counts) std::cout << "  " << kernel << ": " << times << '\n';
}

TEST_CASE("random moves in several threads, of few patterns: what the test on the GPU does") {
  const std::uint64_t seed = reference::seed(20261121);
  SimOptions options;
  options.threads = 1;
  options.races = false;  // see above
  Runtime runtime({.device = make_sim_device(options), .cache_directory = std::nullopt});
  const tests::RandomRunResult result =
      tests::run_random_moves(runtime, {.seed = seed,
                                        .cases = reference::from_environment("TMAJIT_CASES", 100),
                                        .patterns = reference::from_environment("TMAJIT_PATTERNS", 10),
                                        .threads = 3,
                                        .limits = {.elements = 2000, .most_elements = 12'000}});
  std::cout << "TMAJIT_SEED=" << seed << ": " << result.text();
  for (const std::string& failure : result.failures) FAIL_CHECK(failure);
}
