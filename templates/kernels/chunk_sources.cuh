// How a thread loads the elements of its chunk from a source.
//@ # Facts of the kernel: those of chunks.cuh and Source<i>, whose Access is one of these policies. load() loads the elements
//@ # [first, last) of the chunk `own`; `tile` is the tile's address in the source. Only Imaged (source_images.cuh) uses the
//@ # last parameter, the images in shared memory.
#pragma once
#include "tmajit/chunks.cuh"

namespace tmajit {

// The elements of a chunk, loaded from one source.
template <class From>
using SourceChunk = Raw<sizeof(typename From::Element), chunk>;

// All elements of a chunk are the same element of the source.
struct Repeated {
  template <class From>
  static __device__ __forceinline__ void load(SourceChunk<From>& out, const params::View<rank>& view, const u8* tile, const Chunk& own,
                                              u32 first, u32 last, const u8*) {
    const auto same = *reinterpret_cast<const typename SourceChunk<From>::Element*>(own.in(view, tile, view.step[row]));
#pragma unroll
    for (u32 k = 0; k < chunk; ++k) {
      if (!From::padded || (k >= first && k < last)) out.set(k, same);  // the caller sets all others to the padding
    }
  }
};

// All elements are the number that the launch passes in place of the source's address.
struct Passed {
  template <class From>
  static __device__ __forceinline__ void load(SourceChunk<From>& out, const params::View<rank>& view, const u8*, const Chunk&, u32, u32,
                                              const u8*) {
    const auto number = static_cast<typename SourceChunk<From>::Element>(reinterpret_cast<u64>(static_cast<const u8*>(view.first)));
#pragma unroll
    for (u32 k = 0; k < chunk; ++k) out.set(k, number);
  }
};

// Each element is loaded by itself.
struct Separate {
  template <class From>
  static __device__ __forceinline__ void load(SourceChunk<From>& out, const params::View<rank>& view, const u8* tile, const Chunk& own,
                                              u32 first, u32 last, const u8*) {
    const u8* from = own.in(view, tile, view.step[row]);
#pragma unroll
    for (u32 k = 0; k < chunk; ++k) {
      if (k >= first && k < last) out.set(k, *reinterpret_cast<const typename SourceChunk<From>::Element*>(from + k * view.step[row]));
    }
  }
};

// ---- runs: elements are neighbours in memory, or a few apart ----

template <class From> constexpr u32 distance = From::stride < 0 ? -From::stride : From::stride;
template <class From> constexpr i64 run_step = i64{From::stride} * static_cast<i64>(sizeof(typename From::Element));
// The words from a chunk's first element in memory to its last, with all bytes between.
template <class From>
using Words = Raw<sizeof(typename From::Element), (chunk - 1) * distance<From> + 1>;

template <class From>
__device__ __forceinline__ const u8* run_begin(const u8* from) {
  return From::stride < 0 ? from - (chunk - 1) * distance<From> * static_cast<u32>(sizeof(typename From::Element)) : from;
}

// Selects a chunk's elements from its run in memory.
template <class From, class Run>
__device__ __forceinline__ void select_elements(SourceChunk<From>& out, const Run& run) {
#pragma unroll
  for (u32 w = 0; w < out.words; ++w) out.word[w] = From::stride == 1 ? run.word[w] : 0;
  if constexpr (From::stride != 1) {
#pragma unroll
    for (u32 k = 0; k < chunk; ++k) out.set(k, run.get((From::stride < 0 ? chunk - 1 - k : k) * distance<From>));
  }
}

// Loads whole words, where chunks begin at words. Returns false if the words extend beyond the source.
template <class From>
__device__ __forceinline__ bool load_run(SourceChunk<From>& out, const params::View<rank>& view, const u8* from) {
  Words<From> run;
  from = run_begin<From>(from);
  if ((cut || run.bytes % 4 != 0) && ((cut && from < view.low) || from + 4 * run.words > view.high)) return false;
  load_words<4 * run.words % From::alignment == 0 ? From::alignment : 4>(run.word, from);
  select_elements<From>(out, run);
  return true;
}
// Loads words and shifts them, where chunks begin anywhere.
template <class From>
__device__ __forceinline__ bool load_run_anywhere(SourceChunk<From>& out, const params::View<rank>& view, const u8* from) {
  Words<From> run;
  from = run_begin<From>(from);
  if (enclosing_word(from) < view.low || from + 4 * run.words + 4 > view.high) return false;
  load_words_anywhere(run.word, from);
  select_elements<From>(out, run);
  return true;
}

// No edge cuts a chunk.
struct WholeRun {
  template <class From>
  static __device__ __forceinline__ void load(SourceChunk<From>& out, const params::View<rank>& view, const u8* tile, const Chunk& own,
                                              u32, u32, const u8*) {
    load_run<From>(out, view, own.in(view, tile, run_step<From>));
  }
};
// An edge may cut a chunk: at the source's ends elements are loaded one by one.
struct CutRun {
  template <class From>
  static __device__ __forceinline__ void load(SourceChunk<From>& out, const params::View<rank>& view, const u8* tile, const Chunk& own,
                                              u32 first, u32 last, const u8*) {
    const u8* from = own.in(view, tile, run_step<From>);
    if (load_run<From>(out, view, from)) return;
    out = load_some<sizeof(typename From::Element), chunk, 1>(from, run_step<From>, first, last);
  }
};
// As CutRun, for chunks that begin anywhere in a word.
struct RunAnywhere {
  template <class From>
  static __device__ __forceinline__ void load(SourceChunk<From>& out, const params::View<rank>& view, const u8* tile, const Chunk& own,
                                              u32 first, u32 last, const u8*) {
    const u8* from = own.in(view, tile, run_step<From>);
    if (load_run_anywhere<From>(out, view, from)) return;
    out = load_some<sizeof(typename From::Element), chunk, 1>(from, run_step<From>, first, last);
  }
};
// Neighbouring bytes may belong to the destination, so it reads only the chunk's elements.
struct OwnRun {
  template <class From>
  static __device__ __forceinline__ void load(SourceChunk<From>& out, const params::View<rank>& view, const u8* tile, const Chunk& own,
                                              u32 first, u32 last, const u8*) {
    const u8* from = own.in(view, tile, run_step<From>);
    if (first == 0 && last == chunk) {
      SourceChunk<From> run;
      load_narrowly<From::alignment>(run.word, run_begin<From>(from));
      return select_elements<From>(out, run);
    }
    out = load_some<sizeof(typename From::Element), chunk, 4>(from, run_step<From>, first, last);
  }
};

}  // namespace tmajit
