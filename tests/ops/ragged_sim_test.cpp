/// Random batches of copies on the simulated device give the reference's results without reports, and mutants
/// of their kernel are reported.
#include "ops/own_memory.hpp"
#include "ptx/edit.hpp"
#include "ptx_alone.hpp"
#include "seed.hpp"
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
using reference::TestCase;

namespace {

constexpr SimOptions::Mode modes[] = {SimOptions::Mode::late, SimOptions::Mode::random,
                                      SimOptions::Mode::early};

Runtime simulated_ragged(std::uint64_t n) {
  SimOptions options;
  options.mode = modes[n % 3];
  options.seed = n + 1;
  options.threads = 1;
  return Runtime({.device = make_sim_device(options),
                  .cache_directory = tests::shared_kernels(),
                  .compile = tests::ptx_without_lines});
}

TestCase random_batch(std::uint64_t seed, std::uint64_t most) {
  return reference::random_test_case("copy_ragged", seed, 0,
                                     {.elements = most / 2, .max_elements = most, .guard = 0});
}

/// A batch of tensors of one or several tiles, with more tensors than a CTA has tensor maps.
TestCase many_tensors() {
  TestCase batch{.operation = "copy_ragged", .buffers = {0, 0}};
  for (std::uint64_t i = 0; i < 90; ++i) {
    const auto view =
        TensorView::strided(ElementType::f32, std::array{i % 5 == 0 ? 200 : 20 + i % 7, std::uint64_t{60}},
                            std::array<std::int64_t, 2>{64, 1});
    batch.destinations.push_back({view, 0, batch.buffers[0]});
    batch.sources.push_back({view, 1, batch.buffers[1]});
    for (std::uint64_t& bytes : batch.buffers) bytes += view.shape[0] * 256;
  }
  return batch;
}

/// Runs a batch once. With a small `sm_count` each CTA has several tiles.
void launch(const Runtime& runtime, const Operation& batch, std::uint32_t sm_count) {
  Chip chip;
  chip.sm_count = sm_count;
  const Buffer table(runtime.device(), plan_ragged(batch.destinations, batch.sources).table.size());
  const RaggedPlan plan = plan_ragged(batch.destinations, batch.sources, table.address(), chip);
  runtime.device()->memory().copy_in(table.address(), plan.table, nullptr);
  runtime.kernel(plan.kernel).launch(plan.kernel);
  runtime.device()->streams().synchronize(nullptr);
}

/// A batch on a device, and its expected results.
struct PlacedBatch {
  PlacedBatch(const Runtime& runtime, const TestCase& what, std::uint64_t seed)
      : test_case(what),
        before(random_buffers(test_case, seed)),
        memory(tests::own_allocations(runtime.device())(test_case, 0)),
        operation(reference::operation_of(test_case, memory->addresses())) {
    memory->write(before);
  }
  [[nodiscard]] std::string difference() {
    return reference::difference(test_case, expected(test_case, before), memory->read(before));
  }
  TestCase test_case;
  reference::Buffers before;
  std::unique_ptr<tests::CaseMemory> memory;
  Operation operation;
};

/// Runs a batch with an edited kernel. Returns the rules of the reports.
std::vector<std::string> reported(const tests::Edit& edit) {
  const auto sim = make_sim_device({.mode = SimOptions::Mode::late,
                                    .seed = 3,
                                    .threads = 1,
                                    .instruction_limit = 2'000'000,
                                    .sm_count = 1});
  const Runtime runtime({.device = std::make_shared<tests::EditingDevice>(sim, edit),
                         .cache_directory = tests::shared_kernels(),
                         .compile = tests::ptx_without_lines});
  PlacedBatch placed(runtime, many_tensors(), 5);
  try {
    launch(runtime, placed.operation, 1);
  } catch (const Error&) {
  }
  std::vector<std::string> rules = tests::rules(*sim);
  if (rules.empty() && !placed.difference().empty()) rules.emplace_back("wrong elements");
  return rules;
}

}  // namespace

TEST_CASE("ragged: a plan of copy_ragged is one kernel") {
  const Runtime runtime = simulated_ragged(0);
  const PlacedBatch placed(runtime, random_batch(1, 4000), 1);
  const Plan planned = plan(runtime, placed.operation);
  CHECK(planned.plans().size() == 1);
  CHECK(planned.explain().steps.size() == 1);
}

TEST_CASE("ragged: random batches on few CTAs equal the reference, and nothing is reported") {
  const std::uint64_t cases = tests::from_environment("TMAJIT_CASES", 24);
  const std::uint64_t seed = tests::seed(20261124);
  std::cout << "TMAJIT_SEED=" << seed << ", " << cases << " cases" << std::endl;
  for (std::uint64_t n = 0; n < cases; ++n) {
    const Runtime runtime = simulated_ragged(n);
    PlacedBatch placed(runtime, random_batch(seed + n, 12'000), seed + n);
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << placed.test_case.text());
    try {
      launch(runtime, placed.operation, n % 2 == 0 ? 1 : 3);
      CHECK(placed.difference() == "");
    } catch (const Error& error) {
      FAIL_CHECK(error.what());
    }
  }
}

TEST_CASE("ragged: empty batches do nothing, and a batch can be launched again") {
  const Runtime runtime = simulated_ragged(0);
  copy_ragged(runtime, {}, {});
  const TensorView none = TensorView::contiguous(ElementType::f32, {0, 7});
  copy_ragged(runtime, {{none, 0}}, {{none, 0}});
  PlacedBatch placed(runtime, random_batch(11, 5000), 1);
  const RaggedCopy copy(runtime, placed.operation.destinations, placed.operation.sources);
  for (int i = 0; i < 3; ++i) {
    copy();
    CHECK(placed.difference() == "");
    placed.memory->write(placed.before);
  }
}

TEST_CASE("ragged: mutants that misuse changing tensor maps are reported") {
  using tests::drop, tests::swap, tests::adjust;
  CHECK(reported([](std::string text) { return text; }).empty());
  struct Mutant {
    const char* name;
    tests::Edit edit;
    std::vector<std::string> rules;  ///< at least one of these rules must be reported
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
