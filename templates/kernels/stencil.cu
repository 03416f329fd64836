// stencil: out = f(x0 … x7), where a source called with offsets, x0(-1, 0), is the neighbour at that distance.
//
// A CTA computes consecutive tiles along the dimension `march`. For each source and tile it has an image in shared memory: a
// plane of elements with the halo that the offsets need. Planes are in a ring of `stages`; a tile reads `window_planes` of
// them, and the CTA loads each plane once.
//
//   sources --copy engine, or threads one by one--> image of a plane in a stage --threads set elements beyond an edge-->
//     a thread: `strip` rows of a chunk with their neighbours, in registers --evaluate()--> destination
//
//@ # Facts of the kernel: rank, threads, box, Offset, chunk, Destination, Source<i>, AllSources, march, column (the dimension of
//@ # strips), strip, stages, window_planes, planes_before, stage_bytes, Index, Edges, loads_by_engine, evaluate(),
//@ # mapped (the dimension whose planes beyond an edge are loaded whole from the plane that replaces them; rank if none).
//@ if engine
#include "tmajit/bulk_tensor.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/ring.cuh"
#include "tmajit/shared_memory.cuh"
#include "tmajit/tensor_map.cuh"
//@ end
#include "tmajit/division.cuh"
#include "tmajit/neighbours.cuh"
#include "tmajit/views.cuh"

namespace tmajit {

constexpr u32 row = rank - 1;

//@ if numbers
using Sources = params::Views<rank, AllSources::count + AllNumbers::count>;
//@ else
using Sources = params::Views<rank, AllSources::count>;
//@ end
using Result = Raw<sizeof(Destination::Element), chunk>;

// The planes of a CTA, and the first element of plane 0's tile in the tensors, without halo. Tile n reads the planes n to
// n + window_planes - 1.
struct Share {
  Index first[rank];
  u32 tiles;

