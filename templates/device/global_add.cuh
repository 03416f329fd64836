// Additions of vectors of any element type to elements in global memory, atomic for each element, in any order.
#pragma once
#include "tmajit/element.cuh"
#include "tmajit/global_reduce.cuh"
#include "tmajit/vector16.cuh"

namespace tmajit {

// Adds 2 to 16 bytes of elements of type T, at a multiple of their number.
template <class T> struct GlobalAddition;

//@ used f32
template <> struct GlobalAddition<f32> {
  static __device__ __forceinline__ void add(void* to, u32 value) { ptx::global_reduce_add_f32(to, value); }
  static __device__ __forceinline__ void add(void* to, u64 value) {
    ptx::global_reduce_add_v2_f32(to, {static_cast<u32>(value), static_cast<u32>(value >> 32)});
  }
  static __device__ __forceinline__ void add(void* to, const Vector16& value) { ptx::global_reduce_add_v4_f32(to, value.word); }
};

//@ end
//@ each type of f16 bf16
//@ used $type
template <> struct GlobalAddition<$type> {
  static __device__ __forceinline__ void add(void* to, u16 value) { ptx::global_reduce_add_noftz_$type(to, value); }
  static __device__ __forceinline__ void add(void* to, u32 value) { ptx::global_reduce_add_noftz_$typex2(to, value); }
  static __device__ __forceinline__ void add(void* to, u64 value) {
    ptx::global_reduce_add_noftz_v2_$typex2(to, {static_cast<u32>(value), static_cast<u32>(value >> 32)});
  }
  static __device__ __forceinline__ void add(void* to, const Vector16& value) {
    ptx::global_reduce_add_noftz_v4_$typex2(to, value.word);
  }
};
//@ end

//@ end
// Integers are added one by one; signed ones have the same bits as unsigned ones.
template <class T> struct IntegerAddition {
  static __device__ __forceinline__ void add(void* to, u32 value) { ptx::global_reduce_add_u32(to, value); }
  static __device__ __forceinline__ void add(void* to, u64 value) {
    if constexpr (sizeof(T) == 8) {
      ptx::global_reduce_add_u64(to, value);
    } else {
      ptx::global_reduce_add_u32(to, static_cast<u32>(value));
      ptx::global_reduce_add_u32(static_cast<u8*>(to) + 4, static_cast<u32>(value >> 32));
    }
  }
  static __device__ __forceinline__ void add(void* to, const Vector16& value) {
    add(to, static_cast<u64>(value.word[1]) << 32 | value.word[0]);
    add(static_cast<u8*>(to) + 8, static_cast<u64>(value.word[3]) << 32 | value.word[2]);
  }
};
template <> struct GlobalAddition<i32> : IntegerAddition<i32> {};
template <> struct GlobalAddition<u32> : IntegerAddition<u32> {};
template <> struct GlobalAddition<i64> : IntegerAddition<i64> {};
template <> struct GlobalAddition<u64> : IntegerAddition<u64> {};

//@ used f64
template <> struct GlobalAddition<f64> {
  static __device__ __forceinline__ void add(void* to, u64 value) { ptx::global_reduce_add_f64(to, value); }
  static __device__ __forceinline__ void add(void* to, const Vector16& value) {
    add(to, static_cast<u64>(value.word[1]) << 32 | value.word[0]);
    add(static_cast<u8*>(to) + 8, static_cast<u64>(value.word[3]) << 32 | value.word[2]);
  }
};

//@ end
}  // namespace tmajit
