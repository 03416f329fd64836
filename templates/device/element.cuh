// Element types: storage, the type they compute in, and conversion of results.
#pragma once
#include "tmajit/convert.cuh"

namespace tmajit {

using f32 = float;
using f64 = double;

// The type that an element computes in.
template <class T> struct ValueOf { using type = T; };
template <class T> using Value = typename ValueOf<T>::type;
// How Pack stores elements: by their size in bytes; 0 for types that are converted in pairs.
template <class T> constexpr u32 form = sizeof(T);

struct f16 { u16 bits; };
struct bf16 { u16 bits; };
struct e4m3 { u8 bits; };
struct e5m2 { u8 bits; };
// The hardware converts two such elements at a time, from and to float.
template <class T> __device__ __forceinline__ ptx::Pair decode_pair(u32 bits);
template <class T> __device__ __forceinline__ u32 encode_pair(ptx::Pair value);

//@ each type of f16 bf16 e4m3 e5m2
//@ used $type
template <> struct ValueOf<$type> { using type = float; };
template <> constexpr u32 form<$type> = 0;
template <> __device__ __forceinline__ ptx::Pair decode_pair<$type>(u32 bits) { return ptx::f32_from_$typex2(bits); }
template <> __device__ __forceinline__ u32 encode_pair<$type>(ptx::Pair value) { return ptx::$typex2_from_f32(value); }
//@ end

//@ end
template <class T> __device__ __forceinline__ u32 stored_word(Value<T> value) { return __builtin_bit_cast(u32, value); }
//@ used tf32
struct tf32 { float value; };
template <> struct ValueOf<tf32> { using type = float; };
template <> __device__ __forceinline__ u32 stored_word<tf32>(float value) { return __float_as_uint(ptx::tf32_from_f32(value)); }

//@ end
template <class T> constexpr bool is_floating = false;
template <> constexpr bool is_floating<float> = true;
template <> constexpr bool is_floating<double> = true;

// Converts a result to the value type of the destination. Integers wrap. Floating point to integer truncates toward zero and
// saturates; NaN gives 0. All other conversions round to nearest even.
template <class To, class From>
__device__ __forceinline__ To convert(From value) {
  if constexpr (is_floating<From> && !is_floating<To>) {
    const To whole = ptx::truncate<To>(value);
    constexpr bool nan_is_zero = sizeof(From) == 4 && sizeof(To) <= 4;
    return nan_is_zero || value == value ? whole : To(0);
  } else {
    return static_cast<To>(value);
  }
}

// Functions of expressions: the value that an element of the type has after a store and a load.
//@ each type of u8 i8 u16 i16 u32 i32 u64 i64 f32 f64
template <class T> __device__ __forceinline__ $type as_$type(T value) { return convert<$type>(value); }
//@ end
//@ each type of f16 bf16 e4m3 e5m2
template <class T> __device__ __forceinline__ float as_$type(T value) {
  return ptx::f32_from_$typex2(ptx::$typex2_from_f32({static_cast<float>(value), 0.0f})).low;
}
//@ end
template <class T> __device__ __forceinline__ float as_tf32(T value) { return ptx::tf32_from_f32(static_cast<float>(value)); }

// `count` consecutive elements, which one shared-memory access of 2 to 16 bytes moves.
template <class T, u32 count, u32 = form<T>> struct Pack;

//@ if bytes4
template <class T, u32 count> struct alignas(4 * count) Pack<T, count, 4> {
  u32 words[count];
  __device__ __forceinline__ void decode(Value<T> (&values)[count]) const {
#pragma unroll
    for (u32 i = 0; i < count; ++i) values[i] = __builtin_bit_cast(Value<T>, words[i]);
  }
  __device__ __forceinline__ void encode(const Value<T> (&values)[count]) {
#pragma unroll
    for (u32 i = 0; i < count; ++i) words[i] = stored_word<T>(values[i]);
  }
};

//@ end
//@ if bytes8
template <class T, u32 count> struct alignas(8 * count) Pack<T, count, 8> {
  u32 words[2 * count];
  __device__ __forceinline__ void decode(T (&values)[count]) const {
#pragma unroll
    for (u32 i = 0; i < count; ++i) {
      values[i] = __builtin_bit_cast(T, static_cast<u64>(words[2 * i]) | static_cast<u64>(words[2 * i + 1]) << 32);
    }
  }
  __device__ __forceinline__ void encode(const T (&values)[count]) {
#pragma unroll
    for (u32 i = 0; i < count; ++i) {
      const u64 image = __builtin_bit_cast(u64, values[i]);
      words[2 * i] = static_cast<u32>(image);
      words[2 * i + 1] = static_cast<u32>(image >> 32);
    }
  }
};

//@ end
template <bool condition, class A, class B> struct SelectType { using type = A; };
template <class A, class B> struct SelectType<false, A, B> { using type = B; };

// Elements of one or two bytes share words.
template <class T, u32 count>
struct alignas(count * sizeof(T)) NarrowPack {
  static constexpr u32 bytes = count * sizeof(T);
  static_assert(count % 2 == 0 && bytes <= 16);
  using Word = typename SelectType<(bytes < 4), u16, u32>::type;
  static constexpr u32 word_bits = 8 * sizeof(Word);

