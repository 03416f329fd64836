#include "ptx/opcode_rows.hpp"

#include <cstddef>
#include <iterator>
#include <tuple>

TMAJIT_BEGIN
namespace ptx {
namespace {

// Rules that many instructions share.
constexpr const char* accesses =
    "address.misaligned bank.out-of-bounds global.out-of-bounds heap.use-after-free shared.* exit.peer-* "
    "mbarrier.plain-access race.*";
constexpr const char* sends = "address.misaligned cluster.size exit.peer-writes mbarrier.* race.* shared.*";
constexpr const char* loads =
    "copy.* load.* exit.load-in-flight exit.peer-* mbarrier.* multicast.mask race.* shared.*";
constexpr const char* stores_bulk = "copy.* store.* exit.store-unread race.* shared.*";
constexpr const char* maps = "tensormap.* im2col.*";
constexpr const char* not_yet_read =
    "shared.overwritten-before-store-read load.before-store-read store.missing-barrier";
constexpr const char* proxies =
    "load.missing-proxy-fence store.late-proxy-fence store.missing-proxy-fence tensormap.not-acquired "
    "tensormap.not-released wgmma.missing-proxy-fence";
constexpr const char* mbarriers =
    "mbarrier.address mbarrier.uninitialised mbarrier.invalidated race.mbarrier";
constexpr const char* bytes = "mbarrier.bytes-overflow mbarrier.expected-bytes race.shared-*";
constexpr const char* counts = "mbarrier.arrivals mbarrier.count mbarrier.remote-state";
constexpr const char* phases =
    "deadlock mbarrier.never-waited mbarrier.parity mbarrier.unchecked-wait race.shared-*";
constexpr const char* not_waited_for = "exit.wgmma-in-flight wgmma.register-in-flight";

using enum Opcode;
using enum DataFlow;
using enum Effect;
constexpr OpcodeRow opcode_table[] = {
    {unknown, "", acts, none, nullptr},
    {add, "9.7.1 to 9.7.5", computes, none, "scalar"},
    {addc, "9.7.2", computes, none, "integer"},
    {sub, "9.7.1 to 9.7.5", computes, none, "scalar"},
    {subc, "9.7.2", computes, none, "integer"},
    {mul, "9.7.1, 9.7.3, 9.7.4", conjoins, none, "scalar"},
    {mad, "9.7.1 to 9.7.3", conjoins, none, "scalar"},
    {madc, "9.7.2", conjoins, none, "selectors"},
    {mul24, "9.7.1", conjoins, none, "integer"},
    {mad24, "9.7.1", conjoins, none, "integer"},
    {sad, "9.7.1", computes, none, "scalar"},
    {div, "9.7.1, 9.7.3", computes, none, "scalar"},
    {rem, "9.7.1", computes, none, "scalar"},
    {abs, "9.7.1, 9.7.3, 9.7.4", computes, none, "scalar"},
    {neg, "9.7.1, 9.7.3, 9.7.4", computes, none, "scalar"},
    {min, "9.7.1, 9.7.3, 9.7.4", computes, none, "scalar"},
    {max, "9.7.1, 9.7.3, 9.7.4", computes, none, "scalar"},
    {popc, "9.7.1", computes, none, "scalar"},
    {clz, "9.7.1", computes, none, "scalar"},
    {bfind, "9.7.1", computes, none, "scalar"},
    {fns, "9.7.1", computes, none, "integer"},
    {brev, "9.7.1", computes, none, "scalar"},
    {bfe, "9.7.1", computes, none, "scalar"},
    {bfi, "9.7.1", joins, none, "scalar"},
    {szext, "9.7.1", computes, none, "integer"},
    {bmsk, "9.7.1", computes, none, "integer"},
    {dp4a, "9.7.1", computes, none, "integer"},
    {dp2a, "9.7.1", computes, none, "integer"},
    {testp, "9.7.3", computes, none, "atomic"},
    {copysign, "9.7.3", computes, none, "selectors"},
    {fma, "9.7.3 to 9.7.5", computes, none, "scalar"},
    {rcp, "9.7.3", computes, none, "selectors"},
    {sqrt, "9.7.3", computes, none, "scalar"},
    {rsqrt, "9.7.3", computes, none, "selectors"},
    {sin, "9.7.3", computes, none, "selectors"},
    {cos, "9.7.3", computes, none, "selectors"},
    {lg2, "9.7.3", computes, none, "selectors"},
    {ex2, "9.7.3, 9.7.4", computes, none, "half"},
    {tanh, "9.7.3, 9.7.4", computes, none, "half"},
    {set, "9.7.6, 9.7.7", computes, none, "half"},
    {setp, "9.7.6, 9.7.7", computes, none, "scalar"},
    {selp, "9.7.6", selects, none, "warp"},
    {slct, "9.7.6", joins, none, "integer"},
    {and_, "9.7.8", conjoins, none, "undefined"},
    {or_, "9.7.8", disjoins, none, "undefined"},
    {xor_, "9.7.8", computes, none, "undefined"},
    {not_, "9.7.8", computes, none, "scalar"},
    {cnot, "9.7.8", computes, none, "selectors"},
    {lop3, "9.7.8", joins, none, "integer"},
    {shf, "9.7.8", joins, none, "scalar"},
    {shl, "9.7.8", computes, none, "scalar"},
    {shr, "9.7.8", computes, none, "scalar"},
    {mov, "9.7.9", computes, none, "scalar"},
    {shfl, "9.7.9", shuffles, none, "warp_meeting", {"warp.*"}},
    {prmt, "9.7.9", joins, none, "integer"},
    {ld, "9.7.9", defines, reads, "memory", {accesses}},
    {ldu, "9.7.9", defines, reads, "selectors", {accesses}},
    {st, "9.7.9", stores, writes, "memory", {accesses, "address.read-only"}},
    {st_async, "9.7.9", acts, remote_copy, "cluster", {sends}},
    {st_bulk, "9.7.9", acts, none, nullptr},
    {prefetch, "9.7.9", defines, none, "selectors"},
    {prefetch_tensormap, "9.7.9", acts, uses_map, "selectors", {"tensormap.*"}},
    {prefetchu, "9.7.9", defines, none, "selectors"},
    {applypriority, "9.7.9", acts, none, "selectors"},
    {discard, "9.7.9", acts, none, "selectors"},
    {createpolicy_range, "9.7.9", computes, none, "selectors"},
    {createpolicy_fractional, "9.7.9", computes, none, "selectors"},
    {createpolicy_cvt, "9.7.9", computes, none, "selectors"},
    {isspacep, "9.7.9", computes, none, "cluster"},
    {cvta, "9.7.9", computes, none, "atomic"},
    {cvta_to, "9.7.9", computes, none, "selectors"},
    {cvt, "9.7.9", computes, none, "scalar"},
    {cvt_pack, "9.7.9", joins, none, "integer"},
    {mapa, "9.7.9", computes, none, "cluster", {"shared.cluster-rank"}},
    {getctarank, "9.7.9", computes, none, "cluster", {"shared.cluster-rank"}},
    {multimem_ld_reduce, "9.7.9", acts, none, nullptr},
    {multimem_st, "9.7.9", acts, none, nullptr},
    {multimem_red, "9.7.9", acts, none, nullptr},
    {cp_async, "9.7.9", acts, none, "warp", {accesses, "copy.size exit.load-in-flight load.out-of-bounds"}},
    {cp_async_commit_group, "9.7.9", acts, none, "warp"},
    {cp_async_wait_group, "9.7.9", acts, waits, "warp"},
    {cp_async_wait_all, "9.7.9", acts, waits, "warp"},
    {cp_async_mbarrier_arrive, "9.7.9", acts, none, "warp", {"mbarrier.uninitialised"}},
    {cp_async_bulk, "9.7.9", acts, bulk_copy, "cluster", {loads, stores_bulk}},
    {cp_reduce_async_bulk, "9.7.9", acts, bulk_copy, "reduction", {stores_bulk, "reduce.type"}},
    {cp_async_bulk_prefetch, "9.7.9", acts, bulk_prefetch, "undefined", {"copy.global-alignment"}},
    {cp_async_bulk_tensor_load, "9.7.9", acts, tensor_load, "im2col", {loads, maps}},
    {cp_async_bulk_tensor_store, "9.7.9", acts, tensor_store, "im2col", {stores_bulk, maps}},
    {cp_reduce_async_bulk_tensor,
     "9.7.9",
     acts,
     tensor_store,
     "reduction",
     {stores_bulk, maps, "reduce.type"}},
    {cp_async_bulk_prefetch_tensor, "9.7.9", acts, tensor_prefetch, "im2col", {maps}},
    {cp_async_bulk_commit_group, "9.7.9", acts, commits, "tensormap"},
    {cp_async_bulk_wait_group, "9.7.9", acts, waits_for_group, "causes", {not_yet_read}},
    {tensormap_replace, "9.7.9", acts, changes_map, "tensormap", {"tensormap.*"}},
    {tensormap_cp_fenceproxy, "9.7.9", acts, changes_map, "tensormap", {"tensormap.*"}},
    {texture, "9.7.10", acts, none, nullptr},
    {surface, "9.7.11", acts, none, nullptr},
    {bra, "9.7.12", acts, none, "cluster"},
    {brx_idx, "9.7.12", acts, none, "selectors", {"branch.index"}},
    {call, "9.7.12", defines, calls, "call", {"call.* heap.* trap"}},
    {ret, "9.7.12", acts, none, "call"},
    {exit, "9.7.12", acts, none, "cluster_exit"},
    {trap, "9.7.19", acts, none, "reports", {"trap"}},
    {brkpt, "9.7.19", acts, none, "selectors"},
    {bar_sync, "9.7.13", acts, synchronises, "assembly", {"barrier.* deadlock warp.diverged"}},
    {bar_arrive, "9.7.13", acts, none, "assembly", {"barrier.* warp.diverged"}},
    {bar_red, "9.7.13", acts, synchronises, "assembly", {"barrier.* deadlock warp.diverged"}},
    {bar_warp_sync, "9.7.13", acts, synchronises, "warp_meeting", {"warp.*"}},
    {barrier_cluster_arrive, "9.7.13", acts, none, "assembly", {"cluster-barrier.* warp.diverged"}},
    {barrier_cluster_wait,
     "9.7.13",
     acts,
     synchronises,
     "cluster",
     {"cluster-barrier.* deadlock warp.diverged"}},
    {membar, "9.7.13", acts, none, "selectors"},
    {fence, "9.7.13", acts, none, "race"},
    {fence_mbarrier_init, "9.7.13", acts, init_fence, "cluster", {"mbarrier.init-not-fenced"}},
    {fence_proxy, "9.7.13", acts, proxy_fence, "tensormap", {proxies}},
    {atom, "9.7.13", acts, updates, "atomic", {accesses, "address.read-only"}},
    {red, "9.7.13", acts, writes, "cluster", {accesses, "address.read-only"}},
    {red_async, "9.7.13", acts, remote_copy, "cluster", {sends}},
    {vote, "9.7.13", meets, none, "warp_meeting", {"warp.*"}},
    {match, "9.7.13", meets, none, "warp", {"warp.*"}},
    {activemask, "9.7.13", acts, none, "selectors"},
    {redux, "9.7.13", meets, none, "warp_meeting", {"warp.*"}},
    {griddepcontrol, "9.7.13", acts, waits, "overlap", {"race.launch-before"}},
    {elect, "9.7.13", acts, none, "warp", {"warp.*"}},
    {mbarrier_init,
     "9.7.13",
     acts,
     initialises,
     "causes",
     {mbarriers, counts, "mbarrier.initialised-twice mbarrier.onto-copy"}},
    {mbarrier_inval, "9.7.13", acts, invalidates, "selectors", {mbarriers}},
    {mbarrier_expect_tx, "9.7.13", acts, expects, "expected_bytes", {mbarriers, bytes}},
    {mbarrier_complete_tx, "9.7.13", acts, remote_copy, "selectors", {mbarriers, bytes}},
    {mbarrier_arrive, "9.7.13", acts, arrives, "causes", {mbarriers, bytes, counts}},
    {mbarrier_arrive_drop, "9.7.13", acts, arrives, "selectors", {mbarriers, bytes, counts}},
    {mbarrier_test_wait, "9.7.13", acts, waits_for_phase, "warp", {mbarriers, phases}},
    {mbarrier_try_wait, "9.7.13", acts, waits_for_phase, "warp", {mbarriers, phases}},
    {mbarrier_pending_count, "9.7.13", computes, none, "warp"},
    {ldmatrix, "9.7.14", defines, none, "matrix", {accesses}},
    {stmatrix, "9.7.14", hands_over, writes_matrix, "same_value_race", {accesses, "address.read-only"}},
    {movmatrix, "9.7.14", transposes, none, "undefined"},
    {mma, "9.7.14", fragments, none, "matrix"},
    {wmma, "9.7.14", hands_over, moves_fragments, "wmma", {accesses, "address.read-only wmma.operands"}},
    {wgmma_mma_async,
     "9.7.15",
     fragments,
     none,
     "wgmma",
     {"copy.swizzle-base race.shared-* shared.* wgmma.*", not_waited_for}},
    {wgmma_fence, "9.7.15", acts, none, "wgmma", {"wgmma.missing-fence wgmma.warpgroup"}},
    {wgmma_commit_group, "9.7.15", acts, none, "wgmma", {"wgmma.warpgroup"}},
    {wgmma_wait_group, "9.7.15", acts, waits, "wgmma", {"wgmma.warpgroup", not_waited_for}},
    {stacksave, "9.7.17", acts, none, "atomic"},
    {stackrestore, "9.7.17", acts, none, "atomic"},
    {alloca_, "9.7.17", acts, none, "atomic", {"call.depth"}},
    {video, "9.7.18", computes, none, "video"},
    {nanosleep, "9.7.19", acts, none, "selectors"},
    {pmevent, "9.7.19", acts, none, "selectors"},
    {setmaxnreg, "9.7.19", acts, none, "setmaxnreg", {"setmaxnreg.*"}},
};
static_assert(std::size(opcode_table) == static_cast<std::size_t>(setmaxnreg) + 1);
static_assert(
    [] {
      for (std::size_t i = 0; i < std::size(opcode_table); ++i) {
        if (opcode_table[i].opcode != static_cast<Opcode>(i)) return false;
      }
      return true;
    }(),
    "one row for each opcode, in the order of the enumeration");

}  // namespace

llvm::ArrayRef<OpcodeRow> opcode_rows() noexcept {
  return opcode_table;
}

bool separates(Opcode opcode) noexcept {
  switch (row_of(opcode).effect) {
    case synchronises:
    case waits_for_phase:
    case waits_for_group:
    case waits: return true;
    default: return false;
  }
}

bool concerns(llvm::StringRef rules, llvm::StringRef rule) noexcept {
  while (!rules.empty()) {
    llvm::StringRef pattern;
    std::tie(pattern, rules) = rules.split(' ');
    if (pattern.consume_back("*") ? std::string_view(rule).starts_with(std::string_view(pattern))
                                  : rule == pattern)
      return true;
  }
  return false;
}

}  // namespace ptx
TMAJIT_END
