// Operand types of the instructions, other than scalars.
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
//@ used MapSwizzle
// How a tensor map permutes tiles in shared memory, by bytes; the numbers are PTX's.
enum class MapSwizzle : u32 { none, b32, b64, b128 };
//@ end

}  // namespace tmajit
