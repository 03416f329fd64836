#ifndef TMAJIT_C_TENSOR_H
#define TMAJIT_C_TENSOR_H

/// Element types, tensors, and the types of operations' arguments.
///
/// Structs that may grow begin with the member `size`, which the caller sets. It tells a later version of the
/// library which members the caller's program knows. All other members may be 0, which means the default:
/// `tmajit_tensor x = {.size = sizeof x}`.
#include <tmajit/c/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The type of one element. Later versions do not change these values. 0 is not a type.
typedef int32_t tmajit_dtype;
enum {
  TMAJIT_U8 = 1,
  TMAJIT_I8 = 2,
  TMAJIT_U16 = 3,
  TMAJIT_I16 = 4,
  TMAJIT_U32 = 5,
  TMAJIT_I32 = 6,
  TMAJIT_U64 = 7,
  TMAJIT_I64 = 8,
  TMAJIT_F16 = 9,
  TMAJIT_BF16 = 10,
  TMAJIT_F32 = 11,
  TMAJIT_F32_FTZ = 12,  ///< f32 whose subnormals the copy engine replaces by zero
  TMAJIT_F64 = 13,
  TMAJIT_TF32 = 14,      ///< f32 that the copy engine rounds to 10 mantissa bits
  TMAJIT_TF32_FTZ = 15,  ///< TMAJIT_TF32 and subnormals replaced by zero
  TMAJIT_E4M3 = 16,
  TMAJIT_E5M2 = 17
};
/// Bytes of one element: 1, 2, 4 or 8; 0 for an unknown type.
TMAJIT_C_API uint32_t tmajit_dtype_bytes(tmajit_dtype dtype);
/// "f32", "bf16"; null for an unknown type.
TMAJIT_C_API const char* tmajit_dtype_name(tmajit_dtype dtype);
/// The type of that name, tmajit's ("f32") or NumPy's ("float32"); 0 for an unknown name and for null.
TMAJIT_C_API tmajit_dtype tmajit_dtype_of(const char* name);

/// The maximum rank of a tensor.
#define TMAJIT_MAX_RANK 8

/// A view of memory that the caller owns, or a number, which expressions read as p0, p1 … (docs/move.md). All
/// elements of an array of tensors have the same `size`.
typedef struct tmajit_tensor {
  size_t size;                       ///< sizeof(tmajit_tensor)
  uint64_t address;                  ///< CUdeviceptr of the element with all indices 0
  tmajit_dtype dtype;                ///< TMAJIT_F32 …
  uint32_t rank;                     ///< dimensions, 0 to 8
  uint32_t strided;                  ///< 0: the tensor is dense and row-major, and `strides` is not read
  uint32_t is_number;                ///< 1: a number in place of a source; `rank` is 0, `address` its bits
  int64_t extents[TMAJIT_MAX_RANK];  ///< elements, outermost dimension first
  int64_t strides[TMAJIT_MAX_RANK];  ///< elements, of either sign or 0
} tmajit_tensor;

/// One number for each dimension. If `count` is 0, an optional argument has its default.
typedef struct tmajit_dims {
  uint32_t count;     ///< 0 to 8
  uint32_t reserved;  ///< 0
  int64_t values[TMAJIT_MAX_RANK];
} tmajit_dims;

/// A number, or the default if `given` is 0.
typedef struct tmajit_number {
  double value;
  uint32_t given;     ///< 0 or 1
  uint32_t reserved;  ///< 0
} tmajit_number;

/// A whole number, or the default if `given` is 0.
typedef struct tmajit_integer {
  int64_t value;
  uint32_t given;     ///< 0 or 1
  uint32_t reserved;  ///< 0
} tmajit_integer;

/// An array of whole numbers. The call reads it and keeps no pointer.
typedef struct tmajit_integers {
  size_t count;
  const int64_t* values;
} tmajit_integers;

/// The elements taken of one dimension: Python's start:stop:step. A number that is not given has Python's
/// default, so a struct of zeros takes the whole dimension.
typedef struct tmajit_range {
  tmajit_integer start;
  tmajit_integer stop;
  tmajit_integer step;
} tmajit_range;
/// A range for each of the first `count` dimensions. Later dimensions stay whole.
typedef struct tmajit_ranges {
  uint32_t count;     ///< 0 to 8
  uint32_t reserved;  ///< 0
  tmajit_range values[TMAJIT_MAX_RANK];
} tmajit_ranges;

/// Elements that are added before and after each dimension; a negative number crops.
typedef struct tmajit_widths {
  uint32_t count;     ///< dimensions, 0 to 8
  uint32_t reserved;  ///< 0
  int64_t before[TMAJIT_MAX_RANK];
  int64_t after[TMAJIT_MAX_RANK];
} tmajit_widths;

/// The range of memory that holds a tensor's elements. It begins `*before` bytes before the tensor's address,
/// because of negative strides, and has `*bytes` bytes. Both are 0 for a tensor without elements.
TMAJIT_C_API tmajit_status tmajit_tensor_memory(const tmajit_tensor* tensor, uint64_t* before,
                                                uint64_t* bytes, tmajit_error** error);

// These functions make other views of the same memory, without copying elements. They fill `*view`, whose
// size the caller has set. `view` may be `tensor`.

/// Dimension d of the view is dimension axes[d] of the tensor; a negative axis counts from the end.
TMAJIT_C_API tmajit_status tmajit_tensor_permuted(const tmajit_tensor* tensor, const tmajit_dims* axes,
                                                  tmajit_tensor* view, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_tensor_sliced(const tmajit_tensor* tensor, const tmajit_ranges* ranges,
                                                tmajit_tensor* view, tmajit_error** error);
/// Reverses dimension `axis`.
TMAJIT_C_API tmajit_status tmajit_tensor_flipped(const tmajit_tensor* tensor, int64_t axis,
                                                 tmajit_tensor* view, tmajit_error** error);
/// Repeats the tensor to `shape` by NumPy's rules, with strides of 0.
TMAJIT_C_API tmajit_status tmajit_tensor_broadcast(const tmajit_tensor* tensor, const tmajit_dims* shape,
                                                   tmajit_tensor* view, tmajit_error** error);
/// The same elements, in row-major order, as another shape. TMAJIT_INVALID_ARGUMENT if that needs a copy.
TMAJIT_C_API tmajit_status tmajit_tensor_reshaped(const tmajit_tensor* tensor, const tmajit_dims* shape,
                                                  tmajit_tensor* view, tmajit_error** error);
/// The same bits as elements of another type of the same size.
TMAJIT_C_API tmajit_status tmajit_tensor_reinterpreted(const tmajit_tensor* tensor, tmajit_dtype dtype,
                                                       tmajit_tensor* view, tmajit_error** error);

#ifdef __cplusplus
}
#endif
#endif
