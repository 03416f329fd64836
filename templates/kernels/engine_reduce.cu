// engine_reduce: brings elements of some dimensions together, computing what they are on the way; the copy engine loads them.
//
// What comes together is cut into chunks that lie in one piece of memory, wherever they begin. The last warp keeps `stages`
// of them on their way to shared memory; the other warps take the elements from there.
//@ if columns
// Threads side by side take outputs side by side, and those one behind the other share what comes together.
//@ else
// Threads side by side share what comes together, which lies side by side.
//@ end
//@ if split
//
// Several CTAs share the chunks of some outputs. What each has of them meets in scratch memory, in the order of their numbers.
//@ end
//@ # Facts of the kernel: stages, results, Reducer, Destination, Source<0>, evaluate(), behind().
#include "tmajit/bulk.cuh"
#include "tmajit/engine_reduction.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/meeting.cuh"
#include "tmajit/reduced_result.cuh"
#include "tmajit/reducers.cuh"
#include "tmajit/pipeline.cuh"
#include "tmajit/shared.cuh"
#include "tmajit/sync.cuh"

namespace tmajit {

using Plan = params::EngineReductionPlan;
using Element = Source<0>::Element;
using ElementBits = Bits<sizeof(Element)>::Type;
using Front = decltype(evaluate(Value<Element>{}));
using Reduced = Reducer<Front>;
using State = Reduced::State;

constexpr u32 granule = 16;  // bytes: what bulk copies count

// What the digits `first` to `last` of a number add, bytes and places. The last digit is what is left of it.
struct Offsets {
  i64 source = 0;
  i64 destination = 0;
  i64 place = 0;
  u32 index = 0;  // the first digit
};
__device__ __forceinline__ Offsets take_digits(const Plan& plan, u32 first, u32 last, u32 n) {
  Offsets sum;
#pragma unroll 1
  for (u32 d = first; d < last; ++d) {
    const u32 index = d + 1 < last ? take(plan.digit[d].count, n) : n;
    if (d == first) sum.index = index;
    sum.source += static_cast<i64>(index) * plan.digit[d].source[0];
    sum.destination += static_cast<i64>(index) * plan.digit[d].destination;
    sum.place += static_cast<i64>(index) * plan.digit[d].place;
  }
  return sum;
}

// The side of the chunks at an index of it: the last may be cut.
__device__ __forceinline__ u32 side_at(const Plan& plan, u32 index) {
  const u32 rest = plan.side_extent - index * plan.side;
  return rest < plan.side ? rest : plan.side;
}

// ---- chunks ----

// A CTA's chunks one after the other: those of its part of a tile, then of the tile that comes next. CTAs that share a tile
// take its chunks in turns, so that what all of them load at a time lies together.
struct Walk {
  u32 unit;
  u32 tile;
  u32 part;
  u32 step;

  __device__ __forceinline__ explicit Walk(const Plan& plan) : unit(blockIdx.x) { begin(plan); }
  __device__ __forceinline__ void begin(const Plan& plan) {
    part = unit;
    tile = take(plan.tiles, part);
    step = part;
  }
  __device__ __forceinline__ bool exists(const Plan& plan) const { return unit < plan.units; }
  __device__ __forceinline__ void next_unit(const Plan& plan) {
    unit += gridDim.x;
    begin(plan);
  }
  // The next chunk of the tile, if there is one.
  __device__ __forceinline__ bool next_step(const Plan& plan) {
    step += plan.team.parts;
    return step < plan.steps;
  }
  __device__ __forceinline__ void next(const Plan& plan) {
    if (!next_step(plan)) next_unit(plan);
  }
};

// What those who take a chunk's elements know of it.
struct Arrived {
  i64 place;  // of its first element
  u32 shift;  // bytes of its slot before that
  u32 side;
};

// Where a chunk is, and what of it the copy engine brings: whole granules between the source's first byte and its last.
struct Chunk {
  const u8* first;
  const u8* end;
  const u8* brought;  // the first byte that is
  u32 bytes;          // that are
  Arrived arrived;

  __device__ __forceinline__ Chunk(const Plan& plan, const Walk& at) {
    const Offsets tile = take_digits(plan, plan.own_digits, plan.tile_digits, at.tile);
    const Offsets own = take_digits(plan, plan.tile_digits, plan.digits, at.step);
    const u32 side = side_at(plan, plan.side_outputs != 0 ? tile.index : own.index);
    first = plan.source + tile.source + own.source;
    end = first + side * plan.side_bytes;
    arrived = {plan.first_place + own.place, static_cast<u32>(first - down(first)), side};
    const u8* const low = up(plan.source);
    const u8* const high = down(plan.source + plan.source_bytes);
    brought = down(first) < low ? low : down(first);
    const u8* const last = up(end) < high ? up(end) : high;
    bytes = last > brought ? static_cast<u32>(last - brought) : 0;
  }
  static __device__ __forceinline__ const u8* down(const u8* at) { return at - reinterpret_cast<u64>(at) % granule; }
  static __device__ __forceinline__ const u8* up(const u8* at) { return down(at + granule - 1); }

