// Vectors of sixteen or eight bytes in registers, with loads and stores of all or of some elements.
#pragma once
#include "tmajit/types.cuh"

namespace tmajit {

template <u32 bytes>
struct alignas(bytes) Vector {
  u32 word[bytes / 4];
};
using Vector16 = Vector<16>;

__device__ __forceinline__ Vector16 load16(const u8* from) {
  return *reinterpret_cast<const Vector16*>(from);
}

__device__ __forceinline__ void store16(u8* to, const Vector16& value) {
  *reinterpret_cast<Vector16*>(to) = value;
}

// The unsigned integer of `bytes` bytes, or a type that replaces it.
template <u32 bytes> struct Bits;
template <> struct Bits<1> { using Type = u8; };
template <> struct Bits<2> { using Type = u16; };
template <> struct Bits<4> { using Type = u32; };
template <> struct Bits<8> { using Type = u64; };
template <> struct Bits<16> { using Type = Vector16; };

// A vector as two halves. Elements are shifted in and out, so no register is indexed by a variable.
template <u32 element_bytes>
struct ElementShifter {
  using Element = typename Bits<element_bytes>::Type;
  static constexpr u32 bits = 8 * element_bytes;
  u64 low = 0;
  u64 high = 0;

  // Inserts element 0; all other elements move up by one.
  __device__ __forceinline__ void push(Element first) {
    if constexpr (bits == 64) {
      high = low;
      low = first;
    } else {
      high = high << bits | low >> (64 - bits);
      low = low << bits | first;
    }
  }
  // Removes and returns element 0; all other elements move down by one.
  __device__ __forceinline__ Element pop() {
    const Element first = static_cast<Element>(low);
    if constexpr (bits == 64) {
      low = high;
    } else {
      low = low >> bits | high << (64 - bits);
      high >>= bits;
    }
    return first;
  }
};

// Loads the first `count` elements at `from`, at least one and fewer than a vector has; zeros follow.
template <u32 element_bytes, u32 bytes = 16>
__device__ __forceinline__ Vector<bytes> load_part(const u8* from, u32 count) {
  if constexpr (element_bytes == bytes) {
    return *reinterpret_cast<const Vector<bytes>*>(from);
  } else {
    ElementShifter<element_bytes> shifter;
    const auto* elements = reinterpret_cast<const typename Bits<element_bytes>::Type*>(from);
#pragma unroll 4
    for (u32 k = bytes / element_bytes; k-- > 0;) shifter.push(k < count ? elements[k] : Bits<element_bytes>::Type(0));
    const u32 words[4] = {static_cast<u32>(shifter.low), static_cast<u32>(shifter.low >> 32),
                          static_cast<u32>(shifter.high), static_cast<u32>(shifter.high >> 32)};
    Vector<bytes> out;
#pragma unroll
    for (u32 w = 0; w < bytes / 4; ++w) out.word[w] = words[w];
    return out;
  }
}

// Stores the first `count` elements of `value`.
template <u32 element_bytes>
__device__ __forceinline__ void store_part(u8* to, const Vector16& value, u32 count) {
  ElementShifter<element_bytes> shifter{static_cast<u64>(value.word[1]) << 32 | value.word[0],
                                        static_cast<u64>(value.word[3]) << 32 | value.word[2]};
  auto* elements = reinterpret_cast<typename Bits<element_bytes>::Type*>(to);
#pragma unroll 1
  for (u32 k = 0; k < count; ++k) elements[k] = shifter.pop();
}

}  // namespace tmajit
