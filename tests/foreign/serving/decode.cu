// FlashInfer's attention of one token for each request over a paged cache of keys and values.
#include <flashinfer/attention/decode.cuh>
#include <flashinfer/attention/default_decode_params.cuh>
#include <flashinfer/attention/variants.cuh>

namespace flashinfer {

using Parameters = BatchDecodeParams<half, half, half, int32_t>;
using Plain = DefaultAttention<false, false, false, false>;
using Capped = DefaultAttention<false, true, true, false>;

template cudaError_t BatchDecodeWithPagedKVCacheDispatched<128, PosEncodingMode::kNone, Plain, Parameters>(Parameters, half*, float*, bool,
                                                                                                          cudaStream_t);
template cudaError_t BatchDecodeWithPagedKVCacheDispatched<64, PosEncodingMode::kRoPELlama, Capped, Parameters>(Parameters, half*, float*,
                                                                                                               bool, cudaStream_t);

}  // namespace flashinfer

#include "check.cuh"

int main() {
  constexpr std::size_t requests = 2, heads = 2, query_heads = 4, size = 128, page = 16, pages = 7;
  auto q = Array<half>::random(requests * query_heads * size);
  auto k = Array<half>::random(pages * page * heads * size), v = Array<half>::random(pages * page * heads * size);
  Array<half> o(q.host.size());
  // Two requests of 53 and 37 tokens, whose pages are in arbitrary order.
  const Array<int32_t> table({5, 0, 3, 6, 1, 4, 2}), begins({0, 4, 7}), last({5, 5}), numbers({0, 1}), zeros({0, 0}), chunk({64});
  const std::size_t lengths[] = {53, 37};
  flashinfer::paged_kv_t<half, int32_t> cache(heads, page, size, requests, flashinfer::QKVLayout::kNHD, k.device(), v.device(),
                                              table.device(), begins.device(), last.device());
  flashinfer::Parameters parameters(q.device(), nullptr, cache, o.device(), nullptr, nullptr, query_heads, query_heads * size, size, -1, 0,
                                    1 / std::sqrt(float(size)), 1, 1e4f);
  parameters.padded_batch_size = requests;
  parameters.request_indices = numbers.device();
  parameters.kv_tile_indices = zeros.device();
  parameters.o_indptr = numbers.device();
  parameters.kv_chunk_size_ptr = chunk.device();
  must(flashinfer::BatchDecodeWithPagedKVCacheDispatched<size, flashinfer::PosEncodingMode::kNone, flashinfer::Plain, flashinfer::Parameters>(
      parameters, nullptr, nullptr, false, nullptr));
  compare("attention", o, 2e-3, [&](std::size_t i) {
    const std::size_t row = i / size, request = row / query_heads, head = row % query_heads / (query_heads / heads);
    return attention(q, row * size, k, v, lengths[request], size, i % size, [&](std::size_t n) {
      const std::size_t at = table.host[begins.host[request] + n / page] * page + n % page;
      return (at * heads + head) * size;
    });
  });
}
