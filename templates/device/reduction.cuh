// Reductions by the copy engine for elements of a C++ type; reductions that it does not support do not compile.
//@ # Each function calls one function of bulk_reduce.cuh or bulk_tensor_reduce.cuh in templates/ptx. Generated kernels
//@ # call those by name, so that their sources hold no others.
#pragma once
#include "tmajit/bulk_reduce.cuh"
#include "tmajit/bulk_tensor_reduce.cuh"
#include "tmajit/element.cuh"

namespace tmajit {

// inc: old >= value ? 0 : old + 1. dec: old == 0 || old > value ? value : old - 1.
enum class Reduction { add, min, max, inc, dec, bit_and, bit_or, bit_xor };

// The destination: global memory by a bulk copy or through a tensor map, or shared memory of a CTA of the cluster.
enum class ReductionTarget { global, tensor, shared };

// PTX's name of an element type.
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

// Whether the copy engine combines elements of T by `op` into this target.
template <Reduction op, class T, ReductionTarget target>
__device__ constexpr bool engine_reduces() {
  using Type = ReductionType;
  constexpr Type type = reduction_type<T>;
  constexpr bool shared = target == ReductionTarget::shared;
  constexpr bool int32 = type == Type::u32 || type == Type::s32;
  constexpr bool half = !shared && (type == Type::f16 || type == Type::bf16);
  if constexpr (op == Reduction::add) {
    return int32 || type == Type::u64 || half || (!shared && type == Type::f32) ||
           (target == ReductionTarget::global && type == Type::f64);
  } else if constexpr (op == Reduction::min || op == Reduction::max) {
    return int32 || half || (!shared && (type == Type::u64 || type == Type::s64));
  } else if constexpr (op == Reduction::inc || op == Reduction::dec) {
    return type == Type::u32;
  } else {
    // Through a map of i64, and, or and xor are illegal instructions (docs/tma.md); a map of u64 has the same bits.
    return int32 || (!shared && type == Type::u64) || (target == ReductionTarget::global && type == Type::s64);
  }
}

// PTX's name of a reduction: the operation and its type.
struct ReductionForm {
  enum Form {
    none,
    add_u32, add_s32, add_u64, add_f32, add_f64, add_noftz_f16, add_noftz_bf16,
    min_u32, min_s32, min_u64, min_s64, min_f16, min_bf16,
    max_u32, max_s32, max_u64, max_s64, max_f16, max_bf16,
    inc_u32, dec_u32, and_b32, and_b64, or_b32, or_b64, xor_b32, xor_b64,
  };
  template <Reduction op, class T>
  static __device__ constexpr Form of() {
    constexpr Form forms[][9] = {
        // none u32     s32      u64      s64      f16            bf16            f32      f64
        {none, add_u32, add_s32, add_u64, none,    add_noftz_f16, add_noftz_bf16, add_f32, add_f64},  // add
        {none, min_u32, min_s32, min_u64, min_s64, min_f16,       min_bf16,       none,    none},     // min
        {none, max_u32, max_s32, max_u64, max_s64, max_f16,       max_bf16,       none,    none},     // max
        {none, inc_u32, none,    none,    none,    none,          none,           none,    none},     // inc
        {none, dec_u32, none,    none,    none,    none,          none,           none,    none},     // dec
        {none, and_b32, and_b32, and_b64, and_b64, none,          none,           none,    none},     // bit_and
        {none, or_b32,  or_b32,  or_b64,  or_b64,  none,          none,           none,    none},     // bit_or
        {none, xor_b32, xor_b32, xor_b64, xor_b64, none,          none,           none,    none},     // bit_xor
    };
    return forms[static_cast<u32>(op)][static_cast<u32>(reduction_type<T>)];
  }
};

// shared → global: combines `bytes` of elements at `source` into those at `destination`; completes in a bulk group.
template <Reduction op, class T>
__device__ __forceinline__ void bulk_reduce(T* destination, u32 source, u32 bytes) {
  static_assert(engine_reduces<op, T, ReductionTarget::global>(),
                "the copy engine does not reduce elements of this type so: it adds u32, i32, u64, float, double, f16 and bf16; "
                "takes min and max of u32, i32, u64, i64, f16 and bf16; inc and dec of u32; and, or, xor of integers of four and "
                "eight bytes");
  constexpr ReductionForm::Form form = ReductionForm::of<op, T>();
//@ each form of add_u32 add_s32 add_u64 add_f32 add_f64 add_noftz_f16 add_noftz_bf16 min_u32 min_s32 min_u64 min_s64 min_f16 min_bf16 max_u32 max_s32 max_u64 max_s64 max_f16 max_bf16 inc_u32 dec_u32 and_b32 and_b64 or_b32 or_b64 xor_b32 xor_b64
  if constexpr (form == ReductionForm::$form) ptx::bulk_reduce_$form(destination, source, bytes);
//@ end
}

// shared → shared memory of a CTA of the cluster, by .shared::cluster addresses; `barrier` there receives complete_tx of
// `bytes`.
template <Reduction op, class T>
__device__ __forceinline__ void bulk_reduce_shared(u32 destination, u32 source, u32 bytes, u32 barrier) {
  static_assert(engine_reduces<op, T, ReductionTarget::shared>(),
                "the copy engine does not reduce elements of this type so into shared memory: it adds u32, i32 and u64; takes min "
                "and max of u32 and i32; inc and dec of u32; and, or, xor of integers of four bytes");
  constexpr ReductionForm::Form form = ReductionForm::of<op, T>();
//@ each form of add_u32 add_s32 add_u64 min_u32 min_s32 max_u32 max_s32 inc_u32 dec_u32 and_b32 or_b32 xor_b32
  if constexpr (form == ReductionForm::$form) ptx::bulk_reduce_shared_$form(destination, source, bytes, barrier);
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