  // What lies in granules in which the source begins or ends, by the threads of a warp.
  __device__ __forceinline__ void load_ends(u8* slot) const {
    u8* const to = slot + arrived.shift;
    const u8* const begin = bytes == 0 ? end : brought;
    const u8* const rest = begin + bytes;
    if (begin <= first && rest >= end) return;
    for (const u8* at = first + threadIdx.x % 32; at < begin; at += 32) to[at - first] = *at;
    for (const u8* at = rest + threadIdx.x % 32; at < end; at += 32) to[at - first] = *at;
    ptx::fence_proxy_async_shared();  // before the slot's next load
    __syncwarp();
  }
  __device__ __forceinline__ void load(u8* slot, u32 barrier) const {
    if (bytes != 0) ptx::bulk_load(ptx::shared_address(slot) + static_cast<u32>(brought - down(first)), brought, bytes, barrier);
  }
};

// ---- what comes together ----

__device__ __forceinline__ Front front_of(const u8* at) {
  Raw<sizeof(Element), 2> bits{};
  bits.set(0, *reinterpret_cast<const ElementBits*>(at));
  Value<Element> values[2];
  packed<Element, 2>(bits).decode(values);
  return evaluate(values[0]);
}

// Adds what a chunk has for the thread's outputs, which begin `own` bytes behind its first element.
__device__ __forceinline__ void add_chunk(State (&state)[results], const Plan& plan, Place place, const Arrived& chunk,
                                          const u8* first, const u32 (&own)[results]) {
  const u32 inner = plan.inner != 0 ? plan.inner : chunk.side;
  const u32 outer = plan.outer != 0 ? plan.outer : chunk.side;
#pragma unroll 1
  for (u32 o = 0; o < outer; ++o) {
    const u8* const at = first + o * plan.outer_bytes;
    const i64 where = chunk.place + static_cast<i64>(o) * plan.outer_place;
#pragma unroll 4
    for (u32 i = place.phase; i < inner; i += plan.team.phases) {
#pragma unroll
      for (u32 k = 0; k < results; ++k) {
        const Front value = front_of(at + own[k] + i * plan.inner_bytes);
        state[k] = Reduced::both(state[k], Reduced::of(value, where + static_cast<i64>(i) * plan.inner_place));
      }
    }
  }
}

// Keeps chunks on their way: a warp does.
template <class Producer>
__device__ __forceinline__ void bring_chunks(const Plan& plan, Producer producer, Arrived (&arrived)[stages], u8* slots) {
  const bool leads = threadIdx.x % 32 == 0;
#pragma unroll 1
  for (Walk walk(plan); walk.exists(plan); walk.next(plan)) {
    const Chunk chunk(plan, walk);
    const PipelineStage stage = producer.acquire();
    u8* const slot = slots + stage.index * plan.slot_bytes;
    chunk.load_ends(slot);
    if (leads) arrived[stage.index] = chunk.arrived;
    producer.commit(chunk.bytes, leads);
    if (leads) chunk.load(slot, stage.barrier);
  }
}

//@ if split
__device__ __forceinline__ void engine_reduce(const Plan& plan, u8* scratch) {
//@ else
__device__ __forceinline__ void engine_reduce(const Plan& plan) {
//@ end
  __shared__ u64 barriers[2 * stages];
  __shared__ Arrived arrived[stages];
  extern __shared__ __align__(16) u8 slots[];
  u8* const meeting = slots + stages * plan.slot_bytes;
  const u32 takers = blockDim.x - 32;
  const auto pipeline = Pipeline<stages>(ptx::shared_address(barriers)).init(1, takers / 32, threadIdx.x == 0);
  __syncthreads();  // the barriers are there
  if (threadIdx.x >= takers) {
    bring_chunks(plan, pipeline.producer(), arrived, slots);
    return;
  }
  auto chunks = pipeline.consumer();
  const auto meet = [&] { ptx::sync_threads_at(1, takers); };

  const Place place = place_of(plan.team);
  const bool works = place.own < plan.team.owners && place.phase < plan.team.phases;
  u32 own[results];
#pragma unroll
  for (u32 k = 0; k < results; ++k) {
    u32 far = place.own + k * plan.team.owners;
    const u32 near = take(plan.near, far);
    own[k] = near * static_cast<u32>(sizeof(Element)) + far * plan.far;
  }
#pragma unroll 1
  for (Walk walk(plan); walk.exists(plan); walk.next_unit(plan)) {
    const Offsets tile = take_digits(plan, plan.own_digits, plan.tile_digits, walk.tile);
    const u32 outputs = plan.side_outputs != 0 ? plan.side_outputs * side_at(plan, tile.index) : plan.outputs;
    // Threads without an output do the first one's, and keep it to themselves.
    bool exists[results];
    u32 from[results];
    State state[results];
#pragma unroll
    for (u32 k = 0; k < results; ++k) {
      exists[k] = works && place.own + k * plan.team.owners < outputs;
      from[k] = exists[k] ? own[k] : 0;
      state[k] = Reduced::none();
    }
#pragma unroll 1
    do {
      const u32 at = chunks.wait().index;
      const Arrived chunk = arrived[at];
      if (works) add_chunk(state, plan, place, chunk, slots + at * plan.slot_bytes + chunk.shift, from);
      __syncwarp();
      chunks.release(threadIdx.x % 32 == 0);
    } while (walk.next_step(plan));
    put_together<Reduced>(state, plan.team, place, meeting, meet);
//@ if split
    if (!put_parts_together<Reduced>(state, plan.team, place, works, walk.tile, walk.part, scratch, meeting, meet)) continue;
//@ end
    if (place.phase != 0) continue;
#pragma unroll
    for (u32 k = 0; k < results; ++k) {
      if (!exists[k]) continue;
      const Offsets output = take_digits(plan, 0, plan.own_digits, place.own + k * plan.team.owners);
      store_result<Reduced>(plan.destination + tile.destination + output.destination, state[k], plan.count);
    }
  }
}

}  // namespace tmajit
