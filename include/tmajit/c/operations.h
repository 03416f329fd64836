#ifndef TMAJIT_C_OPERATIONS_H
#define TMAJIT_C_OPERATIONS_H

// src/c/write_operations.cpp writes this file from the operations' descriptions.
// clang-format off

/// Every operation (docs/operations.md); those that are recipes are in <tmajit/c/recipes.h>. Each has four
/// functions:
///
/// tmajit_<operation>() enqueues the operation on `stream`. The first call compiles a kernel. Later calls of
/// the same thread for tensors of equal shapes, types and strides use the cached kernel.
///
/// tmajit_<operation>_plan() makes a plan, which the caller destroys. `family` restricts the choice of
/// kernels to one family (docs/architecture.md); null allows every family.
///
/// tmajit_<operation>_operation() makes the operation as a value for a chain (<tmajit/c/chain.h>), which the
/// caller destroys. Mistakes that only the tensors' memory or an expression has are found by
/// tmajit_chain_plan().
///
/// tmajit_<operation>_results() computes the shapes and types of the destinations. It stores dense tensors at
/// address 0. The caller sets the `size` of each tensor before the call. If an operation can have several
/// destinations, `*destination_count` is the capacity of the array before the call, and the number of
/// destinations after it. If `destinations` is null, only that number is stored.
///
/// `arguments` may be null if no argument is required. The status is TMAJIT_INVALID_ARGUMENT for shapes,
/// arguments or numbers of tensors that do not match, TMAJIT_ILLEGAL_SPEC for tensors that overlap or break
/// another rule, and TMAJIT_COMPILE_FAILED for a wrong expression.
#include <tmajit/c/chain.h>
#include <tmajit/c/plan.h>
#include <tmajit/c/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Copies elements as they are, repeated where the source's extents are 1.
typedef struct tmajit_copy_arguments {
  size_t size;  ///< sizeof(tmajit_copy_arguments)
} tmajit_copy_arguments;
TMAJIT_C_API tmajit_status tmajit_copy(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                       const tmajit_tensor* source, const tmajit_copy_arguments* arguments,
                                       void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_copy_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                            const tmajit_tensor* source,
                                            const tmajit_copy_arguments* arguments, const char* family,
                                            tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_copy_operation(const tmajit_tensor* destination,
                                                 const tmajit_tensor* source,
                                                 const tmajit_copy_arguments* arguments,
                                                 tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_copy_results(const tmajit_tensor* source,
                                               const tmajit_copy_arguments* arguments,
                                               tmajit_tensor* destination, tmajit_error** error);

/// Copies elements in another order of the dimensions.
typedef struct tmajit_permute_arguments {
  size_t size;  ///< sizeof(tmajit_permute_arguments)
  /// the new order of the dimensions; required
  tmajit_dims axes;
} tmajit_permute_arguments;
TMAJIT_C_API tmajit_status tmajit_permute(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                          const tmajit_tensor* source,
                                          const tmajit_permute_arguments* arguments, void* stream,
                                          tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_permute_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                               const tmajit_tensor* source,
                                               const tmajit_permute_arguments* arguments,
                                               const char* family, tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_permute_operation(const tmajit_tensor* destination,
                                                    const tmajit_tensor* source,
                                                    const tmajit_permute_arguments* arguments,
                                                    tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_permute_results(const tmajit_tensor* source,
                                                  const tmajit_permute_arguments* arguments,
                                                  tmajit_tensor* destination, tmajit_error** error);

/// Copies a part of the source.
typedef struct tmajit_slice_arguments {
  size_t size;  ///< sizeof(tmajit_slice_arguments)
  /// the part to copy, as Python's start:stop:step for each dimension; required
  tmajit_ranges slices;
} tmajit_slice_arguments;
TMAJIT_C_API tmajit_status tmajit_slice(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                        const tmajit_tensor* source,
                                        const tmajit_slice_arguments* arguments, void* stream,
                                        tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_slice_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                             const tmajit_tensor* source,
                                             const tmajit_slice_arguments* arguments, const char* family,
                                             tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_slice_operation(const tmajit_tensor* destination,
                                                  const tmajit_tensor* source,
                                                  const tmajit_slice_arguments* arguments,
                                                  tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_slice_results(const tmajit_tensor* source,
                                                const tmajit_slice_arguments* arguments,
                                                tmajit_tensor* destination, tmajit_error** error);

/// Copies elements with some dimensions backwards.
typedef struct tmajit_flip_arguments {
  size_t size;  ///< sizeof(tmajit_flip_arguments)
  /// the dimensions that are walked backwards; required
  tmajit_dims axes;
} tmajit_flip_arguments;
TMAJIT_C_API tmajit_status tmajit_flip(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                       const tmajit_tensor* source, const tmajit_flip_arguments* arguments,
                                       void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_flip_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                            const tmajit_tensor* source,
                                            const tmajit_flip_arguments* arguments, const char* family,
                                            tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_flip_operation(const tmajit_tensor* destination,
                                                 const tmajit_tensor* source,
                                                 const tmajit_flip_arguments* arguments,
                                                 tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_flip_results(const tmajit_tensor* source,
                                               const tmajit_flip_arguments* arguments,
                                               tmajit_tensor* destination, tmajit_error** error);

/// Repeats the source to a shape, by NumPy's rules.
typedef struct tmajit_broadcast_arguments {
  size_t size;  ///< sizeof(tmajit_broadcast_arguments)
  /// the shape to which the source is repeated; required
  tmajit_dims shape;
} tmajit_broadcast_arguments;
TMAJIT_C_API tmajit_status tmajit_broadcast(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                            const tmajit_tensor* source,
                                            const tmajit_broadcast_arguments* arguments, void* stream,
                                            tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_broadcast_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                                 const tmajit_tensor* source,
                                                 const tmajit_broadcast_arguments* arguments,
                                                 const char* family, tmajit_plan** plan,
                                                 tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_broadcast_operation(const tmajit_tensor* destination,
                                                      const tmajit_tensor* source,
                                                      const tmajit_broadcast_arguments* arguments,
                                                      tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_broadcast_results(const tmajit_tensor* source,
                                                    const tmajit_broadcast_arguments* arguments,
                                                    tmajit_tensor* destination, tmajit_error** error);

/// Copies elements and surrounds them with a value.
typedef struct tmajit_pad_arguments {
  size_t size;  ///< sizeof(tmajit_pad_arguments)
  /// elements added before each dimension, a colon, and those added after each; negative numbers crop;
  /// required
  tmajit_widths widths;
  /// the value around the source, converted to the element type; default: 0
  tmajit_number value;
} tmajit_pad_arguments;
TMAJIT_C_API tmajit_status tmajit_pad(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                      const tmajit_tensor* source, const tmajit_pad_arguments* arguments,
                                      void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_pad_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                           const tmajit_tensor* source,
                                           const tmajit_pad_arguments* arguments, const char* family,
                                           tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_pad_operation(const tmajit_tensor* destination,
                                                const tmajit_tensor* source,
                                                const tmajit_pad_arguments* arguments,
                                                tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_pad_results(const tmajit_tensor* source,
                                              const tmajit_pad_arguments* arguments,
                                              tmajit_tensor* destination, tmajit_error** error);

/// Converts values to the destination's type.
typedef struct tmajit_cast_arguments {
  size_t size;  ///< sizeof(tmajit_cast_arguments)
} tmajit_cast_arguments;
TMAJIT_C_API tmajit_status tmajit_cast(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                       const tmajit_tensor* source, const tmajit_cast_arguments* arguments,
                                       void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_cast_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                            const tmajit_tensor* source,
                                            const tmajit_cast_arguments* arguments, const char* family,
                                            tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_cast_operation(const tmajit_tensor* destination,
                                                 const tmajit_tensor* source,
                                                 const tmajit_cast_arguments* arguments,
                                                 tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_cast_results(const tmajit_tensor* source,
                                               const tmajit_cast_arguments* arguments,
                                               tmajit_tensor* destination, tmajit_error** error);

/// Joins sources one after the other along a dimension. It takes any number of sources.
typedef struct tmajit_concat_arguments {
  size_t size;  ///< sizeof(tmajit_concat_arguments)
  /// the dimension along which the sources are joined; required
  tmajit_integer axis;
  /// whether only the destination has that dimension, so that the sources are stacked: "no", "yes"; default:
  /// no
  const char* new_axis;
} tmajit_concat_arguments;
TMAJIT_C_API tmajit_status tmajit_concat(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                         const tmajit_tensor* sources, size_t source_count,
                                         const tmajit_concat_arguments* arguments, void* stream,
                                         tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_concat_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                              const tmajit_tensor* sources, size_t source_count,
                                              const tmajit_concat_arguments* arguments, const char* family,
                                              tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_concat_operation(const tmajit_tensor* destination,
                                                   const tmajit_tensor* sources, size_t source_count,
                                                   const tmajit_concat_arguments* arguments,
                                                   tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_concat_results(const tmajit_tensor* sources, size_t source_count,
                                                 const tmajit_concat_arguments* arguments,
                                                 tmajit_tensor* destination, tmajit_error** error);

/// Cuts the source along a dimension.
typedef struct tmajit_split_arguments {
  size_t size;  ///< sizeof(tmajit_split_arguments)
  /// the dimension along which the source is cut; required
  tmajit_integer axis;
  /// the destinations' extents along that dimension; default: 1 for each index
  tmajit_integers parts;
  /// whether only the source has that dimension: each destination is one index of it: "no", "yes"; default:
  /// no
  const char* drop_axis;
} tmajit_split_arguments;
TMAJIT_C_API tmajit_status tmajit_split(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                        size_t destination_count, const tmajit_tensor* source,
                                        const tmajit_split_arguments* arguments, void* stream,
                                        tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_split_plan(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                             size_t destination_count, const tmajit_tensor* source,
                                             const tmajit_split_arguments* arguments, const char* family,
                                             tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_split_operation(const tmajit_tensor* destinations,
                                                  size_t destination_count, const tmajit_tensor* source,
                                                  const tmajit_split_arguments* arguments,
                                                  tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_split_results(const tmajit_tensor* source,
                                                const tmajit_split_arguments* arguments,
                                                tmajit_tensor* destinations, size_t* destination_count,
                                                tmajit_error** error);

/// Computes an expression of each element's sources. It takes 0 to 8 sources.
typedef struct tmajit_map_arguments {
  size_t size;  ///< sizeof(tmajit_map_arguments)
  /// the C expression of x (or x0 … x7), p0 …, and g[d], the element's coordinate in dimension d; required;
  /// "x*2+1"
  const char* expression;
} tmajit_map_arguments;
TMAJIT_C_API tmajit_status tmajit_map(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                      const tmajit_tensor* sources, size_t source_count,
                                      const tmajit_map_arguments* arguments, void* stream,
                                      tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_map_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                           const tmajit_tensor* sources, size_t source_count,
                                           const tmajit_map_arguments* arguments, const char* family,
                                           tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_map_operation(const tmajit_tensor* destination,
                                                const tmajit_tensor* sources, size_t source_count,
                                                const tmajit_map_arguments* arguments,
                                                tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_map_results(const tmajit_tensor* sources, size_t source_count,
                                              const tmajit_map_arguments* arguments,
                                              tmajit_tensor* destination, tmajit_error** error);

/// Computes an expression of each element's neighbours. It takes 1 to 8 sources.
typedef struct tmajit_stencil_arguments {
  size_t size;  ///< sizeof(tmajit_stencil_arguments)
  /// the C expression, in which x(-1,0) is a neighbour of x, or x0(-1,0) of x0; it may read p0 …; required;
  /// "x(-1,0)+x(1,0)"
  const char* expression;
  /// the values of neighbours beyond an edge: "zero", "constant", "clamp", "wrap", "reflect"; default: zero
  const char* boundary;
  /// the value beyond an edge for the boundary "constant", converted to the element type; default: 0
  tmajit_number value;
  /// the dimension to which each offset applies, such as -1 and 0 of x(-1,0); default: the last ones
  tmajit_dims dims;
} tmajit_stencil_arguments;
TMAJIT_C_API tmajit_status tmajit_stencil(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                          const tmajit_tensor* sources, size_t source_count,
                                          const tmajit_stencil_arguments* arguments, void* stream,
                                          tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_stencil_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                               const tmajit_tensor* sources, size_t source_count,
                                               const tmajit_stencil_arguments* arguments,
                                               const char* family, tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_stencil_operation(const tmajit_tensor* destination,
                                                    const tmajit_tensor* sources, size_t source_count,
                                                    const tmajit_stencil_arguments* arguments,
                                                    tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_stencil_results(const tmajit_tensor* sources, size_t source_count,
                                                  const tmajit_stencil_arguments* arguments,
                                                  tmajit_tensor* destination, tmajit_error** error);

/// Reduces dimensions of the sources. It takes 1 to 8 sources.
typedef struct tmajit_reduce_arguments {
  size_t size;  ///< sizeof(tmajit_reduce_arguments)
  /// how the elements are combined: "sum", "mean", "min", "max", "any", "all", "arg_min", "arg_max"; required
  const char* op;
  /// the dimensions that are reduced; default: all
  tmajit_dims axes;
  /// the C expression of x (or x0 … x7) and p0 … that is reduced; default: the source's elements; "x*x"
  const char* expression;
  /// the epilogue of each result: a C expression of x, the result, n, the number of its elements, and p0 …;
  /// default: the result; "sqrt(x/n)"
  const char* epilogue;
  /// whether the destination keeps the reduced dimensions, with an extent of 1: "no", "yes"; default: no
  const char* keep_dims;
} tmajit_reduce_arguments;
TMAJIT_C_API tmajit_status tmajit_reduce(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                         const tmajit_tensor* sources, size_t source_count,
                                         const tmajit_reduce_arguments* arguments, void* stream,
                                         tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_reduce_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                              const tmajit_tensor* sources, size_t source_count,
                                              const tmajit_reduce_arguments* arguments, const char* family,
                                              tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_reduce_operation(const tmajit_tensor* destination,
                                                   const tmajit_tensor* sources, size_t source_count,
                                                   const tmajit_reduce_arguments* arguments,
                                                   tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_reduce_results(const tmajit_tensor* sources, size_t source_count,
                                                 const tmajit_reduce_arguments* arguments,
                                                 tmajit_tensor* destination, tmajit_error** error);

/// Computes cumulative sums, products, minima or maxima along a dimension. It takes 1 to 8 sources.
typedef struct tmajit_scan_arguments {
  size_t size;  ///< sizeof(tmajit_scan_arguments)
  /// how an element is combined with those before it: "sum", "product", "min", "max"; required
  const char* op;
  /// the dimension that is scanned; default: the last one
  tmajit_integer axis;
  /// whether a result combines the elements up to its own, or only those before it: "inclusive", "exclusive";
  /// default: inclusive
  const char* bound;
  /// the direction of the scan along the dimension: "forwards", "backwards"; default: forwards
  const char* direction;
  /// the C expression of x (or x0 … x7) and p0 … that is scanned; default: the source's elements; "x*x"
  const char* expression;
} tmajit_scan_arguments;
TMAJIT_C_API tmajit_status tmajit_scan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                       const tmajit_tensor* sources, size_t source_count,
                                       const tmajit_scan_arguments* arguments, void* stream,
                                       tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_scan_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                            const tmajit_tensor* sources, size_t source_count,
                                            const tmajit_scan_arguments* arguments, const char* family,
                                            tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_scan_operation(const tmajit_tensor* destination,
                                                 const tmajit_tensor* sources, size_t source_count,
                                                 const tmajit_scan_arguments* arguments,
                                                 tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_scan_results(const tmajit_tensor* sources, size_t source_count,
                                               const tmajit_scan_arguments* arguments,
                                               tmajit_tensor* destination, tmajit_error** error);

/// Computes reductions and element-wise steps over rows, in one pass. It takes 1 to 8 sources.
typedef struct tmajit_rowwise_arguments {
  size_t size;  ///< sizeof(tmajit_rowwise_arguments)
  /// the steps: C assignments that read x (or x0 …), p0 …, earlier steps, i, n and reductions; y (or y0 …) is
  /// stored; required; "m = max(x); y = x - m"
  const char* steps;
  /// the dimensions of a row; default: the last one
  tmajit_dims axes;
} tmajit_rowwise_arguments;
TMAJIT_C_API tmajit_status tmajit_rowwise(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                          size_t destination_count, const tmajit_tensor* sources,
                                          size_t source_count, const tmajit_rowwise_arguments* arguments,
                                          void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_rowwise_plan(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                               size_t destination_count, const tmajit_tensor* sources,
                                               size_t source_count,
                                               const tmajit_rowwise_arguments* arguments,
                                               const char* family, tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_rowwise_operation(const tmajit_tensor* destinations,
                                                    size_t destination_count, const tmajit_tensor* sources,
                                                    size_t source_count,
                                                    const tmajit_rowwise_arguments* arguments,
                                                    tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_rowwise_results(const tmajit_tensor* sources, size_t source_count,
                                                  const tmajit_rowwise_arguments* arguments,
                                                  tmajit_tensor* destinations, size_t* destination_count,
                                                  tmajit_error** error);

/// Scales and converts a matrix, and stores it in both orders, with its greatest magnitude, in one pass. It
/// takes 1 to 2 sources.
typedef struct tmajit_cast_transpose_arguments {
  size_t size;  ///< sizeof(tmajit_cast_transpose_arguments)
  /// the type of the converted elements: "e4m3", "e5m2", "i8", "f16", "bf16"; default: the destination's
  /// type, else e4m3
  const char* to;
  /// the orders in which the converted matrix is stored: "both", "plain", "transposed"; default: both
  const char* orders;
  /// whether the last destination gets the greatest magnitude of x: "no", "yes"; default: yes
  const char* amax;
} tmajit_cast_transpose_arguments;
TMAJIT_C_API tmajit_status tmajit_cast_transpose(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                                 size_t destination_count, const tmajit_tensor* sources,
                                                 size_t source_count,
                                                 const tmajit_cast_transpose_arguments* arguments,
                                                 void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_cast_transpose_plan(tmajit_runtime* runtime,
                                                      const tmajit_tensor* destinations,
                                                      size_t destination_count,
                                                      const tmajit_tensor* sources, size_t source_count,
                                                      const tmajit_cast_transpose_arguments* arguments,
                                                      const char* family, tmajit_plan** plan,
                                                      tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_cast_transpose_operation(const tmajit_tensor* destinations,
                                                           size_t destination_count,
                                                           const tmajit_tensor* sources,
                                                           size_t source_count,
                                                           const tmajit_cast_transpose_arguments* arguments,
                                                           tmajit_operation** operation,
                                                           tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_cast_transpose_results(const tmajit_tensor* sources, size_t source_count,
                                                         const tmajit_cast_transpose_arguments* arguments,
                                                         tmajit_tensor* destinations,
                                                         size_t* destination_count, tmajit_error** error);

/// Takes the k greatest or least elements of each row, in order, with their indices.
typedef struct tmajit_top_k_arguments {
  size_t size;  ///< sizeof(tmajit_top_k_arguments)
  /// the number of elements that are taken from each row; required
  tmajit_integer k;
  /// the dimension along which rows run; default: the last one
  tmajit_integer axis;
  /// whether the greatest elements are taken, or the least: "no", "yes"; default: yes
  const char* largest;
  /// the type of the index, or no for values alone: "i64", "i32", "no"; default: the destination's type, else
  /// i64
  const char* index;
} tmajit_top_k_arguments;
TMAJIT_C_API tmajit_status tmajit_top_k(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                        size_t destination_count, const tmajit_tensor* source,
                                        const tmajit_top_k_arguments* arguments, void* stream,
                                        tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_top_k_plan(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                             size_t destination_count, const tmajit_tensor* source,
                                             const tmajit_top_k_arguments* arguments, const char* family,
                                             tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_top_k_operation(const tmajit_tensor* destinations,
                                                  size_t destination_count, const tmajit_tensor* source,
                                                  const tmajit_top_k_arguments* arguments,
                                                  tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_top_k_results(const tmajit_tensor* source,
                                                const tmajit_top_k_arguments* arguments,
                                                tmajit_tensor* destinations, size_t* destination_count,
                                                tmajit_error** error);

/// Takes the elements of the source that index tensors select. It takes 2 to 8 sources.
typedef struct tmajit_gather_arguments {
  size_t size;  ///< sizeof(tmajit_gather_arguments)
  /// the neighbouring dimensions that are indexed, one for each index tensor; default: 0
  tmajit_dims axes;
  /// whether the one index tensor has the rank of the indexed tensor: NumPy's take_along_axis and
  /// put_along_axis: "no", "yes"; default: no
  const char* along;
  /// the element that an index outside of its dimension selects: none, the nearest one, or none after which
  /// the kernel stops by a device assertion: "skip", "clamp", "error"; default: skip
  const char* out_of_range;
  /// the element that is stored where an index selects none; default: 0
  tmajit_number value;
  /// whether one index tensor numbers the elements of all axes together, in row-major order: "no", "yes";
  /// default: no
  const char* flat;
  /// the C expression of x, the selected element, and p0 … that is stored; default: the selected elements'
  /// bits; "x*2+1"
  const char* expression;
} tmajit_gather_arguments;
TMAJIT_C_API tmajit_status tmajit_gather(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                         const tmajit_tensor* sources, size_t source_count,
                                         const tmajit_gather_arguments* arguments, void* stream,
                                         tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_gather_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                              const tmajit_tensor* sources, size_t source_count,
                                              const tmajit_gather_arguments* arguments, const char* family,
                                              tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_gather_operation(const tmajit_tensor* destination,
                                                   const tmajit_tensor* sources, size_t source_count,
                                                   const tmajit_gather_arguments* arguments,
                                                   tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_gather_results(const tmajit_tensor* sources, size_t source_count,
                                                 const tmajit_gather_arguments* arguments,
                                                 tmajit_tensor* destination, tmajit_error** error);

/// Stores the source's elements where index tensors say; other elements stay. It takes 2 to 8 sources.
typedef struct tmajit_scatter_arguments {
  size_t size;  ///< sizeof(tmajit_scatter_arguments)
  /// the neighbouring dimensions that are indexed, one for each index tensor; default: 0
  tmajit_dims axes;
  /// whether the one index tensor has the rank of the indexed tensor: NumPy's take_along_axis and
  /// put_along_axis: "no", "yes"; default: no
  const char* along;
  /// the element that an index outside of its dimension selects: none, the nearest one, or none after which
  /// the kernel stops by a device assertion: "skip", "clamp", "error"; default: skip
  const char* out_of_range;
  /// whether one index tensor numbers the elements of all axes together, in row-major order: "no", "yes";
  /// default: no
  const char* flat;
} tmajit_scatter_arguments;
TMAJIT_C_API tmajit_status tmajit_scatter(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                          const tmajit_tensor* sources, size_t source_count,
                                          const tmajit_scatter_arguments* arguments, void* stream,
                                          tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_scatter_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                               const tmajit_tensor* sources, size_t source_count,
                                               const tmajit_scatter_arguments* arguments,
                                               const char* family, tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_scatter_operation(const tmajit_tensor* destination,
                                                    const tmajit_tensor* sources, size_t source_count,
                                                    const tmajit_scatter_arguments* arguments,
                                                    tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_scatter_results(const tmajit_tensor* sources, size_t source_count,
                                                  const tmajit_scatter_arguments* arguments,
                                                  tmajit_tensor* destination, tmajit_error** error);

/// Adds the source's elements to those that index tensors select. It takes 2 to 8 sources.
typedef struct tmajit_scatter_add_arguments {
  size_t size;  ///< sizeof(tmajit_scatter_add_arguments)
  /// the neighbouring dimensions that are indexed, one for each index tensor; default: 0
  tmajit_dims axes;
  /// whether the one index tensor has the rank of the indexed tensor: NumPy's take_along_axis and
  /// put_along_axis: "no", "yes"; default: no
  const char* along;
  /// the element that an index outside of its dimension selects: none, the nearest one, or none after which
  /// the kernel stops by a device assertion: "skip", "clamp", "error"; default: skip
  const char* out_of_range;
  /// whether additions to an element have a fixed order, so that equal calls leave equal bits: "no", "yes";
  /// default: no
  const char* deterministic;
  /// whether one index tensor numbers the elements of all axes together, in row-major order: "no", "yes";
  /// default: no
  const char* flat;
} tmajit_scatter_add_arguments;
TMAJIT_C_API tmajit_status tmajit_scatter_add(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                              const tmajit_tensor* sources, size_t source_count,
                                              const tmajit_scatter_add_arguments* arguments, void* stream,
                                              tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_scatter_add_plan(tmajit_runtime* runtime,
                                                   const tmajit_tensor* destination,
                                                   const tmajit_tensor* sources, size_t source_count,
                                                   const tmajit_scatter_add_arguments* arguments,
                                                   const char* family, tmajit_plan** plan,
                                                   tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_scatter_add_operation(const tmajit_tensor* destination,
                                                        const tmajit_tensor* sources, size_t source_count,
                                                        const tmajit_scatter_add_arguments* arguments,
                                                        tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_scatter_add_results(const tmajit_tensor* sources, size_t source_count,
                                                      const tmajit_scatter_add_arguments* arguments,
                                                      tmajit_tensor* destination, tmajit_error** error);

/// Sorts the rows of tokens by expert, stably, and says where they are. It takes 2 sources.
typedef struct tmajit_moe_permute_arguments {
  size_t size;  ///< sizeof(tmajit_moe_permute_arguments)
  /// the number of experts; ids from this number on and negative ones move nothing; required
  tmajit_integer count;
  /// the first row of each expert is a multiple of this number; default: 1
  tmajit_integer alignment;
} tmajit_moe_permute_arguments;
TMAJIT_C_API tmajit_status tmajit_moe_permute(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                              size_t destination_count, const tmajit_tensor* sources,
                                              size_t source_count,
                                              const tmajit_moe_permute_arguments* arguments, void* stream,
                                              tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_moe_permute_plan(tmajit_runtime* runtime,
                                                   const tmajit_tensor* destinations,
                                                   size_t destination_count, const tmajit_tensor* sources,
                                                   size_t source_count,
                                                   const tmajit_moe_permute_arguments* arguments,
                                                   const char* family, tmajit_plan** plan,
                                                   tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_moe_permute_operation(const tmajit_tensor* destinations,
                                                        size_t destination_count,
                                                        const tmajit_tensor* sources, size_t source_count,
                                                        const tmajit_moe_permute_arguments* arguments,
                                                        tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_moe_permute_results(const tmajit_tensor* sources, size_t source_count,
                                                      const tmajit_moe_permute_arguments* arguments,
                                                      tmajit_tensor* destinations,
                                                      size_t* destination_count, tmajit_error** error);

/// Adds up the elements of the source that an index tensor selects, times weights. It takes 2 to 4 sources.
typedef struct tmajit_gather_sum_arguments {
  size_t size;  ///< sizeof(tmajit_gather_sum_arguments)
  /// the dimension that is indexed; several neighbours if they are flat; default: 0
  tmajit_dims axes;
  /// the element that an index outside of its dimension selects: none, the nearest one, or none after which
  /// the kernel stops by a device assertion: "skip", "clamp", "error"; default: skip
  const char* out_of_range;
  /// whether one index tensor numbers the elements of all axes together, in row-major order: "no", "yes";
  /// default: no
  const char* flat;
  /// whether the last source holds offsets, which divide the indices into bags of different lengths: "no",
  /// "yes"; default: no
  const char* ragged;
} tmajit_gather_sum_arguments;
TMAJIT_C_API tmajit_status tmajit_gather_sum(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                             const tmajit_tensor* sources, size_t source_count,
                                             const tmajit_gather_sum_arguments* arguments, void* stream,
                                             tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_gather_sum_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                                  const tmajit_tensor* sources, size_t source_count,
                                                  const tmajit_gather_sum_arguments* arguments,
                                                  const char* family, tmajit_plan** plan,
                                                  tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_gather_sum_operation(const tmajit_tensor* destination,
                                                       const tmajit_tensor* sources, size_t source_count,
                                                       const tmajit_gather_sum_arguments* arguments,
                                                       tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_gather_sum_results(const tmajit_tensor* sources, size_t source_count,
                                                     const tmajit_gather_sum_arguments* arguments,
                                                     tmajit_tensor* destination, tmajit_error** error);

/// Copies each source to a destination, tensors of different sizes in one launch. It takes as many sources as
/// destinations.
typedef struct tmajit_copy_ragged_arguments {
  size_t size;  ///< sizeof(tmajit_copy_ragged_arguments)
} tmajit_copy_ragged_arguments;
TMAJIT_C_API tmajit_status tmajit_copy_ragged(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                              size_t destination_count, const tmajit_tensor* sources,
                                              size_t source_count,
                                              const tmajit_copy_ragged_arguments* arguments, void* stream,
                                              tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_copy_ragged_plan(tmajit_runtime* runtime,
                                                   const tmajit_tensor* destinations,
                                                   size_t destination_count, const tmajit_tensor* sources,
                                                   size_t source_count,
                                                   const tmajit_copy_ragged_arguments* arguments,
                                                   const char* family, tmajit_plan** plan,
                                                   tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_copy_ragged_operation(const tmajit_tensor* destinations,
                                                        size_t destination_count,
                                                        const tmajit_tensor* sources, size_t source_count,
                                                        const tmajit_copy_ragged_arguments* arguments,
                                                        tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_copy_ragged_results(const tmajit_tensor* sources, size_t source_count,
                                                      const tmajit_copy_ragged_arguments* arguments,
                                                      tmajit_tensor* destinations,
                                                      size_t* destination_count, tmajit_error** error);

/// Combines the source's elements with the destination's, by the copy engine.
typedef struct tmajit_reduce_into_arguments {
  size_t size;  ///< sizeof(tmajit_reduce_into_arguments)
  /// how each source element is combined with the destination's: "add", "min", "max", "inc", "dec", "and",
  /// "or", "xor"; required
  const char* op;
} tmajit_reduce_into_arguments;
TMAJIT_C_API tmajit_status tmajit_reduce_into(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                              const tmajit_tensor* source,
                                              const tmajit_reduce_into_arguments* arguments, void* stream,
                                              tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_reduce_into_plan(tmajit_runtime* runtime,
                                                   const tmajit_tensor* destination,
                                                   const tmajit_tensor* source,
                                                   const tmajit_reduce_into_arguments* arguments,
                                                   const char* family, tmajit_plan** plan,
                                                   tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_reduce_into_operation(const tmajit_tensor* destination,
                                                        const tmajit_tensor* source,
                                                        const tmajit_reduce_into_arguments* arguments,
                                                        tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_reduce_into_results(const tmajit_tensor* source,
                                                      const tmajit_reduce_into_arguments* arguments,
                                                      tmajit_tensor* destination, tmajit_error** error);

/// Writes the pixels of each window of images side by side.
typedef struct tmajit_im2col_arguments {
  size_t size;  ///< sizeof(tmajit_im2col_arguments)
  /// the taps of a window in each dimension of the images; required
  tmajit_dims filter;
  /// pixels from window to window; default: 1
  tmajit_dims strides;
  /// pixels from tap to tap; default: 1
  tmajit_dims dilations;
  /// pixels of zeros before and after each dimension of the images; default: 0
  tmajit_widths padding;
} tmajit_im2col_arguments;
TMAJIT_C_API tmajit_status tmajit_im2col(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                         const tmajit_tensor* source,
                                         const tmajit_im2col_arguments* arguments, void* stream,
                                         tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_im2col_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                              const tmajit_tensor* source,
                                              const tmajit_im2col_arguments* arguments, const char* family,
                                              tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_im2col_operation(const tmajit_tensor* destination,
                                                   const tmajit_tensor* source,
                                                   const tmajit_im2col_arguments* arguments,
                                                   tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_im2col_results(const tmajit_tensor* source,
                                                 const tmajit_im2col_arguments* arguments,
                                                 tmajit_tensor* destination, tmajit_error** error);

/// Computes the forward convolution of images and a filter, in f32. It takes 2 sources.
typedef struct tmajit_convolution_arguments {
  size_t size;  ///< sizeof(tmajit_convolution_arguments)
  /// the taps of a window in each dimension of the images; default: those of the filter tensor
  tmajit_dims filter;
  /// pixels from window to window; default: 1
  tmajit_dims strides;
  /// pixels from tap to tap; default: 1
  tmajit_dims dilations;
  /// pixels of zeros before and after each dimension of the images; default: 0
  tmajit_widths padding;
} tmajit_convolution_arguments;
TMAJIT_C_API tmajit_status tmajit_convolution(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                              const tmajit_tensor* sources, size_t source_count,
                                              const tmajit_convolution_arguments* arguments, void* stream,
                                              tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_convolution_plan(tmajit_runtime* runtime,
                                                   const tmajit_tensor* destination,
                                                   const tmajit_tensor* sources, size_t source_count,
                                                   const tmajit_convolution_arguments* arguments,
                                                   const char* family, tmajit_plan** plan,
                                                   tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_convolution_operation(const tmajit_tensor* destination,
                                                        const tmajit_tensor* sources, size_t source_count,
                                                        const tmajit_convolution_arguments* arguments,
                                                        tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_convolution_results(const tmajit_tensor* sources, size_t source_count,
                                                      const tmajit_convolution_arguments* arguments,
                                                      tmajit_tensor* destination, tmajit_error** error);

/// Copies, combines or computes by a kernel whose tile you choose, without rewriting the tensors. It takes 1
/// to 8 sources.
typedef struct tmajit_tiles_arguments {
  size_t size;  ///< sizeof(tmajit_tiles_arguments)
  /// the family of kernels: "copy", "map", "bulk", "snapshot", "reduce_into"; default: copy
  const char* family;
  /// the expression of map or bulk; it may read p0 …, t[d], the element's position in the tile, and
  /// tile_index, its number; default: none; "x*2+1"
  const char* expression;
  /// how each source element is combined with the destination's: "add", "min", "max", "inc", "dec", "and",
  /// "or", "xor"; default: add
  const char* op;
  /// the tile of the first source, in elements; for bulk one number; default: the family's
  tmajit_dims box;
  /// for each dimension a number n, 1 to 8: a tile loads every n-th element; default: every element
  tmajit_dims element_strides;
  /// how rows of the tile are permuted in shared memory: "none", "32B", "64B", "128B"; default: none
  const char* swizzle;
  /// the layout of channels; every family supports only none: "none", "16B", "32B"; default: none
  const char* interleave;
  /// the values that elements outside the tensor have: "zero", "nan"; default: zero
  const char* oob;
  /// the granularity of fetches into L2: "none", "64B", "128B", "256B"; default: 256B
  const char* l2;
  /// input tiles in flight; default: the family's
  tmajit_integer stages;
  /// output tiles in flight; default: the family's
  tmajit_integer output_stages;
  /// warps that compute; default: the family's
  tmajit_integer warps;
  /// CTAs that share an SM; default: the family's
  tmajit_integer ctas_per_sm;
  /// tiles that a CTA processes before it ends; 0: a persistent grid; default: the family's
  tmajit_integer tiles_per_cta;
} tmajit_tiles_arguments;
TMAJIT_C_API tmajit_status tmajit_tiles(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                        const tmajit_tensor* sources, size_t source_count,
                                        const tmajit_tiles_arguments* arguments, void* stream,
                                        tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_tiles_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                             const tmajit_tensor* sources, size_t source_count,
                                             const tmajit_tiles_arguments* arguments, const char* family,
                                             tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_tiles_operation(const tmajit_tensor* destination,
                                                  const tmajit_tensor* sources, size_t source_count,
                                                  const tmajit_tiles_arguments* arguments,
                                                  tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_tiles_results(const tmajit_tensor* sources, size_t source_count,
                                                const tmajit_tiles_arguments* arguments,
                                                tmajit_tensor* destination, tmajit_error** error);

#ifdef __cplusplus
}
#endif
#endif
