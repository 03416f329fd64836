// Reductions by the copy engine for elements of a C++ type; reductions that it does not support do not compile.
//@ # Each function calls one function of bulk_reduce.cuh or bulk_tensor_reduce.cuh in templates/ptx. Generated kernels
//@ # call those by name, so that their sources hold no others.
#pragma once
#include "tmajit/bulk_reduce.cuh"
#include "tmajit/bulk_tensor_reduce.cuh"
#include "tmajit/element.cuh"

namespace tmajit {

// inc: 0 where the old value is at least the new one, else one more. dec: the new one where the old value is 0 or more
// than it, else one less.
enum class Reduction { add, min, max, inc, dec, bit_and, bit_or, bit_xor };

// The destination: global memory by a bulk copy or through a tensor map, or shared memory of a CTA of the cluster.
enum class ReductionTarget { global, tensor, shared };

// PTX's name of a type.
enum class ReductionType { none, u32, s32, u64, s64, f16, bf16, f32, f64 };
template <class T> constexpr ReductionType reduction_type = ReductionType::none;
template <> constexpr ReductionType reduction_type<u32> = ReductionType::u32;
template <> constexpr ReductionType reduction_type<i32> = ReductionType::s32;
template <> constexpr ReductionType reduction_type<u64> = ReductionType::u64;
template <> constexpr ReductionType reduction_type<i64> = ReductionType::s64;
template <> constexpr ReductionType reduction_type<f16> = ReductionType::f16;
template <> constexpr ReductionType reduction_type<bf16> = ReductionType::bf16;
template <> constexpr ReductionType reduction_type<float> = ReductionType::f32;
template <> constexpr ReductionType reduction_type<double> = ReductionType::f64;

// Whether the engine supports that.
template <Reduction op, class T, ReductionTarget target>
__device__ constexpr bool engine_reduces() {
  using Type = ReductionType;
  constexpr Type type = reduction_type<T>;
  constexpr bool shared = target == ReductionTarget::shared;
  constexpr bool whole = type == Type::u32 || type == Type::s32;
  constexpr bool half = !shared && (type == Type::f16 || type == Type::bf16);
  if constexpr (op == Reduction::add) {
    return whole || type == Type::u64 || half || (!shared && type == Type::f32) ||
           (target == ReductionTarget::global && type == Type::f64);
  } else if constexpr (op == Reduction::min || op == Reduction::max) {
    return whole || half || (!shared && (type == Type::u64 || type == Type::s64));
  } else if constexpr (op == Reduction::inc || op == Reduction::dec) {
    return type == Type::u32;
  } else {
    // Through a map of i64 they are an illegal instruction (docs/tma.md); a map of u64 has the same bits.
    return whole || (!shared && type == Type::u64) || (target == ReductionTarget::global && type == Type::s64);
  }
}

// shared → global: combines `bytes` of elements at `source` into those at `destination`; completes in a bulk group.
template <Reduction op, class T>
__device__ __forceinline__ void bulk_reduce(T* destination, u32 source, u32 bytes) {
  static_assert(engine_reduces<op, T, ReductionTarget::global>(),
                "the copy engine does not reduce elements of this type so: it adds u32, i32, u64, float, double, f16 and bf16; "
                "takes min and max of u32, i32, u64, i64, f16 and bf16; inc and dec of u32; and, or, xor of integers of four and "
                "eight bytes");
  constexpr ReductionType type = reduction_type<T>;
//@ each type of u32 s32 u64 f32 f64
  if constexpr (op == Reduction::add && type == ReductionType::$type) ptx::bulk_reduce_add_$type(destination, source, bytes);
//@ end
//@ each type of f16 bf16
  if constexpr (op == Reduction::add && type == ReductionType::$type) ptx::bulk_reduce_add_noftz_$type(destination, source, bytes);
//@ end
//@ each op of min max
//@ each type of u32 s32 u64 s64 f16 bf16
  if constexpr (op == Reduction::$op && type == ReductionType::$type) ptx::bulk_reduce_$op_$type(destination, source, bytes);
//@ end
//@ end
//@ each op of inc dec
  if constexpr (op == Reduction::$op) ptx::bulk_reduce_$op_u32(destination, source, bytes);
//@ end
//@ each op of and or xor
  if constexpr (op == Reduction::bit_$op && sizeof(T) == 4) ptx::bulk_reduce_$op_b32(destination, source, bytes);
  if constexpr (op == Reduction::bit_$op && sizeof(T) == 8) ptx::bulk_reduce_$op_b64(destination, source, bytes);
//@ end
}

// shared → shared memory of a CTA of the cluster, by .shared::cluster addresses; `barrier` there receives complete_tx of
// `bytes`.
template <Reduction op, class T>
__device__ __forceinline__ void bulk_reduce_shared(u32 destination, u32 source, u32 bytes, u32 barrier) {
  static_assert(engine_reduces<op, T, ReductionTarget::shared>(),
                "the copy engine does not reduce elements of this type so into shared memory: it adds u32, i32 and u64; takes min "
                "and max of u32 and i32; inc and dec of u32; and, or, xor of integers of four bytes");
  constexpr ReductionType type = reduction_type<T>;
//@ each type of u32 s32 u64
  if constexpr (op == Reduction::add && type == ReductionType::$type) ptx::bulk_reduce_shared_add_$type(destination, source, bytes, barrier);
//@ end
//@ each op of min max
//@ each type of u32 s32
  if constexpr (op == Reduction::$op && type == ReductionType::$type) ptx::bulk_reduce_shared_$op_$type(destination, source, bytes, barrier);
//@ end
//@ end
//@ each op of inc dec
  if constexpr (op == Reduction::$op) ptx::bulk_reduce_shared_$op_u32(destination, source, bytes, barrier);
//@ end
//@ each op of and or xor
  if constexpr (op == Reduction::bit_$op) ptx::bulk_reduce_shared_$op_b32(destination, source, bytes, barrier);
//@ end
}

// shared → global: combines the tile at `source` into the box at `at`; T is the map's type. Completes in a bulk group.
template <Reduction op, class T, u32 rank>
__device__ __forceinline__ void tensor_reduce(const TensorMap& map, const Coordinates<rank>& at, u32 source) {
  static_assert(engine_reduces<op, T, ReductionTarget::tensor>(),
                "the copy engine does not reduce elements of this type so through a tensor map: it adds u32, i32, u64, float, f16 "
                "and bf16; takes min and max of u32, i32, u64, i64, f16 and bf16; inc and dec of u32; and, or, xor of u32, i32 "
                "and u64");
//@ each op of add min max inc dec
  if constexpr (op == Reduction::$op) ptx::tensor_reduce_$op(map, at, source);
//@ end
//@ each op of and or xor
  if constexpr (op == Reduction::bit_$op) ptx::tensor_reduce_$op(map, at, source);
//@ end
}

}  // namespace tmajit
