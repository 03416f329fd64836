// FlashInfer's attention of many tokens on Hopper: warp-specialised kernels with wgmma that load by TMA, or
// by cp.async from pages.
#include <flashinfer/attention/hopper/default_params.cuh>
#include <flashinfer/attention/hopper/prefill_sm90.cuh>
#include <flashinfer/attention/hopper/variants.cuh>

namespace flashinfer {

using cutlass::half_t;
using Single = SinglePrefillParams<half_t, half_t, half_t>;
using Paged = BatchPrefillPagedParams<half_t, half_t, half_t, int32_t>;
using Ragged = BatchPrefillRaggedParams<half_t, half_t, half_t, int32_t>;

template cudaError_t SinglePrefillWithKVCacheDispatched<128, 128, MaskMode::kCausal, false, StandardAttention, Single>(Single&,
                                                                                                                      cudaStream_t);
template cudaError_t BatchPrefillWithRaggedKVCacheDispatched<64, 64, MaskMode::kNone, false, true, StandardAttention, Ragged>(Ragged&, bool,
                                                                                                                             cudaStream_t);
template cudaError_t BatchPrefillWithPagedKVCacheDispatched<128, 128, MaskMode::kCausal, false, true, StandardAttention, Paged>(
    Paged&, bool, cudaStream_t);

}  // namespace flashinfer

#include "check.cuh"

int main() {
  using flashinfer::half_t;
  constexpr std::size_t rows = 200, keys = 300, query_heads = 2, heads = 1, size = 128;
  const auto q = Array<half_t>::random(rows * query_heads * size);
  const auto k = Array<half_t>::random(keys * heads * size), v = Array<half_t>::random(keys * heads * size);
  Array<half_t> o(q.host.size());
  flashinfer::Single parameters{};
  parameters.q_ptr = q.device();
  parameters.k_ptr = k.device();
  parameters.v_ptr = v.device();
  parameters.o_ptr = o.device();
  parameters.additional_params.sm_scale = 1 / std::sqrt(float(size));
  parameters.q_stride_n = parameters.o_stride_n = query_heads * size;
  parameters.k_stride_n = parameters.v_stride_n = heads * size;
  parameters.q_stride_h = parameters.k_stride_h = parameters.v_stride_h = parameters.o_stride_h = size;
  parameters.qo_len = rows;
  parameters.kv_len = keys;
  parameters.num_qo_heads = query_heads;
  parameters.num_kv_heads = heads;
  parameters.group_size = query_heads / heads;
  parameters.window_left = -1;
  parameters.causal = true;
  must(flashinfer::SinglePrefillWithKVCacheDispatched<size, size, flashinfer::MaskMode::kCausal, false, flashinfer::StandardAttention>(
      parameters, nullptr));
  compare("attention", o, 2e-3, [&](std::size_t i) {
    const std::size_t row = i / size / query_heads;
    return attention(q, i / size * size, k, v, keys - rows + row + 1, size, i % size, [&](std::size_t n) { return n * heads * size; });
  });
}