  __device__ __forceinline__ Share(const params::ViewsHead<rank>& views, u32 max_tiles) {
    u32 number = blockIdx.x;
#pragma unroll
    for (u32 d = rank; d-- > 0;) {
      const u32 index = d == 0 ? number : take(views.tiles[d], number);
      first[d] = static_cast<Index>(index) * static_cast<Index>(box().at[d] * (d == march ? max_tiles : 1));
    }
    const Index left = (static_cast<Index>(views.extent[march]) - first[march] + box().at[march] - 1) / static_cast<Index>(box().at[march]);
    tiles = left < static_cast<Index>(max_tiles) ? static_cast<u32>(left) : max_tiles;
  }
  __device__ __forceinline__ u32 planes() const { return tiles + window_planes - 1; }
  // The first index of plane n's tile.
  __device__ __forceinline__ Index at(u32 d, u32 n) const {
    return d == march ? first[d] + static_cast<Index>(n) * box().at[d] - planes_before : first[d];
  }
};

// ---- beyond an edge ----

// Another element of the source replaces an element beyond an edge: index() tells which.
struct OtherElement {
  template <class Element>
  static __device__ __forceinline__ auto word(const u8* from, bool, double) {
    return *reinterpret_cast<const typename Bits<sizeof(Element)>::Type*>(from);
  }
};
struct Clamp : OtherElement {
  static __device__ __forceinline__ Index index(Index at, Index extent) { return at < 0 ? 0 : at < extent ? at : extent - 1; }
};
struct Wrap : OtherElement {
  static __device__ __forceinline__ Index index(Index at, Index extent) {
    const Index rest = at % extent;
    return rest < 0 ? rest + extent : rest;
  }
};
struct Reflect : OtherElement {
  static __device__ __forceinline__ Index index(Index at, Index extent) {
    const Index period = extent > 1 ? 2 * extent - 2 : 1;
    Index rest = at % period;
    if (rest < 0) rest += period;
    return rest < extent ? rest : period - rest;
  }
};

// Elements beyond an edge are zero.
struct Zeros {
  static __device__ __forceinline__ Index index(Index at, Index) { return at; }
  template <class Element>
  static __device__ __forceinline__ auto word(const u8* from, bool beyond, double) {
    using Word = typename Bits<sizeof(Element)>::Type;
    return beyond ? Word(0) : *reinterpret_cast<const Word*>(from);
  }
};

// Elements beyond an edge are a number that the launch passes.
struct Number {
  static __device__ __forceinline__ Index index(Index at, Index) { return at; }
  template <class Element>
  static __device__ __forceinline__ auto word(const u8* from, bool beyond, double value) {
    return beyond ? bits_of<Element>(value) : *reinterpret_cast<const typename Bits<sizeof(Element)>::Type*>(from);
  }
  template <class Element>
  static __device__ __forceinline__ auto bits_of(double value) {
    using To = Value<Element>;
    constexpr bool fractional = static_cast<To>(0.5) != static_cast<To>(0);
    To converted = 0;
    if constexpr (fractional) {
      converted = static_cast<To>(value);
    } else if (value == value) {
      converted = ptx::truncate<To>(value);
    }
    const To twice[2] = {converted, converted};  // a pack has at least two elements
    Pack<Element, 2> pack;
    pack.encode(twice);
    return to_raw<Element, 2>(pack).get(0);
  }
};

// Whether plane n extends beyond an edge.
template <u32 i>
__device__ __forceinline__ bool is_at_edge(const params::ViewsHead<rank>& views, const Share& share, u32 n) {
  bool beyond = false;
#pragma unroll
  for (u32 d = 0; d < rank; ++d) {
    if (Source<i>::image_box().at[d] == box().at[d] && d != march) continue;
    if (d == mapped) continue;
    const Index at = share.at(d, n) - static_cast<Index>(Source<i>::before().at[d]);
    beyond = beyond || at < 0 || at + static_cast<Index>(Source<i>::image_box().at[d]) > static_cast<Index>(views.extent[d]);
  }
  return beyond;
}

// Threads write the elements of plane n's image: all, or only those beyond an edge if the copy engine has loaded the plane.
template <u32 i>
__device__ __forceinline__ void fill_image(const params::ViewsHead<rank>& views, const params::View<rank>& source, const Share& share,
                                           u32 n, u8* stage, double value) {
  using Element = typename Source<i>::Element;
  using Word = typename Bits<sizeof(Element)>::Type;
  u32 elements = 1;
#pragma unroll
  for (u32 d = 0; d < rank; ++d) elements *= Source<i>::image_box().at[d];
#pragma unroll 4
  for (u32 k = threadIdx.x; k < elements; k += threads) {
    u32 rest = k;
    const u8* from = source.first;
    bool beyond = false;
#pragma unroll
    for (u32 d = rank; d-- > 0;) {
      const u32 index = rest % Source<i>::image_box().at[d];
      rest /= Source<i>::image_box().at[d];
      Index at = share.at(d, n) - static_cast<Index>(Source<i>::before().at[d]) + static_cast<Index>(index);
      const Index extent = static_cast<Index>(views.extent[d]);
      if (at < 0 || at >= extent) {
        beyond = beyond || d != mapped;
        at = Edges::index(at, extent);
      }
      from += static_cast<i64>(at) * source.step[d];
    }
    if (loads_by_engine && !beyond) continue;
    reinterpret_cast<Word*>(stage + Source<i>::image)[k] = Edges::word<Element>(from, beyond, value);
  }
}

// Issues the load of plane n of source i.
template <u32 i>
__device__ __forceinline__ void load_image(const params::ViewsHead<rank>& views, const TensorMap& map, const Share& share, u32 n,
                                           u32 stage, u32 barrier) {
  Coordinates<rank> at;
#pragma unroll
  for (u32 d = 0; d < rank; ++d) {
    Index index = share.at(d, n);
    if (d == mapped) index = Edges::index(index, static_cast<Index>(views.extent[d]));
    at.at[row - d] = static_cast<i32>(index) - static_cast<i32>(Source<i>::before().at[d]);
  }
  at.at[0] /= static_cast<i32>(Source<i>::unit);
#pragma unroll
  for (u32 part = 0; part < Source<i>::parts; ++part, at.at[0] += Source<i>::part_units) {
    ptx::tensor_load(stage + Source<i>::image + part * Source<i>::part_bytes, map, at, barrier);
  }
}

//@ if numbers
// The value of the expression. `x` are the coordinates if the expression reads them, and the neighbours of an element.
template <u32... n, class... X>
__device__ __forceinline__ auto evaluate_with_numbers(Indices<n...>, const Sources& views, const X&... x) {
  return evaluate(x..., value_of_number<typename Source<n>::Element>(views.source[n].first)...);
}

//@ end
// Computes all strips of the tile whose last plane is in `stage`.
template <u32... i>
__device__ __forceinline__ void compute_tile(Indices<i...>, const Sources& all, const Share& share, u32 tile, const u8* shared, u32 stage) {
  const params::ViewsHead<rank>& views = all.head;
  constexpr u32 row_chunks = box().at[row] / chunk;
  constexpr u32 strips = box().at[column] / strip;
  const u8* planes[window_planes];
#pragma unroll
  for (u32 p = 0; p < window_planes; ++p) {
    const u32 back = window_planes - 1 - p;
    planes[p] = shared + (stage >= back ? stage - back : stage + stages - back) * stage_bytes;
  }
  u8* origin = views.destination.first;
#pragma unroll
  for (u32 d = 0; d < rank; ++d) origin += static_cast<i64>(share.at(d, tile + (d == march ? planes_before : 0))) * views.destination.step[d];
  const Index row_left = static_cast<Index>(views.extent[row]) - share.at(row, tile + (row == march ? planes_before : 0));
  const Index strip_left = static_cast<Index>(views.extent[column]) - share.at(column, tile + (column == march ? planes_before : 0));
#pragma unroll 1
  for (u32 n = threadIdx.x; n < row_chunks * strips; n += threads) {
    const u32 chunk_at = n % row_chunks;
    const u32 strip_at = n / row_chunks;
    Windows<i...> windows;
    (load_window<i>(windows, planes, strip_at, chunk_at), ...);
    Result results[strip];
#pragma unroll
    for (u32 r = 0; r < strip; ++r) {
      Value<Destination::Element> out[chunk];
#pragma unroll
      for (u32 k = 0; k < chunk; ++k) {
//@ if reads_g
        Coordinate g[coordinates];
#pragma unroll
        for (u32 c = 0; c < coordinates; ++c) {
          const u32 d = dimension_of().at[c];
          if (d == rank) {
            g[c] = 0;  // an extent of 1
          } else {
            const Index at = share.at(d, tile + (d == march ? planes_before : 0)) +
                             static_cast<Index>(d == row ? chunk_at * chunk + k : d == column ? strip_at * strip + r : 0);
            g[c] = static_cast<Coordinate>(backwards().at[c] != 0 ? static_cast<Index>(views.extent[d]) - 1 - at : at);
          }
        }
//@ if numbers
        out[k] = result_of(+evaluate_with_numbers(AllNumbers{}, all, g, Neighbours<i>{windows, r, k}...));
//@ else
        out[k] = result_of(+evaluate(g, Neighbours<i>{windows, r, k}...));
//@ end
//@ else
//@ if numbers
        out[k] = result_of(+evaluate_with_numbers(AllNumbers{}, all, Neighbours<i>{windows, r, k}...));
//@ else
        out[k] = result_of(+evaluate(Neighbours<i>{windows, r, k}...));
//@ end
//@ end
      }
      Pack<Destination::Element, chunk> pack;
      pack.encode(out);
      results[r] = to_raw<Destination::Element, chunk>(pack);
    }
    const Index chunks_left = row_left - static_cast<Index>(chunk_at * chunk);
    const u32 last = chunks_left <= 0 ? 0 : chunks_left < static_cast<Index>(chunk) ? static_cast<u32>(chunks_left) : chunk;
    u8* to = origin + static_cast<i64>(strip_at * strip) * views.destination.step[column];
//@ if contiguous
    to += chunk_at * chunk * sizeof(Destination::Element);
//@ else
    to += static_cast<i64>(chunk_at * chunk) * views.destination.step[row];
//@ end
#pragma unroll
    for (u32 r = 0; r < strip; ++r, to += views.destination.step[column]) {
      if (static_cast<Index>(strip_at * strip + r) >= strip_left) break;
//@ if contiguous
//@ if cut
      if (last == chunk) {
        store_raw<Destination::alignment>(to, results[r]);
      } else {
        store_some(to, i64{sizeof(Destination::Element)}, results[r], 0, last);
      }
//@ else
      if (last == chunk) store_raw<Destination::alignment>(to, results[r]);
//@ end
//@ else
      store_some(to, views.destination.step[row], results[r], 0, last);
//@ end
    }
  }
}

template <u32... i, class... Maps>
__device__ __forceinline__ void stencil_by_engine(Indices<i...> sources, const Sources& views, u32 tiles, double value, const Maps&... maps) {
  __shared__ u64 barriers[stages];
  const RingBarriers arrived{ptx::shared_address(barriers)};
  u8* const shared = aligned_shared_memory();
  const u32 base = ptx::shared_address(shared);
  const Share share(views.head, tiles);
  const u32 planes = share.planes();
  const auto load = [&](u32 n, u32 stage) {
    ptx::mbarrier::arrive_expect_tx(arrived[stage], (Source<i>::load_bytes + ...));
    (load_image<i>(views.head, maps, share, n, base + stage * stage_bytes, arrived[stage]), ...);
  };
  if (threadIdx.x == 0) {
    (ptx::prefetch_tensor_map(maps), ...);
    arrived.init<stages>(1);
    ptx::fence_mbarrier_init();
#pragma unroll 1
    for (u32 n = 0; n < stages && n < planes; ++n) load(n, n);
  }
  __syncthreads();  // the mbarriers are initialised
  RingPosition<stages> newest;
  RingPosition<stages> oldest;
#pragma unroll 1
  for (u32 n = 0; n < planes; ++n, newest.next()) {
    ptx::mbarrier::wait(arrived[newest.stage], newest.parity);
//@ if edges
    u8* const stage = shared + newest.stage * stage_bytes;
    if ((is_at_edge<i>(views.head, share, n) || ...)) {
      (fill_image<i>(views.head, views.source[i], share, n, stage, value), ...);
      ptx::fence_proxy_async_shared();  // the copy engine will overwrite this stage
      __syncthreads();
    }
//@ end
    if (n + 1 < window_planes) continue;
    compute_tile(sources, views, share, n + 1 - window_planes, shared, newest.stage);
    const u32 next = n + 1 - window_planes + stages;
    if (next < planes) {
      __syncthreads();  // all threads have read the oldest plane
      if (threadIdx.x == 0) load(next, oldest.stage);
    }
    oldest.next();
  }
}

template <u32... i>
__device__ __forceinline__ void stencil_by_threads(Indices<i...> sources, const Sources& views, u32 tiles, double value) {
  extern __shared__ __align__(16) u8 shared[];
  const Share share(views.head, tiles);
  const u32 planes = share.planes();
  u32 newest = 0;
#pragma unroll 1
  for (u32 n = 0; n < planes; ++n, newest = newest + 1 == stages ? 0 : newest + 1) {
    (fill_image<i>(views.head, views.source[i], share, n, shared + newest * stage_bytes, value), ...);
    __syncthreads();
    if (n + 1 < window_planes) continue;
    compute_tile(sources, views, share, n + 1 - window_planes, shared, newest);
    __syncthreads();
  }
}

}  // namespace tmajit
