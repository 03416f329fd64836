// The tiles of a batch of tensors that one CTA moves: consecutive ones, in the order of the tensors.
#pragma once
#include "tmajit/ragged_batch.cuh"
#include "tmajit/types.cuh"

namespace tmajit {

// A tile's index in each dimension of its tensor, outermost first.
template <u32 rank> struct RaggedTile {
  u32 at[rank];

  // The tile's first element, for tiles that span `extent` elements.
  __device__ __forceinline__ Coordinates<rank> origin(const Extent<rank>& extent) const {
    Coordinates<rank> first;
#pragma unroll
    for (u32 d = 0; d < rank; ++d) first.at[rank - 1 - d] = static_cast<i32>(at[d] * extent.at[d]);
    return first;
  }
};

template <u32 rank> class RaggedWalk {
 public:
  __device__ __forceinline__ explicit RaggedWalk(const params::RaggedBatch& batch)
      : tensors_(reinterpret_cast<const params::RaggedTensor<rank>*>(batch.tensors)),
        first_(reinterpret_cast<const u32*>(batch.first)) {
    next_ = static_cast<u32>(static_cast<u64>(batch.tiles) * blockIdx.x / gridDim.x);
    last_ = static_cast<u32>(static_cast<u64>(batch.tiles) * (blockIdx.x + 1) / gridDim.x);
    // Finds the tensor of the first tile: the last one whose first tile is not after it.
    u32 end = batch.count;
    while (end - number_ > 1) {
      const u32 middle = number_ + (end - number_) / 2;
      if (first_[middle] <= next_) number_ = middle;
      else end = middle;
    }
    if (next_ < last_) enter();
  }

  // Whether a tile remains.
  __device__ __forceinline__ explicit operator bool() const { return next_ < last_; }
  __device__ __forceinline__ const params::RaggedTensor<rank>& tensor() const { return tensors_[number_]; }
  // Whether this is the CTA's first tile of the tensor.
  __device__ __forceinline__ bool begins_tensor() const { return begins_; }
  __device__ __forceinline__ RaggedTile<rank> tile() const {
    RaggedTile<rank> tile;
    u32 left = next_ - begin_;
#pragma unroll
    for (u32 d = rank; d-- > 0;) {
      const u32 tiles = tensors_[number_].tiles[d];
      tile.at[d] = d == 0 ? left : left % tiles;
      left /= tiles;
    }
    return tile;
  }
  __device__ __forceinline__ void next() {
    begins_ = false;
    if (++next_ < end_ || next_ >= last_) return;
    ++number_;
    enter();
  }

 private:
  __device__ __forceinline__ void enter() {
    begin_ = first_[number_];
    end_ = first_[number_ + 1];
    begins_ = true;
  }

  const params::RaggedTensor<rank>* tensors_;
  const u32* first_;
  u32 number_ = 0;  // number of the tensor
  u32 next_;        // number of the next tile
  u32 last_;        // end of the CTA's share
  u32 begin_ = 0;   // begin and end of the tensor's tiles
  u32 end_ = 0;
  bool begins_ = false;
};

}  // namespace tmajit
