#include "codegen/plans.hpp"
#include "ptx/query.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

using namespace tmajit;

namespace {

using Names = std::set<std::string>;

/// The instructions of a kernel that belong to the copy engine's protocol.
Names protocol(const std::string& ptx_text) {
  Names names;
  for (const auto& [name, count] : ptx::histogram(ptx_text)) {
    for (const char* family : {"cp.async", "cp.reduce", "mbarrier", "fence", "membar", "prefetch",
                               "createpolicy", "elect", "bar", "barrier", "tensormap"}) {
      if (ptx::matches(name, family)) names.insert(name);
    }
  }
  return names;
}

struct Case {
  FamilyInfo family;
  std::uint32_t rank;
  Swizzle swizzle;
  ElementType type;
  bool row_tails;
  bool persistent;
};

/// The instructions of the protocol that a kernel must hold; it may hold no others.
Names expected(const Case& tested, const KernelChoice& choice) {
  const std::string dimensions = std::to_string(tested.rank) + "d";
  Names names{
      "mbarrier.init.shared::cta.b64",
      "mbarrier.arrive.expect_tx.shared::cta.b64",
      "mbarrier.try_wait.parity.shared::cta.b64",
      "fence.mbarrier_init.release.cluster",
      "cp.async.bulk.commit_group",
      "cp.async.bulk.wait_group.read",
  };
  if (tested.family.flat) {
    names.insert({"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"});
  } else {
    names.insert(
        {"cp.async.bulk.tensor." + dimensions + ".shared::cluster.global.tile.mbarrier::complete_tx::bytes"});
  }
  if (tested.family.flat || tested.family.writes_images) {
    names.insert("cp.async.bulk.global.shared::cta.bulk_group");
  } else {
    const auto op = tests::some_combine_op(tested.family, tested.rank, tested.type);
    names.insert(
        (op ? "cp.reduce.async.bulk.tensor." + dimensions + ".global.shared::cta." + std::string(name(*op))
            : "cp.async.bulk.tensor." + dimensions + ".global.shared::cta") +
        ".tile.bulk_group");
  }
  if (!tested.family.flat) names.insert("prefetch.tensormap");
  if (tested.family.computes) {
    names.insert({"fence.proxy.async.shared::cta", "elect.sync", "bar.sync", "barrier.sync.aligned"});
    // A stage is freed only to be loaded again.
    const std::uint32_t tiles = choice.number("tiles_per_cta");
    if (tested.family.flat || tiles == 0 || tiles > choice.number("stages"))
      names.insert("mbarrier.arrive.shared::cta.b64");
    return names;
  }
  names.insert("bar.warp.sync");
  // Where threads access a tile as well: an image that they clear first, or the ends of rows.
  if (tested.family.writes_images || tested.row_tails) names.insert("fence.proxy.async.shared::cta");
  return names;
}

std::string describe(const Case& tested) {
  return std::string(tested.family.name) + " rank " + std::to_string(tested.rank) + " swizzle " +
         std::string(name(tested.swizzle)) + " " + std::string(name(tested.type)) +
         (tested.row_tails ? " with row tails" : "") + (tested.persistent ? " in a persistent grid" : "");
}

std::string listed(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += "\n    " + name;
  return text;
}

/// Describes how the kernel differs from what it must be; empty if it does not.
std::string fault(const Case& tested) {
  try {
    const KernelPlan plan = tests::small_plan(tested.family, tested.rank, tested.swizzle, tested.type,
                                              tested.row_tails, tested.persistent);
    const Artifact artifact = compile(source(plan));
    if (artifact.cubin.empty()) return "no cubin";
    if (artifact.ptx.find(".target sm_90a") == std::string::npos) return "PTX for another target";
    if (artifact.resources.spill_store_bytes != 0) return "spills registers";
    if (artifact.resources.registers == 0) return "no register count";
    const Names found = protocol(artifact.ptx);
    const Names wanted = expected(tested, plan.choice());
    if (found != wanted) return "holds" + listed(found) + "\n  but must hold" + listed(wanted);
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

/// Every pair of rank and swizzle, rank and type, swizzle and type. If $TMAJIT_EVERY is set, every triple,
/// which takes minutes.
std::vector<Case> cases_of(const FamilyInfo& family) {
  std::vector<Case> cases;
  const bool every = family.flat || std::getenv("TMAJIT_EVERY") != nullptr;
  const std::uint32_t ranks = family.flat ? 1 : max_map_rank;
  for (std::uint32_t rank = 1; rank <= ranks; ++rank) {
    for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
      if (family.flat && swizzle != Swizzle::none) continue;
      for (const ElementType type : all_element_types) {
        const auto type_index = static_cast<std::uint32_t>(type);
        const auto turn = rank + static_cast<std::uint32_t>(swizzle) + type_index;
        if (!every && turn % 4 != 0) continue;
        if (family.does("reduce_into") && !tests::some_combine_op(family, rank, type)) continue;
        // Where rows are written through maps, every other case has tails.
        const bool may_have_tails = !family.flat && !family.writes_images;
        const bool persistent = (turn / 4 + type_index / 2) % 2 == 0;
        cases.push_back(
            {family, rank, swizzle, type, may_have_tails && (turn / 4 + rank) % 2 == 0, persistent});
        if (every && may_have_tails)
          cases.push_back({family, rank, swizzle, type, !cases.back().row_tails, !persistent});
      }
    }
  }
  return cases;
}

}  // namespace

TEST_CASE("kernels hold exactly their instructions in every pair of rank, swizzle and type") {
  const FamilyInfo family = GENERATE(from_range(tests::tile_families()));
  CAPTURE(family.name);
  const std::vector<Case> cases = cases_of(family);
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::string faults;
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&] {
      for (std::size_t n; (n = next++) < cases.size();) {
        const std::string found = fault(cases[n]);
        if (found.empty()) continue;
        const std::scoped_lock lock(mutex);
        faults += describe(cases[n]) + ": " + found + "\n";
      }
    });
  }
  threads.clear();
  INFO(faults);
  CHECK(faults.empty());
}
