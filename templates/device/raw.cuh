// A few elements in registers, as bits, with loads from global memory and stores to it.
#pragma once
#include "tmajit/vector16.cuh"

namespace tmajit {

template <u32 element_bytes, u32 n>
struct Raw {
  using Element = typename Bits<element_bytes>::Type;
  static constexpr u32 bytes = element_bytes * n;
  static constexpr u32 words = (bytes + 3) / 4;

  u32 word[words];

//@ used get
  __device__ __forceinline__ Element get(u32 k) const {
    const u32 at = element_bytes * k;
//@ if bytes8
    if constexpr (element_bytes == 8) return static_cast<u64>(word[at / 4 + 1]) << 32 | word[at / 4];
//@ end
    return static_cast<Element>(word[at / 4] >> 8 * (at % 4));
  }
//@ end
//@ used set
  // Sets element k, whose bits must be zero.
  __device__ __forceinline__ void set(u32 k, Element value) {
    const u32 at = element_bytes * k;
//@ if bytes8
    if constexpr (element_bytes == 8) {
      word[at / 4] = static_cast<u32>(value);
      word[at / 4 + 1] = static_cast<u32>(value >> 32);
      return;
    }
//@ end
    word[at / 4] |= static_cast<u32>(value) << 8 * (at % 4);
  }
//@ end
};

__device__ constexpr u32 least(u32 a, u32 b) {
  return a < b ? a : b;
}

// Loads whole elements from an address that is a multiple of `alignment`, by the widest loads that this allows.
template <u32 alignment, u32 words>
__device__ __forceinline__ void load_words(u32 (&word)[words], const u8* from) {
  constexpr u32 width = least(alignment, least(4 * words, 16));
  static_assert(width % 4 == 0 && 4 * words % width == 0);
#pragma unroll
  for (u32 w = 0; w < words; w += width / 4) {
    if constexpr (width == 16) {
      const Vector16 value = load16(from + 4 * w);
#pragma unroll
      for (u32 k = 0; k < 4; ++k) word[w + k] = value.word[k];
    } else if constexpr (width == 8) {
      const u64 value = *reinterpret_cast<const u64*>(from + 4 * w);
      word[w] = static_cast<u32>(value);
      word[w + 1] = static_cast<u32>(value >> 32);
    } else {
      word[w] = *reinterpret_cast<const u32*>(from + 4 * w);
    }
  }
}

// As above, for any `alignment`: reads these bytes and no others.
template <u32 alignment, u32 words>
__device__ __forceinline__ void load_narrowly(u32 (&word)[words], const u8* from) {
  if constexpr (alignment >= 4) {
    load_words<alignment>(word, from);
  } else {
    using Part = typename Bits<alignment>::Type;
#pragma unroll
    for (u32 w = 0; w < words; ++w) {
      word[w] = 0;
#pragma unroll
      for (u32 b = 0; b < 4; b += alignment) {
        word[w] |= static_cast<u32>(*reinterpret_cast<const Part*>(from + 4 * w + b)) << 8 * b;
      }
    }
  }
}

// The word of four bytes that holds the byte at an address. It subtracts instead of masking, so that the compiler still knows
// that the address is in global memory.
__device__ __forceinline__ const u8* enclosing_word(const u8* at) {
  return at - (reinterpret_cast<u64>(at) & 3);
}

// Loads whole elements from any address. It reads aligned words from enclosing_word(from) on, one more than the elements
// fill, and shifts them into place. All these words must lie in the source.
template <u32 words>
__device__ __forceinline__ void load_words_anywhere(u32 (&word)[words], const u8* from) {
  const u32 shift = 8 * (static_cast<u32>(reinterpret_cast<u64>(from)) & 3);
  const u32* aligned = reinterpret_cast<const u32*>(enclosing_word(from));
  u32 low = aligned[0];
#pragma unroll
  for (u32 w = 0; w < words; ++w) {
    const u32 high = aligned[w + 1];
    word[w] = __funnelshift_r(low, high, shift);
    low = high;
  }
}

// Loads the elements [first, last), `step` bytes apart; all other elements become zero. `at_once` loads are in flight together:
// where calls are rare, 1 compiles faster.
template <u32 element_bytes, u32 n, u32 at_once>
__device__ __forceinline__ Raw<element_bytes, n> load_some(const u8* from, i64 step, u32 first, u32 last) {
  using Element = typename Bits<element_bytes>::Type;
  ElementShifter<element_bytes> shifter;
#pragma unroll at_once
  for (u32 k = last; k-- > 0;) {
    shifter.push(k >= first ? *reinterpret_cast<const Element*>(from + k * step) : Element(0));
  }
  const u32 words[4] = {static_cast<u32>(shifter.low), static_cast<u32>(shifter.low >> 32),
                        static_cast<u32>(shifter.high), static_cast<u32>(shifter.high >> 32)};
  Raw<element_bytes, n> out;
#pragma unroll
  for (u32 w = 0; w < out.words; ++w) out.word[w] = words[w];
  return out;
}

// Stores the elements [first, last) of `value`, `step` bytes apart.
template <u32 element_bytes, u32 n>
__device__ __forceinline__ void store_some(u8* to, i64 step, const Raw<element_bytes, n>& value, u32 first, u32 last) {
  using Element = typename Bits<element_bytes>::Type;
  u32 words[4] = {};
#pragma unroll
  for (u32 w = 0; w < value.words; ++w) words[w] = value.word[w];
  ElementShifter<element_bytes> shifter{static_cast<u64>(words[1]) << 32 | words[0],
                                        static_cast<u64>(words[3]) << 32 | words[2]};
#pragma unroll 1
  for (u32 k = 0; k < last; ++k, to += step) {
    const Element element = shifter.pop();
    if (k >= first) *reinterpret_cast<Element*>(to) = element;
  }
}

// Stores the elements [first, last) of `value` side by side at a multiple of four bytes, by whole words where possible.
template <u32 element_bytes, u32 n>
__device__ __forceinline__ void store_next(u8* to, const Raw<element_bytes, n>& value, u32 first, u32 last) {
  constexpr u32 in_word = element_bytes < 4 ? 4 / element_bytes : 1;
  constexpr u32 step = element_bytes < 4 ? 4 : element_bytes;
#pragma unroll
  for (u32 k = 0; k < n; k += in_word, to += step) {
    if (k >= first && k + in_word <= last) {
      if constexpr (element_bytes == 16) {
        store16(to, {{value.word[0], value.word[1], value.word[2], value.word[3]}});
      } else if constexpr (element_bytes == 8) {
        *reinterpret_cast<u64*>(to) = value.get(k);
      } else {
        *reinterpret_cast<u32*>(to) = value.word[k / in_word];
      }
    } else if constexpr (in_word > 1) {
#pragma unroll
      for (u32 i = k; i < k + in_word; ++i) {
        using Element = typename Bits<element_bytes>::Type;
        if (i >= first && i < last) reinterpret_cast<Element*>(to)[i - k] = value.get(i);
      }
    }
  }
}

// Stores whole elements to an address that is a multiple of `alignment`.
template <u32 alignment, u32 element_bytes, u32 n>
__device__ __forceinline__ void store_raw(u8* to, const Raw<element_bytes, n>& value) {
  constexpr u32 bytes = element_bytes * n;
  constexpr u32 width = least(alignment, least(bytes, 16));
#pragma unroll
  for (u32 at = 0; at < bytes; at += width) {
    if constexpr (width == 16) {
      store16(to + at, {{value.word[at / 4], value.word[at / 4 + 1], value.word[at / 4 + 2], value.word[at / 4 + 3]}});
    } else if constexpr (width == 8) {
      *reinterpret_cast<u64*>(to + at) = static_cast<u64>(value.word[at / 4 + 1]) << 32 | value.word[at / 4];
    } else {
      using Word = typename Bits<width>::Type;
      *reinterpret_cast<Word*>(to + at) = static_cast<Word>(value.word[at / 4] >> 8 * (at % 4));
    }
  }
}

}  // namespace tmajit
