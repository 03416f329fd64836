// FlashInfer's multi-head latent attention on Hopper, whose CTAs synchronise at a grid barrier.
#include <flashinfer/attention/mla_hopper.cuh>
#include <flashinfer/attention/mla_params.cuh>

namespace flashinfer::mla {

using Parameters = MLAParams<half, half, half, int32_t>;

template cudaError_t BatchMLAPageAttentionHopper<MaskMode::kCausal, 512, 64, Parameters>(Parameters, uint32_t, uint32_t, cudaStream_t);

}  // namespace flashinfer::mla