  Word words[bytes / sizeof(Word)];

  // The word that element i begins in, shifted so that the element is lowest.
  __device__ __forceinline__ u32 bits_at(u32 i) const {
    const u32 at = 8 * sizeof(T) * i;
    return static_cast<u32>(words[at / word_bits]) >> at % word_bits;
  }
  __device__ __forceinline__ void put(u32 i, u32 bits) {
    const u32 at = 8 * sizeof(T) * i;
    words[at / word_bits] |= static_cast<Word>(bits << at % word_bits);
  }
};

//@ if narrow
// Narrow integers, whose value type is their own type.
template <class T, u32 count> struct IntegerPack : NarrowPack<T, count> {
  __device__ __forceinline__ void decode(T (&values)[count]) const {
#pragma unroll
    for (u32 i = 0; i < count; ++i) values[i] = static_cast<T>(this->bits_at(i));
  }
  __device__ __forceinline__ void encode(const T (&values)[count]) {
    constexpr u32 mask = (1u << 8 * sizeof(T)) - 1;
#pragma unroll
    for (auto& word : this->words) word = 0;
#pragma unroll
    for (u32 i = 0; i < count; ++i) this->put(i, static_cast<u32>(values[i]) & mask);
  }
};
template <class T, u32 count> struct Pack<T, count, 1> : IntegerPack<T, count> {};
template <class T, u32 count> struct Pack<T, count, 2> : IntegerPack<T, count> {};

//@ end
//@ if paired
template <class T, u32 count> struct Pack<T, count, 0> : NarrowPack<T, count> {
  __device__ __forceinline__ void decode(float (&values)[count]) const {
#pragma unroll
    for (u32 i = 0; i < count; i += 2) {
      const ptx::Pair pair = decode_pair<T>(this->bits_at(i));
      values[i] = pair.low;
      values[i + 1] = pair.high;
    }
  }
  __device__ __forceinline__ void encode(const float (&values)[count]) {
#pragma unroll
    for (auto& word : this->words) word = 0;
    if constexpr (sizeof(T) == 1 && count % 4 == 0) {
      // Joins halves by a byte permutation: if all halves are equal, ptxas of CUDA 13.0 loses one of two halves that shifts join.
#pragma unroll
      for (u32 i = 0; i < count; i += 4) {
        this->words[i / 4] = __byte_perm(encode_pair<T>({values[i], values[i + 1]}),
                                         encode_pair<T>({values[i + 2], values[i + 3]}), 0x5410);
      }
      return;
    }
#pragma unroll
    for (u32 i = 0; i < count; i += 2) this->put(i, encode_pair<T>({values[i], values[i + 1]}));
  }
};

//@ end
}  // namespace tmajit
