// bulk: out[n] = f(in[n]) over one-dimensional memory of any length and alignment, in place or not.
//
// Bulk copies move multiples of 16 bytes between addresses that are multiples of 16. The part of both arrays
// that is so aligned goes through a ring of stages as in map, chunk by chunk; threads compute the elements before
// and after it one by one. Where no element is aligned in both arrays, results are stored element by element.
#include "tmajit/bulk.cuh"
#include "tmajit/bulk_group.cuh"
#include "tmajit/elect.cuh"
#include "tmajit/elementwise.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/ring.cuh"
#include "tmajit/shared_memory.cuh"
#include "tmajit/sync.cuh"
#include "tmajit/tile_walk.cuh"

namespace tmajit {

using In = Input<0>;
using CtaShare = Share<tiles_per_cta>;
constexpr u32 chunk = tile().at[0];

// 16 elements of any type are a multiple of 16 bytes.
constexpr u32 granule = 16;

// How the elements are split: [0, head) one by one, [head, head + body) in chunks, the rest one by one.
struct Split {
  u64 head;
  u64 body;
  bool direct;  // threads store results: bulk stores cannot

  __device__ __forceinline__ Split(const In::Element* in, const Output::Element* out, u64 count) {
    const auto aligned = [](const auto* pointer, u32 n) { return reinterpret_cast<u64>(pointer + n) % 16 == 0; };
    u32 in_aligned = granule;
    u32 both_aligned = granule;
    for (u32 n = granule; n-- > 0;) {
      if (aligned(in, n)) in_aligned = n;
      if (aligned(in, n) && aligned(out, n)) both_aligned = n;
    }
    direct = both_aligned == granule;
    head = direct ? in_aligned : both_aligned;
    if (head > count) head = count;
    body = (count - head) / granule * granule;
  }

  __device__ __forceinline__ u64 chunks() const { return (body + chunk - 1) / chunk; }
  __device__ __forceinline__ u32 elements(u64 n) const {
    const u64 left = body - n * chunk;
    return left < chunk ? static_cast<u32>(left) : chunk;
  }
};

__device__ __forceinline__ void load_chunks(const In::Element* in, const Split& split, u32 base, RingBarriers full,
                                            RingBarriers empty) {
  RingPosition<stages> position;
  const u64 last = CtaShare::last(split.chunks());
  for (u64 n = CtaShare::first(); n < last; n += CtaShare::step(), position.next()) {
    const u32 bytes = split.elements(n) * sizeof(In::Element);
    ptx::mbarrier::wait(empty[position.stage], position.parity ^ 1);
    ptx::mbarrier::arrive_expect_tx(full[position.stage], bytes);
    ptx::bulk_load(base + In::placement().stage(position.stage), in + split.head + n * chunk, bytes,
                   full[position.stage]);
  }
}

__device__ __forceinline__ void compute_chunks(const Numbers& numbers, Output::Element* out, const Split& split, u8* shared, u32 base,
                                               RingBarriers full, RingBarriers empty) {
  RingPosition<stages> position;
  RingPosition<output_stages> result;
  const u64 last = CtaShare::last(split.chunks());
  for (u64 n = CtaShare::first(); n < last; n += CtaShare::step(), position.next(), result.next()) {
    const u64 origin[1] = {split.head + n * chunk};
    const u32 elements = split.elements(n);

    ptx::mbarrier::wait(full[position.stage], position.parity);
    const Where first(origin);
    Output::Element* const direct = split.direct ? out + origin[0] : nullptr;
    const u32 vectors = elements / vector;
#pragma unroll unrolled
    for (u32 v = threadIdx.x; v < vectors; v += compute_threads) {
      compute_vector(AllInputs{}, numbers, shared, position.stage, v, first, [&](const Pack<Output::Element, vector>& packed, u32 place) {
        if (direct == nullptr) {
          u8* target = shared + Output::placement().stage(result.stage) + place;
          *reinterpret_cast<Pack<Output::Element, vector>*>(target) = packed;
        } else {
          const auto* elements = reinterpret_cast<const Output::Element*>(&packed);
#pragma unroll
          for (u32 k = 0; k < vector; ++k) direct[v * vector + k] = elements[k];
        }
      });
    }

    // As in map: fence the accesses to shared memory, and free the stage of the next result, before the barrier.
    ptx::fence_proxy_async_shared();
    if (threadIdx.x == 0) ptx::wait_group_read<output_stages - 2>();
    ptx::sync_threads<1, compute_threads>();
    if (threadIdx.x == 0) {
      ptx::mbarrier::arrive(empty[position.stage]);
      if (!split.direct) {
        ptx::bulk_store(out + origin[0], base + Output::placement().stage(result.stage),
                        elements * sizeof(Output::Element));
        ptx::commit_group();
      }
    }
  }
  if (threadIdx.x == 0) ptx::wait_group_read<0>();
}

__device__ __forceinline__ void compute_element(const Numbers& numbers, const In::Element* in, Output::Element* out, u64 n) {
  // A pack holds at least two elements; the second is not used.
  Pack<In::Element, 2> packed_in{};
  reinterpret_cast<In::Element*>(&packed_in)[0] = in[n];
  Value<In::Element> values[2];
  packed_in.decode(values);
  Value<Output::Element> results[2] = {};
  const u64 origin[1] = {n};
  results[0] = output_of(numbers.value_at(Where(origin), values[0]));
  Pack<Output::Element, 2> packed_out;
  packed_out.encode(results);
  out[n] = reinterpret_cast<const Output::Element*>(&packed_out)[0];
}

// Computes the elements before and after the chunks one by one: fewer than 32 in all.
__device__ __forceinline__ void compute_ends(const Numbers& numbers, const In::Element* in, Output::Element* out, const Split& split,
                                             u64 count) {
#pragma unroll 1
  for (u64 i = threadIdx.x; i < count - split.body; i += compute_threads) {
    const u64 n = i < split.head ? i : i + split.body;
    compute_element(numbers, in, out, n);
  }
}

__device__ __forceinline__ void map_bulk(const Numbers& numbers, Output::Element* out, const In::Element* in, u64 count) {
  u8* shared = aligned_shared_memory();
  const u32 base = ptx::shared_address(shared);
  const RingBarriers full{base + barriers};
  const RingBarriers empty{base + barriers + 8 * stages};
  const Split split(in, out, count);
  if (threadIdx.x == 0) {
    full.init<stages>(1);
    empty.init<stages>(1);
    ptx::fence_mbarrier_init();
  }
  __syncthreads();

  if (threadIdx.x >= compute_threads) {
    if (ptx::elect()) load_chunks(in, split, base, full, empty);
  } else {
    if (blockIdx.x == 0) compute_ends(numbers, in, out, split, count);
    compute_chunks(numbers, out, split, shared, base, full, empty);
  }
}

}  // namespace tmajit
