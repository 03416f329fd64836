// What the instructions take beside scalars.
#pragma once
#include "tmajit/scalars.cuh"

namespace tmajit {

//@ used TensorMap
using params::TensorMap;
//@ end

//@ used Coordinates
template <u32 rank> struct Coordinates { i32 at[rank]; };  // of a tile's first element, innermost dimension first
//@ end
//@ used Extent
template <u32 rank> struct Extent { u32 at[rank]; };  // elements, outermost first
//@ end

}  // namespace tmajit
