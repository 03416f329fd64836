// Counters of WhenMissing::serve over random plans, compared with a model of the kernels that are there.
#include "eventually.hpp"
#include "ops/serve_fixture.hpp"
#include "plan/candidates.hpp"
#include "seed.hpp"

#include <tmajit/counters.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <iostream>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace serve_counts_test {

using namespace tests;

/// A permutation, of which all kernels store the same bits, or a sum, for which no other kernel may be
/// served.
struct RandomOperation {
  Operation operation;
  bool is_exact;
};

RandomOperation random_operation(std::mt19937_64& random) {
  constexpr std::array types{ElementType::u8, ElementType::bf16, ElementType::f32, ElementType::f64};
  const auto extent = [&] { return 8 * (1 + random() % 60); };
  const DevicePtr shift = 8 * (random() % 3);
  const std::vector<std::uint64_t> shape{extent(), extent(), extent()};
  const bool is_exact = random() % 4 != 0;
  const ElementType type = is_exact ? types[random() % types.size()] : ElementType::f32;
  const Tensor source = Tensor::contiguous(type, shape, ServeFixture::from_address + shift);
  if (!is_exact)
    return {operation::reduce(Tensor::contiguous(type, {shape[0], shape[1]}, ServeFixture::to_address),
                              {.op = ReductionOp::sum, .axes = {2}}, {source}),
            is_exact};
  std::vector<std::uint32_t> axes{0, 1, 2};
  std::ranges::shuffle(axes, random);
  return {operation::permute(Tensor::contiguous(type, {shape[axes[0]], shape[axes[1]], shape[axes[2]]},
                                                ServeFixture::to_address),
                             source, axes),
          is_exact};
}

/// The keys of kernels. Plans with equal keys have the same kernel.
using Keys = std::set<std::string, std::less<>>;

bool contains_any(const Keys& keys, const std::vector<KernelPlan>& plans) {
  return std::ranges::any_of(plans, [&](const KernelPlan& plan) { return keys.contains(plan.key()); });
}

/// Reads the counters during its lifetime, beside the threads that change them.
class Reader {
 public:
  explicit Reader(const Runtime& runtime)
      : thread_([this, runtime](const std::stop_token& stop) {
          Counters last;
          while (!stop.stop_requested()) {
            const Counters now = counters(runtime);
            const bool grows =
                now.served >= last.served && now.waited >= last.waited && now.swaps >= last.swaps;
            if (!grows || now.swaps > now.served || (now.swaps > 0) != (now.swap_ms > 0)) ++mistakes_;
            last = now;
          }
        }) {}
  [[nodiscard]] int mistakes() const { return mistakes_; }

 private:
  std::atomic<int> mistakes_ = 0;
  std::jthread thread_;
};

TEST_CASE("kernels of random plans are served, waited for or found, and each served one is swapped") {
  constexpr int rounds = 100;
  const std::uint64_t seed = tests::seed(std::random_device{}());
  INFO("TMAJIT_SEED=" << seed);
  std::mt19937_64 random(seed);
  const ServeFixture fixture;
  const Runtime runtime = fixture.runtime();
  const Reader reader(runtime);
  const auto has_swapped_all = [&] { return counters(runtime).swaps == counters(runtime).served; };
  std::vector<Plan> plans;
  std::vector<KernelPlan> wanted;
  Keys there;
  Keys pending;  // kernels that background threads make
  std::uint64_t served = 0;
  std::uint64_t waited = 0;
  std::uint64_t found = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto [operation, is_exact] = random_operation(random);
    const KernelPlan& planned = wanted.emplace_back(fixture.wanted(operation));
    const std::vector<KernelPlan> others = other_candidates(planned, runtime.chip());
    if (!others.empty() && random() % 3 == 0) {
      const KernelPlan& other = others[random() % others.size()];
      fixture.keep(other);
      there.insert(std::string(other.key()));
    }
    // Whether a kernel that is being made is there depends on the threads.
    if (contains_any(pending, {planned}) || contains_any(pending, others)) {
      REQUIRE(eventually(has_swapped_all));
      there.merge(pending);
      pending.clear();
    }
    if (there.contains(planned.key())) {
      ++found;
    } else if (is_exact && contains_any(there, others)) {
      ++served;
      pending.insert(std::string(planned.key()));
    } else {
      ++waited;
      there.insert(std::string(planned.key()));
    }
    plans.push_back(plan(runtime, operation));
    plans.back()();
    const Counters now = counters(runtime);
    INFO("plan " << round << ": " << operation.moves.size() << " moves of " << planned.choice().text());
    REQUIRE(now.served == served);
    REQUIRE(now.waited == waited);
  }
  CHECK(served + waited + found == plans.size());
  REQUIRE(eventually([&] { return counters(runtime).swaps == served; }));
  for (std::size_t i = 0; i < plans.size(); ++i) CHECK(plans[i].plans()[0].key() == wanted[i].key());

  const std::vector<KernelRecord> made = history(runtime);
  const auto count = [&](const auto& condition) {
    return static_cast<std::uint64_t>(std::ranges::count_if(made, condition));
  };
  CHECK(count([](const KernelRecord& record) { return record.made_by == MadeBy::swap; }) == served);
  CHECK(count([](const KernelRecord& record) {
          return record.made_by == MadeBy::caller && record.level == CacheLevel::compiled;
        }) == waited);
  CHECK(count([](const KernelRecord& record) { return record.made_by > MadeBy::swap; }) == 0);
  CHECK(reader.mistakes() == 0);
  std::cout << "TMAJIT_SEED=" << seed << ": " << served << " served, " << waited << " waited, " << found
            << " found" << std::endl;
}

}  // namespace serve_counts_test
