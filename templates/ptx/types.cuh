// Types of the instructions' operands, except scalars.
#pragma once
#include "tmajit/scalars.cuh"

namespace tmajit {

//@ used TensorMap
using params::TensorMap;
//@ end

template <u32 rank> struct Coordinates { i32 at[rank]; };  // of a tile's first element, innermost dimension first
template <u32 rank> struct Extent { u32 at[rank]; };  // elements, outermost first
// How a tensor map permutes tiles in shared memory, by bytes; the numbers are PTX's.
enum class MapSwizzle : u32 { none, b32, b64, b128 };

}  // namespace tmajit
