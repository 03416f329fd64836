// The asynchronous instructions of sm_90a, each as inline assembly.
struct alignas(128) Map {
  unsigned char bytes[128];
};
extern "C" __global__ void tensor_copies(const __grid_constant__ Map map, int x, int y, unsigned long long policy) {
  extern __shared__ __align__(1024) unsigned char tile[];
  __shared__ unsigned long long barrier;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  asm volatile("prefetch.param.tensormap [%0];" ::"l"(__cvta_generic_to_grid_constant(&map)));
  unsigned elected;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.b32 %0, 1, 0, p;\n}" : "=r"(elected));
  if (elected) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(1));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(4096) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
        ::"r"(to), "l"(&map), "r"(bar), "r"(x), "r"(y) : "memory");
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster"
        ".L2::cache_hint [%0], [%1, {%3, %4, %3, %4}], [%2], {%5, %5}, %5, %6;"
        ::"r"(to), "l"(&map), "r"(bar), "r"(x), "r"(y), "h"(static_cast<short>(1)), "l"(policy) : "memory");
  }
  asm volatile(
      "{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}"
      ::"r"(bar), "r"(0) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];"
               ::"l"(&map), "r"(to), "r"(x), "r"(y) : "memory");
  asm volatile("cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%0, {%2}], [%1];"
               ::"l"(&map), "r"(to), "r"(x) : "memory");
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 1;\ncp.async.bulk.wait_group 0;");
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(bar));
}

extern "C" __global__ void bulk_copies(float* data, unsigned bytes) {
  extern __shared__ __align__(1024) unsigned char tile[];
  __shared__ unsigned long long barrier;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const unsigned bar = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  unsigned long long policy, state;
  unsigned remote, done;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;"
               ::"r"(to), "l"(data), "r"(bytes), "r"(bar), "l"(policy) : "memory");
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(bar), "r"(1));
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory");
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(bar));
  asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
               : "=r"(done) : "r"(bar), "l"(state));
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;"
               ::"l"(data), "r"(to), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(data), "r"(bytes));
  asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(to), "r"(bytes));
  asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;"
               ::"l"(data), "r"(to) : "memory");
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(data) : "memory");
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  asm volatile("griddepcontrol.wait;\ngriddepcontrol.launch_dependents;");
  if (done != 0) data[0] = static_cast<float>(remote);
}

extern "C" __global__ void products(float* out, unsigned long long a, unsigned long long b) {
  float d[4] = {};
  unsigned r[4];
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;\nwgmma.fence.sync.aligned;");
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0;\n}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b), "r"(1));
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;");
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(64));
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(1), "r"(2));
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(8), "r"(r[0]), "r"(r[1]));
  out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
