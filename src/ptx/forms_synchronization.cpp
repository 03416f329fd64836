#include "ptx/forms.hpp"

TMAJIT_BEGIN
namespace ptx {

// PTX ISA 9.7.13 without its atomics.
llvm::ArrayRef<FormRow> synchronization_forms() noexcept {
  static constexpr FormRow rows[] = {
      {Opcode::bar_sync, "bar", "cta? sync", "s s?"},
      {Opcode::bar_arrive, "bar", "cta? arrive", "s s"},
      {Opcode::bar_red, "bar", "cta? red popc u32", "d s s? p"},
      {Opcode::bar_red, "bar", "cta? red and|or pred", "d s s? p"},
      {Opcode::bar_warp_sync, "bar.warp.sync", "", "s"},
      {Opcode::bar_sync, "barrier", "cta? sync aligned?", "s s?"},
      {Opcode::bar_arrive, "barrier", "cta? arrive aligned?", "s s"},
      {Opcode::bar_red, "barrier", "cta? red popc aligned? u32", "d s s? p"},
      {Opcode::bar_red, "barrier", "cta? red and|or aligned? pred", "d s s? p"},
      {Opcode::barrier_cluster_arrive, "barrier.cluster.arrive", "release|relaxed? aligned?", ""},
      {Opcode::barrier_cluster_wait, "barrier.cluster.wait", "acquire? aligned?", ""},

      {Opcode::membar, "membar", "cta|gl|sys", ""},
      {Opcode::fence, "fence", "sc|acq_rel|acquire|release? SCOPE", ""},
      {Opcode::fence, "fence.acquire", "sync_restrict::shared::cluster cluster", ""},
      {Opcode::fence, "fence.release", "sync_restrict::shared::cta cluster", ""},
      {Opcode::fence_mbarrier_init, "fence.mbarrier_init", "release cluster", ""},
      {Opcode::fence_proxy, "membar.proxy", "alias|async", ""},
      {Opcode::fence_proxy, "membar.proxy.async", "global|SHARED", ""},
      {Opcode::fence_proxy, "fence.proxy", "alias|async", ""},
      {Opcode::fence_proxy, "fence.proxy.async", "global|SHARED", ""},
      {Opcode::fence_proxy, "fence.proxy", "tensormap::generic release SCOPE", ""},
      {Opcode::fence_proxy, "fence.proxy", "tensormap::generic acquire SCOPE", "m k"},
      {Opcode::fence_proxy, "fence.proxy.async::generic.acquire", "sync_restrict::shared::cluster cluster",
       ""},
      {Opcode::fence_proxy, "fence.proxy.async::generic.release", "sync_restrict::shared::cta cluster", ""},

      {Opcode::vote, "vote.sync", "all|any|uni pred", "d p s"},
      {Opcode::vote, "vote.sync", "ballot b32", "d p s"},
      {Opcode::match, "match", "any sync BIT2", "d s s"},
      {Opcode::match, "match", "all sync BIT2", "e s s"},
      {Opcode::activemask, "activemask", "b32", "d"},
      {Opcode::redux, "redux.sync", "add|min|max INT32", "d s s"},
      {Opcode::redux, "redux.sync", "BOOL b32", "d s s"},
      {Opcode::redux, "redux.sync", "min|max abs? NaN? f32", "d s s"},
      {Opcode::elect, "elect.sync", "", "e s"},
      {Opcode::griddepcontrol, "griddepcontrol", "launch_dependents|wait", ""},

      {Opcode::mbarrier_init, "mbarrier.init", "SHARED_CTA? b64", "m s"},
      {Opcode::mbarrier_inval, "mbarrier.inval", "SHARED_CTA? b64", "m"},
      // Scope before space is the ISA's order; ptxas takes, and CUTLASS writes, the other one too.
      {Opcode::mbarrier_expect_tx, "mbarrier.expect_tx", "relaxed? SCOPE? SHARED? b64", "m s"},
      {Opcode::mbarrier_expect_tx, "mbarrier.expect_tx", "SHARED relaxed SCOPE b64", "m s"},
      {Opcode::mbarrier_complete_tx, "mbarrier.complete_tx", "relaxed? SCOPE? SHARED? b64", "m s"},
      {Opcode::mbarrier_complete_tx, "mbarrier.complete_tx", "SHARED relaxed SCOPE b64", "m s"},
      {Opcode::mbarrier_arrive, "mbarrier.arrive", "release|relaxed? cta|cluster? SHARED? b64", "d m s?"},
      {Opcode::mbarrier_arrive, "mbarrier.arrive", "expect_tx release|relaxed? cta|cluster? SHARED? b64",
       "d m s"},
      {Opcode::mbarrier_arrive, "mbarrier.arrive", "noComplete release? cta? SHARED_CTA? b64", "d m s"},
      {Opcode::mbarrier_arrive_drop, "mbarrier.arrive_drop", "release|relaxed? cta|cluster? SHARED? b64",
       "d m s?"},
      {Opcode::mbarrier_arrive_drop, "mbarrier.arrive_drop",
       "expect_tx release|relaxed? cta|cluster? SHARED? b64", "d m s"},
      {Opcode::mbarrier_arrive_drop, "mbarrier.arrive_drop", "noComplete release? cta? SHARED_CTA? b64",
       "d m s"},
      {Opcode::mbarrier_test_wait, "mbarrier.test_wait",
       "parity? acquire|relaxed? cta|cluster? SHARED_CTA? b64", "d m s"},
      {Opcode::mbarrier_try_wait, "mbarrier.try_wait",
       "parity? acquire|relaxed? cta|cluster? SHARED_CTA? b64", "d m s s?"},
      {Opcode::mbarrier_pending_count, "mbarrier.pending_count", "b64", "d s"},
  };
  return rows;
}

}  // namespace ptx
TMAJIT_END
