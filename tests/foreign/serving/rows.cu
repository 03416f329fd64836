// Kernels of FlashInfer on rows and pages: norms, rotary positions, activations, caches of keys and values,
// merged states of attention, and packed masks.

// FlashInfer defines LayerNorm for bf16 only if this macro is 1.
#define ENABLE_BF16 1

#include <flashinfer/activation.cuh>
#include <flashinfer/attention/cascade.cuh>
#include <flashinfer/norm.cuh>
#include <flashinfer/page.cuh>
#include <flashinfer/pos_enc.cuh>
#include <flashinfer/quantization.cuh>

__device__ float silu(const float& x) { return x / (1.0f + __expf(-x)); }

namespace flashinfer {

template __global__ void activation::act_and_mul_kernel<half, silu, 8>(half*, const half*, int);
template cudaError_t norm::RMSNorm<half>(half*, half*, half*, uint32_t, uint32_t, uint32_t, uint32_t, float, bool, cudaStream_t);
template cudaError_t norm::FusedAddRMSNorm<nv_bfloat16>(nv_bfloat16*, nv_bfloat16*, nv_bfloat16*, uint32_t, uint32_t, uint32_t, uint32_t,
                                                        float, bool, cudaStream_t);
template cudaError_t norm::LayerNorm<nv_bfloat16, float>(nv_bfloat16*, float*, float*, nv_bfloat16*, uint32_t, uint32_t, float, cudaStream_t);
template cudaError_t BatchQKApplyRotaryPosIds<half, int32_t>(half*, half*, half*, half*, int32_t*, uint32_t, uint32_t, uint32_t, uint32_t,
                                                             uint32_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t, size_t, bool,
                                                             float, float, cudaStream_t);
template cudaError_t AppendPagedKVCache<half, int32_t>(paged_kv_t<half, int32_t>, half*, half*, int32_t*, int32_t*, uint32_t, size_t,
                                                       size_t, size_t, size_t, cudaStream_t);
template cudaError_t MergeState<half, half>(half*, float*, half*, float*, half*, float*, uint32_t, uint32_t, uint32_t, cudaStream_t);
template cudaError_t MergeStates<half, half>(half*, float*, half*, float*, uint32_t, uint32_t, uint32_t, uint32_t, cudaStream_t);
template cudaError_t VariableLengthMergeStates<half, half, int32_t>(half*, float*, int32_t*, half*, float*, uint32_t, uint32_t*, uint32_t,
                                                                    uint32_t, bool, cudaStream_t);
template cudaError_t quantization::SegmentPackBits<int32_t>(bool*, uint8_t*, int32_t*, int32_t*, uint32_t, quantization::BitOrder,
                                                            cudaStream_t);

}  // namespace flashinfer

#include "check.cuh"

int main() {
  constexpr std::size_t rows = 3, size = 1000;
  const auto x = Array<half>::random(rows * size), weight = Array<half>::random(size);
  Array<half> y(rows * size);
  must(flashinfer::norm::RMSNorm(x.device(), weight.device(), y.device(), rows, size, size, size));
  compare("norm", y, 2e-3, [&](std::size_t i) {
    double squares = 0;
    for (std::size_t e = 0; e < size; ++e) squares += x[i / size * size + e] * x[i / size * size + e];
    return x[i] * weight[i % size] / std::sqrt(squares / size + 1e-5);
  });

  const auto pairs = Array<half>::random(rows * 2 * size);
  Array<half> gated(rows * size);
  flashinfer::activation::act_and_mul_kernel<half, silu, 8><<<rows, 128>>>(gated.device(), pairs.device(), size);
  compare("activation", gated, 1e-3, [&](std::size_t i) {
    const std::size_t at = i / size * 2 * size + i % size;
    return pairs[at] / (1 + std::exp(-pairs[at])) * pairs[at + size];
  });

  constexpr std::size_t heads = 4, head = 64, states = 5;
  const auto a = Array<half>::random(states * heads * head), b = Array<half>::random(states * heads * head);
  const auto lse_a = Array<float>::random(states * heads), lse_b = Array<float>::random(states * heads);
  Array<half> merged(states * heads * head);
  Array<float> lse_merged(states * heads);
  must(flashinfer::MergeState(a.device(), lse_a.device(), b.device(), lse_b.device(), merged.device(), lse_merged.device(), states, heads, head));
  compare("merged states", merged, 1e-3, [&](std::size_t i) {
    const double with_a = std::exp2(lse_a[i / head]), with_b = std::exp2(lse_b[i / head]);
    return (with_a * a[i] + with_b * b[i]) / (with_a + with_b);
  });
}
