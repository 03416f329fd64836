#include "codegen/specs.hpp"
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

using namespace tmajit;

namespace {

using Names = std::set<std::string>;

/// The instructions of a kernel that belong to the copy engine's protocol.
Names protocol(const std::string& ptx_text) {
  Names names;
  for (const auto& [name, count] : ptx::histogram(ptx_text)) {
    for (const char* family : {"cp.async", "mbarrier", "fence", "membar", "prefetch", "createpolicy", "elect",
                               "bar", "barrier", "tensormap"}) {
      if (ptx::matches(name, family)) names.insert(name);
    }
  }
  return names;
}

/// What a kernel of this family and rank must hold, and nothing besides.
Names expected(Family family, std::uint32_t rank) {
  const std::string d = std::to_string(rank) + "d";
  Names names{
      "mbarrier.init.shared::cta.b64",
      "mbarrier.arrive.expect_tx.shared::cta.b64",
      "mbarrier.try_wait.parity.shared::cta.b64",
      "fence.mbarrier_init.release.cluster",
      "cp.async.bulk.commit_group",
      "cp.async.bulk.wait_group.read",
  };
  const std::string tensor_load =
      "cp.async.bulk.tensor." + d + ".shared::cluster.global.tile.mbarrier::complete_tx::bytes";
  const std::string tensor_store = "cp.async.bulk.tensor." + d + ".global.shared::cta.tile.bulk_group";
  const std::string bulk_store = "cp.async.bulk.global.shared::cta.bulk_group";
  switch (family) {
    case Family::copy:  // the fence and the warp's meeting are those of row tails
      names.insert({tensor_load, tensor_store, "prefetch.tensormap", "fence.proxy.async.shared::cta",
                    "bar.warp.sync"});
      break;
    case Family::snapshot:
      names.insert(
          {tensor_load, bulk_store, "prefetch.tensormap", "fence.proxy.async.shared::cta", "bar.warp.sync"});
      break;
    case Family::map:
    case Family::bulk:
      names.insert({"mbarrier.arrive.shared::cta.b64", "fence.proxy.async.shared::cta", "elect.sync",
                    "bar.sync", "barrier.sync.aligned"});
      if (family == Family::map) {
        names.insert({tensor_load, tensor_store});
      } else {
        names.insert({"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", bulk_store});
      }
      break;
  }
  return names;
}

struct Case {
  Family family;
  std::uint32_t rank;
  Swizzle swizzle;
  ElementType type;
};

std::string describe(const Case& c) {
  return std::string(name(c.family)) + " rank " + std::to_string(c.rank) + " swizzle " +
         std::string(name(c.swizzle)) + " " + std::string(name(c.type));
}

std::string listed(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += "\n    " + name;
  return text;
}

/// Empty if the kernel is what it must be.
std::string fault(const Case& c) {
  try {
    const Artifact artifact = compile(generate(small_spec(c.family, c.rank, c.swizzle, c.type)));
    if (artifact.cubin.empty()) return "no cubin";
    if (artifact.ptx.find(".target sm_90a") == std::string::npos) return "PTX for another target";
    if (artifact.resources.spill_store_bytes != 0) return "spills registers";
    if (artifact.resources.registers == 0) return "no register count";
    const Names found = protocol(artifact.ptx);
    const Names wanted = expected(c.family, c.rank);
    if (found != wanted) return "holds" + listed(found) + "\n  but must hold" + listed(wanted);
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

/// Every pair of rank and swizzle, rank and type, swizzle and type; every triple, which takes minutes, where
/// $TMAJIT_EVERY is set.
void check_family(Family family) {
  std::vector<Case> cases;
  const bool every = family == Family::bulk || std::getenv("TMAJIT_EVERY") != nullptr;
  const std::uint32_t ranks = family == Family::bulk ? 1 : max_map_rank;
  for (std::uint32_t rank = 1; rank <= ranks; ++rank) {
    for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
      if (family == Family::bulk && swizzle != Swizzle::none) continue;
      for (const ElementType type : all_element_types) {
        const auto turn = rank + static_cast<std::uint32_t>(swizzle) + static_cast<std::uint32_t>(type);
        if (every || turn % 4 == 0) cases.push_back({family, rank, swizzle, type});
      }
    }
  }

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

}  // namespace

TEST_CASE("copy holds exactly its instructions in every pair of rank, swizzle and type") {
  check_family(Family::copy);
}
TEST_CASE("map holds exactly its instructions in every pair of rank, swizzle and type") {
  check_family(Family::map);
}
TEST_CASE("bulk holds exactly its instructions in every type") {
  check_family(Family::bulk);
}
TEST_CASE("snapshot holds exactly its instructions in every pair of rank, swizzle and type") {
  check_family(Family::snapshot);
}
