// Element types: how each is stored, what it computes as, and how results convert to it.
#pragma once
#include "tmajit/convert.cuh"

namespace tmajit {

using f32 = float;
using f64 = double;
struct f16 { u16 bits; };
struct bf16 { u16 bits; };
struct e4m3 { u8 bits; };
struct e5m2 { u8 bits; };
struct tf32 { float value; };

// The type that an element computes in.
template <class T> struct ValueOf { using type = T; };
template <> struct ValueOf<f16> { using type = float; };
template <> struct ValueOf<bf16> { using type = float; };
template <> struct ValueOf<e4m3> { using type = float; };
template <> struct ValueOf<e5m2> { using type = float; };
template <> struct ValueOf<tf32> { using type = float; };
template <class T> using Value = typename ValueOf<T>::type;

// Types whose conversions the hardware does in pairs.
template <class T> constexpr bool is_paired = false;
template <> constexpr bool is_paired<f16> = true;
template <> constexpr bool is_paired<bf16> = true;
template <> constexpr bool is_paired<e4m3> = true;
template <> constexpr bool is_paired<e5m2> = true;

template <class T> __device__ __forceinline__ ptx::Pair decode_pair(u32 bits);
template <> __device__ __forceinline__ ptx::Pair decode_pair<f16>(u32 bits) { return ptx::f32_from_f16x2(bits); }
template <> __device__ __forceinline__ ptx::Pair decode_pair<bf16>(u32 bits) { return ptx::f32_from_bf16x2(bits); }
template <> __device__ __forceinline__ ptx::Pair decode_pair<e4m3>(u32 bits) { return ptx::f32_from_e4m3x2(bits); }
template <> __device__ __forceinline__ ptx::Pair decode_pair<e5m2>(u32 bits) { return ptx::f32_from_e5m2x2(bits); }

template <class T> __device__ __forceinline__ u32 encode_pair(ptx::Pair value);
template <> __device__ __forceinline__ u32 encode_pair<f16>(ptx::Pair value) { return ptx::f16x2_from_f32(value); }
template <> __device__ __forceinline__ u32 encode_pair<bf16>(ptx::Pair value) { return ptx::bf16x2_from_f32(value); }
template <> __device__ __forceinline__ u32 encode_pair<e4m3>(ptx::Pair value) { return ptx::e4m3x2_from_f32(value); }
template <> __device__ __forceinline__ u32 encode_pair<e5m2>(ptx::Pair value) { return ptx::e5m2x2_from_f32(value); }

template <class A, class B> constexpr bool is_same = false;
template <class A> constexpr bool is_same<A, A> = true;

template <class T> constexpr bool is_floating = false;
template <> constexpr bool is_floating<float> = true;
template <> constexpr bool is_floating<double> = true;

// What integers hold, for the conversion that saturates.
template <class T> struct Limits {
  static constexpr bool is_signed = T(-1) < T(0);
  static constexpr T max = is_signed ? static_cast<T>((u64(1) << (8 * sizeof(T) - 1)) - 1) : T(-1);
  static constexpr T min = is_signed ? static_cast<T>(-max - 1) : T(0);
};

// A result in the value type of the output. Integers wrap; floating point to integer truncates toward zero
// and saturates, NaN gives 0; everything else rounds to nearest even.
template <class To, class From>
__device__ __forceinline__ To convert(From value) {
  if constexpr (is_floating<From> && !is_floating<To>) {
    // Both bounds are exact in From, or round outward to a power of two that To cannot hold.
    constexpr From low = static_cast<From>(Limits<To>::min);
    constexpr From high = static_cast<From>(Limits<To>::max);
    if (!(value > low)) return value == value ? Limits<To>::min : To(0);
    return value >= high ? Limits<To>::max : static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <bool condition, class A, class B> struct SelectType { using type = A; };
template <class A, class B> struct SelectType<false, A, B> { using type = B; };

// `count` consecutive elements, which one shared-memory access of 2 to 16 bytes moves.
template <class T, u32 count>
struct alignas(count * sizeof(T)) Pack {
  static constexpr u32 bytes = count * sizeof(T);
  static_assert(count % 2 == 0 && bytes <= 16);
  using Word = typename SelectType<(bytes < 4), u16, u32>::type;
  static constexpr u32 word_bits = 8 * sizeof(Word);

  Word words[bytes / sizeof(Word)];

  __device__ __forceinline__ void decode(Value<T> (&values)[count]) const {
#pragma unroll
    for (u32 i = 0; i < count; i += 2) {
      if constexpr (is_paired<T>) {
        const ptx::Pair pair = decode_pair<T>(bits(i));
        values[i] = pair.low;
        values[i + 1] = pair.high;
      } else {
        values[i] = decode_one(i);
        values[i + 1] = decode_one(i + 1);
      }
    }
  }

  __device__ __forceinline__ void encode(const Value<T> (&values)[count]) {
#pragma unroll
    for (Word& word : words) word = 0;
    if constexpr (is_paired<T> && sizeof(T) == 1 && count % 4 == 0) {
      // One permutation a word: of two halves that are put together by shifts, ptxas of CUDA 13.0 loses one where
      // all of them are equal.
#pragma unroll
      for (u32 i = 0; i < count; i += 4) {
        words[i / 4] = __byte_perm(encode_pair<T>({values[i], values[i + 1]}),
                                   encode_pair<T>({values[i + 2], values[i + 3]}), 0x5410);
      }
      return;
    }
#pragma unroll
    for (u32 i = 0; i < count; i += 2) {
      if constexpr (is_paired<T>) {
        put(i, encode_pair<T>({values[i], values[i + 1]}));
      } else {
        encode_one(i, values[i]);
        encode_one(i + 1, values[i + 1]);
      }
    }
  }

 private:
  // The word that element i begins in, shifted so that the element is lowest.
  __device__ __forceinline__ u32 bits(u32 i) const {
    const u32 at = 8 * sizeof(T) * i;
    return static_cast<u32>(words[at / word_bits]) >> at % word_bits;
  }
  __device__ __forceinline__ void put(u32 i, u32 bits) {
    const u32 at = 8 * sizeof(T) * i;
    words[at / word_bits] |= static_cast<Word>(bits << at % word_bits);
  }

  __device__ __forceinline__ Value<T> decode_one(u32 i) const {
    if constexpr (sizeof(T) == 8) {
      return __builtin_bit_cast(T, static_cast<u64>(words[2 * i]) | static_cast<u64>(words[2 * i + 1]) << 32);
    } else if constexpr (sizeof(T) == 4) {
      return __builtin_bit_cast(Value<T>, static_cast<u32>(words[i]));
    } else {
      return static_cast<T>(bits(i));
    }
  }
  __device__ __forceinline__ void encode_one(u32 i, Value<T> value) {
    if constexpr (sizeof(T) == 8) {
      const u64 image = __builtin_bit_cast(u64, value);
      words[2 * i] = static_cast<u32>(image);
      words[2 * i + 1] = static_cast<u32>(image >> 32);
    } else if constexpr (is_same<T, tf32>) {
      words[i] = __float_as_uint(ptx::tf32_from_f32(value));
    } else if constexpr (sizeof(T) == 4) {
      words[i] = __builtin_bit_cast(u32, value);
    } else {
      constexpr u32 mask = (1u << 8 * sizeof(T)) - 1;
      put(i, static_cast<u32>(value) & mask);
    }
  }
};

}  // namespace tmajit
