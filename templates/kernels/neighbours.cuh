// The elements of a source's images that a thread needs for its strip, in registers, and the neighbours of an element there.
//@ # Facts of the kernel: those of stencil.cu.
#pragma once
#include "tmajit/values.cuh"

namespace tmajit {

// The image rows that hold a strip's elements and their neighbours. Rows that no offset reads are omitted.
template <u32 i>
struct Window {
  Value<typename Source<i>::Element> at[Source<i>::rows][Source<i>::chunks * chunk];
};
template <u32... i>
struct Windows : Window<i>... {};

// A source as the expression sees it at element k of the strip's row r. A call with offsets returns a neighbour; without a call it
// is the element itself.
template <u32 i>
struct Neighbours {
  const Window<i>& window;
  u32 r;
  u32 k;

  template <class... Offset>
  __device__ __forceinline__ Value<typename Source<i>::Element> operator()(Offset... offset) const {
    return window.at[Source<i>::place(offset...) + r][k + Source<i>::column(offset...)];
  }
  __device__ __forceinline__ operator Value<typename Source<i>::Element>() const { return (*this)(); }
};

// Loads a window from the images of the planes that it spans: only the chunks that the expression reads.
template <u32 i>
__device__ __forceinline__ void load_window(Window<i>& window, const u8* const (&planes)[window_planes], u32 strip_at, u32 chunk_at) {
  using From = Source<i>;
  using Element = typename From::Element;
#pragma unroll
  for (u32 r = 0; r < From::rows; ++r) {
    const u32 line = From::line_of().at[r];  // number of a layer, counted through all planes
    const u8* const from = planes[From::first_plane + line / From::layers] + From::image + line % From::layers * From::layer_bytes +
                           (strip_at * strip + From::row_of().at[r]) * From::pitch + chunk_at * chunk * sizeof(Element) + From::margin;
#pragma unroll
    for (u32 c = 0; c < From::chunks; ++c) {
      if (c < From::first_chunk().at[r] || c >= From::last_chunk().at[r]) continue;
      const auto pack = *reinterpret_cast<const Pack<Element, chunk>*>(from + c * chunk * sizeof(Element));
      Value<Element> values[chunk];
      pack.decode(values);
#pragma unroll
      for (u32 k = 0; k < chunk; ++k) window.at[r][c * chunk + k] = values[k];
    }
  }
}

}  // namespace tmajit
