// Kernels of FlashInfer that sample a token from a row of probabilities, and that find a row's largest
// values.
#include <flashinfer/sampling.cuh>
#include <flashinfer/topk.cuh>

namespace flashinfer::sampling {

template cudaError_t OnlineSoftmax<float>(float*, float*, uint32_t, uint32_t, float*, float, void*, size_t, bool, cudaStream_t);
template cudaError_t SamplingFromLogits<float, int32_t>(float*, int32_t*, int32_t*, uint32_t, uint32_t, bool, uint64_t*, uint64_t,
                                                        uint64_t*, uint64_t, cudaStream_t, uint32_t, uint32_t);
template cudaError_t TopKTopPSamplingFromProb<float, int32_t>(float*, int32_t*, float*, int32_t*, bool*, int32_t*, uint32_t, int32_t, float,
                                                              uint32_t, bool, uint64_t*, uint64_t, uint64_t*, uint64_t, cudaStream_t,
                                                              uint32_t, uint32_t);
template cudaError_t MinPSamplingFromProb<float, int32_t>(float*, float*, int32_t*, bool*, int32_t*, uint32_t, float, uint32_t, bool,
                                                          uint64_t*, uint64_t, uint64_t*, uint64_t, cudaStream_t, uint32_t, uint32_t);
template cudaError_t TopPRenormProb<float>(float*, float*, float*, uint32_t, float, uint32_t, cudaStream_t);
template cudaError_t ChainSpeculativeSampling<float, int32_t>(float*, int32_t*, float*, int32_t*, int32_t*, int32_t*, uint32_t, uint32_t,
                                                              uint32_t, bool, uint64_t*, uint64_t, uint64_t*, uint64_t, cudaStream_t,
                                                              uint32_t, uint32_t);
template cudaError_t RadixTopKMaskLogitsMultiCTA<float, int32_t>(float*, float*, int32_t*, uint32_t, uint32_t, uint32_t, RadixRowState*,
                                                                 cudaStream_t);

}  // namespace flashinfer::sampling

#include "check.cuh"

int main() {
  for (const std::size_t size : {1000, 32768}) {  // several CTAs share a row of 32768
    constexpr std::size_t rows = 2;
    auto logits = Array<float>::random(rows * size);
    Array<float> probabilities(rows * size);
    Array<char> workspace(1 << 16);
    must(flashinfer::sampling::OnlineSoftmax<float>(logits.device(), probabilities.device(), rows, size, nullptr, 0.5f, workspace.device(),
                                                    workspace.host.size(), true));
    std::vector<double> sums(rows);
    for (std::size_t i = 0; i < rows * size; ++i) sums[i / size] += std::exp(logits[i] / 0.5);
    compare("softmax", probabilities, 1e-6, [&](std::size_t i) { return std::exp(logits[i] / 0.5) / sums[i / size]; });

    Array<float> renormed(rows * size);
    must(flashinfer::sampling::TopPRenormProb(probabilities.device(), renormed.device(), static_cast<float*>(nullptr), rows, 0.5f, size));
    must(cudaDeviceSynchronize());
    renormed.download();
    // Renormalisation keeps as few of the largest probabilities as have a sum of at least 0.5, and scales this
    // sum to 1.
    std::vector<double> kept(rows), all(rows), smallest_kept(rows, 1), largest_dropped(rows);
    for (std::size_t i = 0; i < rows * size; ++i) {
      const std::size_t row = i / size;
      all[row] += renormed[i];
      if (renormed[i] > 0) {
        kept[row] += probabilities[i];
        smallest_kept[row] = std::min(smallest_kept[row], probabilities[i]);
      } else {
        largest_dropped[row] = std::max(largest_dropped[row], probabilities[i]);
      }
    }
    bool right = true;
    for (std::size_t row = 0; row < rows; ++row)
      right = right && std::abs(all[row] - 1) < 1e-3 && kept[row] > 0.499 && kept[row] < 0.52 &&
              smallest_kept[row] >= largest_dropped[row];
    std::printf("the likeliest: %s\n", right ? "right" : "wrong");
  }
}
