// Fixed-width names and the tensor map, so that a kernel needs no header of CUDA's.
#pragma once

namespace tmajit {

using u8 = unsigned char;
using i8 = signed char;
using u16 = unsigned short;
using i16 = short;
using u32 = unsigned int;
using i32 = int;
using u64 = unsigned long long;
using i64 = long long;

// The driver's CUtensorMap: 128 opaque bytes, made by cuTensorMapEncodeTiled and passed to a kernel as a
// `const __grid_constant__` parameter. A copy in a local variable faults.
struct alignas(64) TensorMap {
  u64 opaque[16];
};

// Coordinates of a tile's first element as the instructions take them: innermost dimension first.
template <u32 rank>
struct Coordinates {
  i32 at[rank];
};

// Elements in each dimension, outermost first, as in NumPy.
template <u32 rank>
struct Extent {
  u32 at[rank];
};

}  // namespace tmajit
