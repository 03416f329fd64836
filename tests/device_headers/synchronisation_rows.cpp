#include "device_headers/rows.hpp"

#include <spdlog/fmt/fmt.h>

namespace tests {

std::vector<HeaderRow> synchronisation_rows() {
  std::vector<HeaderRow> rows{
      {"ptx::mbarrier::init(512, 7);", "mbarrier.init.shared::cta.b64 [512], 7;", "SYNCS.EXCH.64"},
      {"ptx::mbarrier::invalidate(512);", "mbarrier.inval.shared::cta.b64 [512];", "SYNCS.CCTL.IV"},
      {"ptx::mbarrier::arrive(512);", "mbarrier.arrive.shared::cta.b64 _, [512];", "SYNCS.ARRIVE.TRANS64"},
      {"ptx::mbarrier::arrive_count(512, 3);", "mbarrier.arrive.shared::cta.b64 _, [512], 3;",
       "SYNCS.ARRIVE.TRANS64"},
      {"out64[0] = ptx::mbarrier::arrive_for_token(512).state;",
       "mbarrier.arrive.shared::cta.b64 wide0, [512];", "SYNCS.ARRIVE.TRANS64"},
      {"out64[0] = ptx::mbarrier::arrive_expect_tx_for_token(512, 4096).state;",
       "mbarrier.arrive.expect_tx.shared::cta.b64 wide0, [512], 4096;", "SYNCS.ARRIVE.TRANS64"},
      {"ptx::mbarrier::arrive_and_drop(512);", "mbarrier.arrive_drop.shared::cta.b64 _, [512];",
       "SYNCS.ARRIVE.TRANS64.OPTOUT"},
      {"ptx::mbarrier::arrive_remote(512);", "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [512];",
       "SYNCS.ARRIVE.TRANS64.RED"},
      {"ptx::mbarrier::arrive_remote_of_reader(512);", "mbarrier.arrive.shared::cluster.b64 _, [512];",
       "SYNCS.ARRIVE.TRANS64.RED"},
      {"ptx::mbarrier::arrive_expect_tx_remote(512, 4096);",
       "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [512], 4096;",
       "SYNCS.ARRIVE.TRANS64.RED"},
      {"ptx::mbarrier::expect_tx_remote(512, 4096);",
       "mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [512], 4096;", "SYNCS.ARRIVE.TRANS64.RED"},
      {"ptx::mbarrier::expect_tx(512, 4096);", "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [512], 4096;",
       "SYNCS"},
      {"ptx::mbarrier::arrive_expect_tx(512, 4096);",
       "mbarrier.arrive.expect_tx.shared::cta.b64 _, [512], 4096;", "SYNCS.ARRIVE.TRANS64"},
      {"out[0] = ptx::mbarrier::test_wait(512, 1);",
       "mbarrier.test_wait.parity.shared::cta.b64 done, [512], 1;", "SYNCS.PHASECHK.TRANS64"},
      {"out[0] = ptx::mbarrier::try_wait(512, 1);",
       "mbarrier.try_wait.parity.shared::cta.b64 done, [512], 1;", "SYNCS.PHASECHK.TRANS64.TRYWAIT"},
      {"out[0] = ptx::mbarrier::try_wait_of_cluster(512, 1);",
       "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [512], 1;",
       "SYNCS.PHASECHK.TRANS64.TRYWAIT"},
      {"out[0] = ptx::mbarrier::test_wait_for(512, {wide});",
       "mbarrier.test_wait.shared::cta.b64 done, [512], wide;", "SYNCS.PHASECHK.TRANS64"},
      {"out[0] = ptx::mbarrier::try_wait_for(512, {wide});",
       "mbarrier.try_wait.shared::cta.b64 done, [512], wide;", "SYNCS.PHASECHK.TRANS64.TRYWAIT"},
      {"ptx::mbarrier::wait(512, 1);", "mbarrier.try_wait.parity.shared::cta.b64 done, [512], 1;",
       "SYNCS.PHASECHK.TRANS64.TRYWAIT"},
      {"ptx::mbarrier::wait_for(512, {wide});", "mbarrier.try_wait.shared::cta.b64 done, [512], wide;",
       "SYNCS.PHASECHK.TRANS64.TRYWAIT"},
      {"ptx::mbarrier::wait_of_cluster(512, 1);",
       "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [512], 1;",
       "SYNCS.PHASECHK.TRANS64.TRYWAIT"},

      {"ptx::store_async(256, u32{77}, 512);",
       "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [256], 77, [512];", "STAS"},
      {"ptx::store_async(256, wide, 512);",
       "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [256], wide, [512];", "STAS.64"},
      {"ptx::store_async(256, words2, 512);",
       "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [256], {70, 71}, [512];",
       "STAS.64"},
      {"ptx::store_async(256, words4, 512);",
       "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [256], {70, 71, 72, 73}, [512];",
       "STAS.128"},
      {"ptx::store_async(256, wides2, 512);",
       "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [256], {80, 81}, [512];",
       "STAS.128"},

      {"ptx::commit_group();", "cp.async.bulk.commit_group;", "UTMACMDFLUSH"},
      {"ptx::wait_group<3>();", "cp.async.bulk.wait_group 3;", "DEPBAR"},
      {"ptx::wait_group_read<3>();", "cp.async.bulk.wait_group.read 3;", "DEPBAR"},
      {"ptx::close_async_group();", "cp.async.commit_group;", "LDGDEPBAR"},
      {"ptx::wait_async_groups<3>();", "cp.async.wait_group 3;", "DEPBAR"},
      {"ptx::wait_async_copies();", "cp.async.wait_all;", "DEPBAR"},

      {"ptx::fence_mbarrier_init();", "fence.mbarrier_init.release.cluster;", ""},
      {"ptx::fence_proxy_async();", "fence.proxy.async;", "FENCE.VIEW.ASYNC"},
      {"ptx::fence_proxy_async_global();", "fence.proxy.async.global;", "FENCE.VIEW.ASYNC.G"},
      {"ptx::fence_proxy_async_shared();", "fence.proxy.async.shared::cta;", "FENCE.VIEW.ASYNC.S"},
      {"ptx::fence_proxy_async_cluster();", "fence.proxy.async.shared::cluster;", "FENCE.VIEW.ASYNC.S"},
      {"ptx::fence_cta();", "fence.acq_rel.cta;", ""},
      {"ptx::fence_cluster();", "fence.acq_rel.cluster;", "MEMBAR"},
      {"ptx::fence_gpu();", "fence.acq_rel.gpu;", "MEMBAR.ALL.GPU"},
      {"ptx::fence_sys();", "fence.acq_rel.sys;", "MEMBAR.ALL.SYS"},

      {"ptx::sync_threads<3, 64>();", "barrier.sync.aligned 3, 64;", "BAR.SYNC"},
      {"ptx::sync_threads_at(3, 64);", "barrier.sync.aligned 3, 64;", "BAR.SYNC"},
      {"ptx::arrive_at_threads(3, 64);", "barrier.arrive.aligned 3, 64;", "BAR.ARV"},
      {"out[0] = ptx::elect();", "elect.sync _|elected, 4294967295;", "ELECT"},

      {"ptx::arrive_at_cluster();", "barrier.cluster.arrive.release.aligned;", "UCGABAR_ARV"},
      {"ptx::arrive_at_cluster_relaxed();", "barrier.cluster.arrive.relaxed.aligned;", "UCGABAR_ARV"},
      {"ptx::wait_for_cluster();", "barrier.cluster.wait.acquire.aligned;", "UCGABAR_WAIT"},
      {"ptx::sync_cluster();", "barrier.cluster.arrive.release.aligned;", "UCGABAR_ARV"},
      {"ptx::sync_cluster();", "barrier.cluster.wait.acquire.aligned;", "UCGABAR_WAIT"},
      {"out[0] = ptx::map_to_cta(256, 3);", "mapa.shared::cluster.u32 out0, 256, 3;", ""},
      {"out[0] = ptx::cta_of(256);", "getctarank.shared::cluster.u32 out0, 256;", ""},
      {"out[0] = ptx::cluster_ctarank();", "mov.u32 out0, %cluster_ctarank;", "SR_CgaCtaId"},
      {"out[0] = ptx::cluster_nctarank();", "mov.u32 out0, %cluster_nctarank;", ""},
      {"out[0] = ptx::is_explicit_cluster();", "mov.pred is, %is_explicit_cluster;", ""},
      {"ptx::launch_dependents();", "griddepcontrol.launch_dependents;", "PREEXIT"},
      {"ptx::wait_for_prerequisites();", "griddepcontrol.wait;", "ACQBULK"},
  };
  for (const char* name : {"clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"}) {
    int word = 0;
    for (const char* part : {"x", "y", "z"}) {
      rows.push_back(
          {fmt::format("const uint3 at = ptx::{}(); out[0] = at.x; out[1] = at.y; out[2] = at.z;", name),
           fmt::format("mov.u32 out{}, %{}.{};", word++, name, part), ""});
    }
  }
  return rows;
}

}  // namespace tests
