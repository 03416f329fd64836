/// Random batches of copies on the simulated device, which reports what their kernels do wrong, against the
/// reference; and kernels with a mistake, which it names.
#include "ops/batches.hpp"
#include "ptx/edit.hpp"
#include "reference/random_maps.hpp"
#include "sim/support.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>
#include <tmajit/ragged.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::BatchKind;

namespace {

constexpr SimOptions::Mode modes[] = {SimOptions::Mode::late, SimOptions::Mode::random,
                                      SimOptions::Mode::early};

Runtime simulated(std::uint64_t n) {
  SimOptions options;
  options.mode = modes[n % 3];
  options.seed = n + 1;
  options.threads = 1;
  return Runtime({.device = make_sim_device(options), .cache_directory = std::nullopt});
}

/// Tensors of one tile and of several, more of them than a CTA has maps.
tests::RandomBatch many_tensors() {
  tests::RandomBatch batch;
  for (std::uint64_t i = 0; i < 90; ++i) {
    const auto view =
        TensorView::strided(ElementType::f32, std::array{i % 5 == 0 ? 200 : 20 + i % 7, std::uint64_t{60}},
                            std::array<std::int64_t, 2>{64, 1});
    for (auto* const list : {&batch.destinations, &batch.sources})
      list->push_back({view, batch.source_bytes});
    batch.source_bytes += view.shape[0] * 256;
  }
  batch.destination_bytes = batch.source_bytes;
  return batch;
}

/// Runs a batch by a kernel that is edited; what is reported.
std::vector<std::string> reported(const tests::Edit& edit) {
  const auto sim = make_sim_device({.mode = SimOptions::Mode::late,
                                    .seed = 3,
                                    .threads = 1,
                                    .instruction_limit = 2'000'000,
                                    .sm_count = 1});
  const Runtime runtime(
      {.device = std::make_shared<tests::EditingDevice>(sim, edit), .cache_directory = std::nullopt});
  const tests::RandomBatch batch = many_tensors();
  const tests::PlacedBatch placed(sim, batch, 5);
  try {
    tests::launch_batch(runtime, placed, 1);
  } catch (const Error&) {
  }
  std::vector<std::string> rules = tests::rules(*sim);
  if (rules.empty() && !placed.difference().empty()) rules.emplace_back("wrong elements");
  return rules;
}

}  // namespace

TEST_CASE("ragged: a plan of copy_ragged is one kernel, and is used again on other addresses") {
  const Runtime runtime = simulated(0);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const tests::RandomBatch batch = tests::random_batch(BatchKind::mixed, seed, 4000);
    const tests::PlacedBatch first(runtime.device(), batch, seed);
    const tests::PlacedBatch second(runtime.device(), batch, seed + 10);
    const MovePlan planned = plan(runtime, operation::copy_ragged(first.destinations(), first.sources()));
    CHECK(planned.plans().size() == 1);
    CHECK(planned.explain().steps.size() == 1);
    planned();
    std::vector<DevicePtr> destinations;
    std::vector<DevicePtr> sources;
    for (const Tensor& tensor : second.destinations()) destinations.push_back(tensor.address);
    for (const Tensor& tensor : second.sources()) sources.push_back(tensor.address);
    planned(destinations, sources);
    planned(destinations, sources);
    runtime.device()->streams().synchronize(nullptr);
    CHECK(first.difference() == "");
    CHECK(second.difference() == "");
  }
}

TEST_CASE("ragged: random batches on the simulated device equal the reference, and nothing is reported") {
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 32);
  const std::uint64_t seed = reference::seed(20261124);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  constexpr BatchKind kinds[] = {BatchKind::mixed, BatchKind::aligned, BatchKind::tiny, BatchKind::skewed};
  for (std::uint64_t n = 0; n < cases; ++n) {
    const Runtime runtime = simulated(n);
    const tests::RandomBatch batch = tests::random_batch(kinds[n % 4], seed + n, n % 4 == 2 ? 2000 : 12'000);
    INFO("case " << n << ": " << batch.text());
    try {
      // As a call would do it on this chip, and with more tiles a CTA.
      if (n % 3 == 0) {
        CHECK(tests::run_batch(runtime, batch, seed + n) == "");
      } else {
        const tests::PlacedBatch placed(runtime.device(), batch, seed + n);
        tests::launch_batch(runtime, placed, n % 2 == 0 ? 1 : 3);
        CHECK(placed.difference() == "");
      }
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
}

TEST_CASE("ragged: batches of nothing, and one that is launched again") {
  const Runtime runtime = simulated(0);
  copy_ragged(runtime, {}, {});
  const TensorView none = TensorView::contiguous(ElementType::f32, {0, 7});
  copy_ragged(runtime, {{none, 0}}, {{none, 0}});
  const tests::RandomBatch batch = tests::random_batch(BatchKind::mixed, 11, 5000);
  tests::PlacedBatch placed(runtime.device(), batch, 1);
  const RaggedCopy copy(runtime, placed.destinations(), placed.sources());
  for (int i = 0; i < 3; ++i) {
    copy();
    runtime.device()->streams().synchronize(nullptr);
    CHECK(placed.difference() == "");
    placed.clear();
  }
}

TEST_CASE("ragged: mistakes with tensor maps that change are named") {
  using tests::drop, tests::swap, tests::adjust;
  CHECK(reported([](std::string text) { return text; }).empty());
  struct Mutant {
    const char* name;
    tests::Edit edit;
    std::vector<std::string> rules;  ///< one of which must be reported
  };
  const std::vector<Mutant> mutants{
      {"maps are not acquired", drop("fence.proxy.tensormap"), {"tensormap.not-acquired"}},
      {"maps are not published",
       drop("tensormap.cp_fenceproxy"),
       {"tensormap.invalid", "tensormap.not-released"}},
      {"maps keep another tensor's address",
       drop("tensormap.replace.tile.global_address"),
       {"load.out-of-bounds", "wrong elements"}},
      {"maps keep another tensor's rows",
       drop("tensormap.replace.tile.global_dim"),
       {"race.global-write-write", "wrong elements"}},
      {"a map changes while stores use it", drop("cp.async.bulk.wait_group"), {"tensormap.in-use"}},
      {"loads bring 16 bytes more than is expected",
       adjust("mbarrier.arrive.expect_tx", 1, "-16"),
       {"mbarrier.expected-bytes"}},
      {"stages are loaded again before they are read",
       drop("cp.async.bulk.wait_group.read"),
       {"load.before-store-read"}},
  };
  for (const Mutant& mutant : mutants) {
    INFO(mutant.name);
    const std::vector<std::string> found = reported(mutant.edit);
    std::string all;
    for (const std::string& rule : found) all += rule + " ";
    INFO(all);
    CHECK(std::ranges::any_of(mutant.rules,
                              [&](const std::string& rule) { return std::ranges::count(found, rule) > 0; }));
  }
}
