/// Mutants: protocol mistakes inserted into tmajit's kernels and the examples. Lint must report each by the
/// right rule.
#include "lint/support.hpp"

#include <tmajit/tiles.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using namespace tests;

namespace {

enum class Base { copy, swizzled, map, two_inputs, bulk, snapshot, transpose, gemm, moves, pipeline };

Module make(Base base) {
  const auto matrix = TensorView::contiguous(ElementType::f32, {160, 96});
  const auto row = TensorView::contiguous(ElementType::f32, {20'000});
  const std::array<std::uint32_t, 2> box{16, 32};
  const std::array<std::uint32_t, 1> chunk{512};
  TileOptions options;
  options.box =
      base == Base::bulk ? std::span<const std::uint32_t>(chunk) : std::span<const std::uint32_t>(box);
  options.stages = 3;
  if (base == Base::swizzled) options.swizzle = Swizzle::b128;
  const auto map = [](const std::string& parameter, std::uint64_t bytes, std::uint32_t rank,
                      std::uint32_t alignment) {
    return MapFacts{parameter, bytes, rank, 0, alignment};
  };
  TileRequest request{.family = "copy", .destination = {matrix}, .sources = {{matrix}}, .tiles = options};
  switch (base) {
    case Base::copy:
    case Base::swizzled: return module_of(plan_tiles(request));
    case Base::map:
      request.family = "map";
      request.expression = "x * 2 + 1";
      return module_of(plan_tiles(request));
    case Base::two_inputs:
      request.family = "map";
      request.sources = {{matrix}, {matrix}};
      request.expression = "x0 + x1";
      return module_of(plan_tiles(request));
    case Base::bulk:
      return module_of(plan_tiles({.family = "bulk",
                                   .destination = {row},
                                   .sources = {{row}},
                                   .expression = "x * 2 + 1",
                                   .tiles = options}));
    case Base::snapshot:
      request.family = "snapshot";
      request.destination = {destination_view(request)};
      return module_of(plan_tiles(request));
    case Base::transpose:
      return example("kernels/transpose.cu", "transpose", {map("0", 4096, 2, 1024), map("1", 4096, 2, 1024)});
    case Base::gemm:
      return example("tutorial/tensor_cores.cu", "tensor_cores",
                     {map("1", 16384, 2, 1024), map("2", 8192, 2, 1024)});
    case Base::pipeline: return pipeline();
    default: return example("kernels/moves.cu", "move_3d", {});
  }
}

struct Mutant {
  const char* name;
  Base base;
  Edit edit;
  const char* rule;  ///< rule of the expected first finding
};

const char* const tensor_load = "cp.async.bulk.tensor.2d.shared::cluster";
const char* const tensor_store_name = "cp.async.bulk.tensor.2d.global";
const char* const bulk_load = "cp.async.bulk.shared::cluster";
const char* const bulk_store_name = "cp.async.bulk.global";
const char* const expect_tx = "mbarrier.arrive.expect_tx";
const char* const init_name = "mbarrier.init";
const char* const try_wait = "mbarrier.try_wait";
const char* const init_fence = "fence.mbarrier_init";
const char* const proxy_fence = "fence.proxy.async";
const char* const commit_name = "cp.async.bulk.commit_group";

std::vector<Mutant> mutants() {
  const Edit no_last_wait = drop_last("cp.async.bulk.wait_group");
  const auto only_leader_fences = [](const std::string& text) {
    // Only the thread that stores executes the fence, instead of all threads.
    return before(tensor_store_name, "fence.proxy.async.shared::cta;")(drop(proxy_fence)(text));
  };
  const auto one_dimension_more = [](const std::string& text) {
    return swap(tensor_load, ".2d", ".3d")(swap(tensor_load, "{%r", "{%r1, %r")(text));
  };
  return {
      {"map without its proxy fence", Base::map, drop(proxy_fence), "store.missing-proxy-fence"},
      {"map of two without its proxy fence", Base::two_inputs, drop(proxy_fence),
       "store.missing-proxy-fence"},
      {"bulk without its proxy fence", Base::bulk, drop(proxy_fence), "store.missing-proxy-fence"},
      {"transpose without its proxy fence", Base::transpose, drop(proxy_fence), "store.missing-proxy-fence"},
      {"map fences in the storing thread only", Base::map, only_leader_fences, "store.late-proxy-fence"},
      {"transpose fences in the storing thread only", Base::transpose, only_leader_fences,
       "store.late-proxy-fence"},
      {"map fences the wrong memory", Base::map, swap(proxy_fence, "shared::cta", "global"),
       "store.missing-proxy-fence"},
      {"map's threads do not meet before the store", Base::map, drop("barrier.sync.aligned"),
       "store.missing-barrier"},
      {"bulk's threads do not meet before the store", Base::bulk, drop("barrier.sync.aligned"),
       "store.missing-barrier"},
      {"transpose's threads do not meet before the store", Base::transpose, drop("bar.sync", 1),
       "store.missing-barrier"},

      {"the pipeline without its proxy fence", Base::pipeline, drop(proxy_fence),
       "store.missing-proxy-fence"},
      {"the pipeline's threads do not meet", Base::pipeline, drop("bar.sync 1,"), "store.missing-barrier"},
      {"the pipeline does not fence its init", Base::pipeline, drop(init_fence), "mbarrier.init-not-fenced"},
      {"the pipeline does not meet after the init", Base::pipeline, drop("bar.sync \t0"),
       "mbarrier.uninitialised"},
      {"the pipeline exits too early", Base::pipeline, drop_last("cp.async.bulk.wait_group"),
       "exit.store-unread"},
      {"the pipeline never commits a group", Base::pipeline, drop(commit_name), "exit.store-unread"},
      {"the pipeline loads one input", Base::pipeline, drop(tensor_load, 1), "mbarrier.expected-bytes"},

      {"copy does not fence its init", Base::copy, drop(init_fence), "mbarrier.init-not-fenced"},
      {"map does not fence its init", Base::map, drop(init_fence), "mbarrier.init-not-fenced"},
      {"bulk does not fence its init", Base::bulk, drop(init_fence), "mbarrier.init-not-fenced"},
      {"moves do not fence their init", Base::moves, drop(init_fence), "mbarrier.init-not-fenced"},
      {"map does not meet after the init", Base::map, drop("bar.sync"), "mbarrier.uninitialised"},
      {"bulk does not meet after the init", Base::bulk, drop("bar.sync"), "mbarrier.uninitialised"},
      {"transpose does not meet after the init", Base::transpose, drop("bar.sync", 0),
       "mbarrier.uninitialised"},
      {"copy does not meet after the init", Base::copy, drop("bar.warp.sync"), "mbarrier.uninitialised"},
      {"gemm initialises nothing", Base::gemm, drop(init_name), "mbarrier.uninitialised"},
      {"transpose initialises another barrier", Base::transpose, adjust(init_name, 0, "8"),
       "mbarrier.uninitialised"},
      {"copy initialises for no arrival", Base::copy, adjust(init_name, 1, "-1"), "mbarrier.count"},
      {"gemm initialises for too many arrivals", Base::gemm, adjust(init_name, 1, "1048575"),
       "mbarrier.count"},
      {"copy's barriers are off by 4 bytes", Base::copy, adjust(init_name, 0, "4"), "mbarrier.address"},
      {"map waits at an address off by 4", Base::map, adjust(try_wait, 0, "4"), "mbarrier.address"},
      {"gemm waits for another barrier", Base::gemm, adjust(try_wait, 0, "8"), "mbarrier.never-waited"},
      {"transpose waits for nothing", Base::transpose,
       lines(try_wait, [](const std::string&) { return std::string("setp.eq.s32 done, 0, 0;"); }),
       "mbarrier.never-waited"},

      {"copy expects 16 bytes too many", Base::copy, adjust(expect_tx, 1, "16"), "mbarrier.expected-bytes"},
      {"copy expects 16 bytes too few", Base::copy, adjust(expect_tx, 1, "-16"), "mbarrier.expected-bytes"},
      {"map expects 16 bytes too many", Base::map, adjust(expect_tx, 1, "16"), "mbarrier.expected-bytes"},
      {"map of two expects one input", Base::two_inputs, adjust(expect_tx, 1, "-2048"),
       "mbarrier.expected-bytes"},
      {"map of two loads one input", Base::two_inputs, drop_last(tensor_load), "mbarrier.expected-bytes"},
      {"bulk expects 16 bytes too many", Base::bulk, adjust(expect_tx, 1, "16"), "mbarrier.expected-bytes"},
      {"bulk loads 16 bytes less", Base::bulk, adjust(bulk_load, 1, "-16"), "mbarrier.expected-bytes"},
      {"gemm expects 16 bytes too few", Base::gemm, adjust(expect_tx, 1, "-16"), "mbarrier.expected-bytes"},
      {"gemm expects more than an mbarrier counts", Base::gemm, adjust(expect_tx, 1, "1048576"),
       "mbarrier.bytes-overflow"},
      {"transpose loads nothing", Base::transpose, drop(tensor_load), "mbarrier.expected-bytes"},

      {"copy never commits a group", Base::copy, drop(commit_name), "exit.store-unread"},
      {"map never commits a group", Base::map, drop(commit_name), "exit.store-unread"},
      {"bulk never commits a group", Base::bulk, drop(commit_name), "exit.store-unread"},
      {"moves never commit a group", Base::moves, drop(commit_name), "exit.store-unread"},
      {"copy exits too early", Base::copy, no_last_wait, "exit.store-unread"},
      {"map exits too early", Base::map, no_last_wait, "exit.store-unread"},
      {"bulk exits too early", Base::bulk, no_last_wait, "exit.store-unread"},
      {"snapshot exits too early", Base::snapshot, no_last_wait, "exit.store-unread"},
      {"transpose exits too early", Base::transpose, no_last_wait, "exit.store-unread"},
      {"copy leaves a group at the end", Base::copy, swap("cp.async.bulk.wait_group.read", "0;", "1;"),
       "exit.store-unread"},

      {"copy loads to an address off by 64", Base::copy, adjust(tensor_load, 0, "64"),
       "copy.shared-alignment"},
      {"copy stores from an address off by 16", Base::copy, adjust(tensor_store_name, 2, "16"),
       "copy.shared-alignment"},
      {"swizzled copy loads off the period", Base::swizzled, adjust(tensor_load, 0, "128"),
       "copy.swizzle-base"},
      {"gemm loads off the period", Base::gemm, adjust(tensor_load, 0, "512"), "copy.swizzle-base"},
      {"bulk loads to an address off by 8", Base::bulk, adjust(bulk_load, 0, "8"), "copy.shared-alignment"},
      {"snapshot stores 8 bytes more", Base::snapshot, adjust(bulk_store_name, 1, "8"),
       "copy.global-alignment"},
      {"snapshot stores nothing", Base::snapshot, adjust(bulk_store_name, 1, "-2048"), "copy.empty"},
      {"snapshot stores more than shared memory holds", Base::snapshot, adjust(bulk_store_name, 1, "262144"),
       "shared.out-of-bounds"},
      {"copy loads at an odd column", Base::copy, adjust(tensor_load, 1, "1"), "copy.inner-coordinate"},
      {"copy uses the instruction of another rank", Base::copy, one_dimension_more, "tensormap.rank"},
      {"map reads shared memory off its vectors", Base::map, adjust_wide("ld.shared.v4", 0, "4", 0),
       "address.misaligned"},

      {"copy for sm_80", Base::copy, replace(".target sm_90a", ".target sm_80"), "target.architecture"},
      {"copy in PTX 7.8", Base::copy, replace(".version 9.0", ".version 7.8"), "target.version"},
      {"map with setmaxnreg for sm_90", Base::map,
       [](const std::string& text) {
         return before("bar.sync", "setmaxnreg.dec.sync.aligned.u32 40;")(
             replace(".target sm_90a", ".target sm_90")(text));
       },
       "target.feature"},
      {"map with an unknown instruction", Base::map, swap(proxy_fence, "fence.proxy", "fence.prixy"),
       "instruction.unknown"},
      {"copy with an undeclared register", Base::copy,
       replace(expect_tx, "mov.u32 %q1, 1;\n\tmbarrier.arrive.expect_tx"), "name"},
  };
}

}  // namespace

TEST_CASE("the kernels from which the mutants are made have no findings") {
  for (const Base base : {Base::copy, Base::swizzled, Base::map, Base::two_inputs, Base::bulk, Base::snapshot,
                          Base::transpose, Base::gemm, Base::moves, Base::pipeline}) {
    const Module module = make(base);
    const LintResult result = lint_ptx(module.ptx, module.options);
    INFO(static_cast<int>(base) << "\n" << result.report);
    CHECK(result.findings.empty());
    CHECK(result.unfinished.empty());
    CHECK(result.kernels.size() >= 1);
  }
}

TEST_CASE("lint reports every mutant by its rule") {
  std::map<Base, Module> modules;
  std::set<std::string> kinds;
  for (const Mutant& mutant : mutants()) {
    auto found = modules.find(mutant.base);
    if (found == modules.end()) found = modules.emplace(mutant.base, make(mutant.base)).first;
    Module module = found->second;
    const std::string edited = mutant.edit(module.ptx);
    const LintResult result = lint_ptx(edited, module.options);
    INFO(mutant.name << "\n" << result.report);
    // lines() without a match only adds a missing newline at the end.
    const bool changed = edited != lines("no such line", nullptr)(module.ptx);
    CHECK(changed);
    const auto& reported = result.findings.empty() ? result.notes : result.findings;
    CHECK(!reported.empty());
    if (!reported.empty()) CHECK(reported[0].rule == mutant.rule);
    for (const Finding& finding : result.findings) {
      CHECK_FALSE(finding.found.empty());
      CHECK_FALSE(finding.expected.empty());
      CHECK_FALSE(finding.remedy.empty());
      CHECK(finding.ptx_line > 0);
      CHECK(finding.ptx_column > 0);
    }
    kinds.insert(mutant.rule);
  }
  CHECK(mutants().size() >= 60);
  CHECK(kinds.size() >= 20);
}
