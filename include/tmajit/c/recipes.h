#ifndef TMAJIT_C_RECIPES_H
#define TMAJIT_C_RECIPES_H

// src/c/write_operations.cpp writes this file from the operations' descriptions.
// clang-format off

/// Recipes: operations on rows with names of their own, such as softmax and norms (docs/rowwise.md). Their
/// functions are those of every operation (<tmajit/c/operations.h>).
#include <tmajit/c/chain.h>
#include <tmajit/c/plan.h>
#include <tmajit/c/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Computes the softmax of rows.
typedef struct tmajit_softmax_arguments {
  size_t size;  ///< sizeof(tmajit_softmax_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
} tmajit_softmax_arguments;
TMAJIT_C_API tmajit_status tmajit_softmax(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                          const tmajit_tensor* source,
                                          const tmajit_softmax_arguments* arguments, void* stream,
                                          tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_softmax_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                               const tmajit_tensor* source,
                                               const tmajit_softmax_arguments* arguments,
                                               const char* family, tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_softmax_operation(const tmajit_tensor* destination,
                                                    const tmajit_tensor* source,
                                                    const tmajit_softmax_arguments* arguments,
                                                    tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_softmax_results(const tmajit_tensor* source,
                                                  const tmajit_softmax_arguments* arguments,
                                                  tmajit_tensor* destination, tmajit_error** error);

/// Computes the gradient of a softmax from its result y. Its sources are dy, y.
typedef struct tmajit_softmax_backward_arguments {
  size_t size;  ///< sizeof(tmajit_softmax_backward_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
} tmajit_softmax_backward_arguments;
TMAJIT_C_API tmajit_status tmajit_softmax_backward(tmajit_runtime* runtime,
                                                   const tmajit_tensor* destination,
                                                   const tmajit_tensor* sources, size_t source_count,
                                                   const tmajit_softmax_backward_arguments* arguments,
                                                   void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_softmax_backward_plan(tmajit_runtime* runtime,
                                                        const tmajit_tensor* destination,
                                                        const tmajit_tensor* sources, size_t source_count,
                                                        const tmajit_softmax_backward_arguments* arguments,
                                                        const char* family, tmajit_plan** plan,
                                                        tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_softmax_backward_operation(const tmajit_tensor* destination,
                                                             const tmajit_tensor* sources,
                                                             size_t source_count,
                                                             const tmajit_softmax_backward_arguments* arguments,
                                                             tmajit_operation** operation,
                                                             tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_softmax_backward_results(const tmajit_tensor* sources,
                                                           size_t source_count,
                                                           const tmajit_softmax_backward_arguments* arguments,
                                                           tmajit_tensor* destination, tmajit_error** error);

/// Computes the logarithm of the softmax of rows.
typedef struct tmajit_log_softmax_arguments {
  size_t size;  ///< sizeof(tmajit_log_softmax_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
} tmajit_log_softmax_arguments;
TMAJIT_C_API tmajit_status tmajit_log_softmax(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                              const tmajit_tensor* source,
                                              const tmajit_log_softmax_arguments* arguments, void* stream,
                                              tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_log_softmax_plan(tmajit_runtime* runtime,
                                                   const tmajit_tensor* destination,
                                                   const tmajit_tensor* source,
                                                   const tmajit_log_softmax_arguments* arguments,
                                                   const char* family, tmajit_plan** plan,
                                                   tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_log_softmax_operation(const tmajit_tensor* destination,
                                                        const tmajit_tensor* source,
                                                        const tmajit_log_softmax_arguments* arguments,
                                                        tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_log_softmax_results(const tmajit_tensor* source,
                                                      const tmajit_log_softmax_arguments* arguments,
                                                      tmajit_tensor* destination, tmajit_error** error);

/// Computes the gradient of a log_softmax from its result y. Its sources are dy, y.
typedef struct tmajit_log_softmax_backward_arguments {
  size_t size;  ///< sizeof(tmajit_log_softmax_backward_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
} tmajit_log_softmax_backward_arguments;
TMAJIT_C_API tmajit_status tmajit_log_softmax_backward(tmajit_runtime* runtime,
                                                       const tmajit_tensor* destination,
                                                       const tmajit_tensor* sources, size_t source_count,
                                                       const tmajit_log_softmax_backward_arguments* arguments,
                                                       void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_log_softmax_backward_plan(tmajit_runtime* runtime,
                                                            const tmajit_tensor* destination,
                                                            const tmajit_tensor* sources,
                                                            size_t source_count,
                                                            const tmajit_log_softmax_backward_arguments* arguments,
                                                            const char* family, tmajit_plan** plan,
                                                            tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_log_softmax_backward_operation(const tmajit_tensor* destination,
                                                                 const tmajit_tensor* sources,
                                                                 size_t source_count,
                                                                 const tmajit_log_softmax_backward_arguments* arguments,
                                                                 tmajit_operation** operation,
                                                                 tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_log_softmax_backward_results(const tmajit_tensor* sources,
                                                               size_t source_count,
                                                               const tmajit_log_softmax_backward_arguments* arguments,
                                                               tmajit_tensor* destination,
                                                               tmajit_error** error);

/// Computes the logarithm of the sum of a row's exponentials.
typedef struct tmajit_logsumexp_arguments {
  size_t size;  ///< sizeof(tmajit_logsumexp_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
} tmajit_logsumexp_arguments;
TMAJIT_C_API tmajit_status tmajit_logsumexp(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                            const tmajit_tensor* source,
                                            const tmajit_logsumexp_arguments* arguments, void* stream,
                                            tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_logsumexp_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                                 const tmajit_tensor* source,
                                                 const tmajit_logsumexp_arguments* arguments,
                                                 const char* family, tmajit_plan** plan,
                                                 tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_logsumexp_operation(const tmajit_tensor* destination,
                                                      const tmajit_tensor* source,
                                                      const tmajit_logsumexp_arguments* arguments,
                                                      tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_logsumexp_results(const tmajit_tensor* source,
                                                    const tmajit_logsumexp_arguments* arguments,
                                                    tmajit_tensor* destination, tmajit_error** error);

/// Divides rows by the root of their mean square, and multiplies by weights. Its sources are x, [weight].
typedef struct tmajit_rms_norm_arguments {
  size_t size;  ///< sizeof(tmajit_rms_norm_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
  /// the number that keeps divisors from 0; default: 1e-6
  tmajit_number eps;
} tmajit_rms_norm_arguments;
TMAJIT_C_API tmajit_status tmajit_rms_norm(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                           const tmajit_tensor* sources, size_t source_count,
                                           const tmajit_rms_norm_arguments* arguments, void* stream,
                                           tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_rms_norm_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                                const tmajit_tensor* sources, size_t source_count,
                                                const tmajit_rms_norm_arguments* arguments,
                                                const char* family, tmajit_plan** plan,
                                                tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_rms_norm_operation(const tmajit_tensor* destination,
                                                     const tmajit_tensor* sources, size_t source_count,
                                                     const tmajit_rms_norm_arguments* arguments,
                                                     tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_rms_norm_results(const tmajit_tensor* sources, size_t source_count,
                                                   const tmajit_rms_norm_arguments* arguments,
                                                   tmajit_tensor* destination, tmajit_error** error);

/// Computes the gradient of rms_norm for x. Its sources are dy, x, [weight].
typedef struct tmajit_rms_norm_backward_arguments {
  size_t size;  ///< sizeof(tmajit_rms_norm_backward_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
  /// the number that keeps divisors from 0; default: 1e-6
  tmajit_number eps;
} tmajit_rms_norm_backward_arguments;
TMAJIT_C_API tmajit_status tmajit_rms_norm_backward(tmajit_runtime* runtime,
                                                    const tmajit_tensor* destination,
                                                    const tmajit_tensor* sources, size_t source_count,
                                                    const tmajit_rms_norm_backward_arguments* arguments,
                                                    void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_rms_norm_backward_plan(tmajit_runtime* runtime,
                                                         const tmajit_tensor* destination,
                                                         const tmajit_tensor* sources, size_t source_count,
                                                         const tmajit_rms_norm_backward_arguments* arguments,
                                                         const char* family, tmajit_plan** plan,
                                                         tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_rms_norm_backward_operation(const tmajit_tensor* destination,
                                                              const tmajit_tensor* sources,
                                                              size_t source_count,
                                                              const tmajit_rms_norm_backward_arguments* arguments,
                                                              tmajit_operation** operation,
                                                              tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_rms_norm_backward_results(const tmajit_tensor* sources,
                                                            size_t source_count,
                                                            const tmajit_rms_norm_backward_arguments* arguments,
                                                            tmajit_tensor* destination,
                                                            tmajit_error** error);

/// Computes rms_norm of x + residual, and the sum, too. Its sources are x, residual, [weight].
typedef struct tmajit_add_rms_norm_arguments {
  size_t size;  ///< sizeof(tmajit_add_rms_norm_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
  /// the number that keeps divisors from 0; default: 1e-6
  tmajit_number eps;
} tmajit_add_rms_norm_arguments;
TMAJIT_C_API tmajit_status tmajit_add_rms_norm(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                               size_t destination_count, const tmajit_tensor* sources,
                                               size_t source_count,
                                               const tmajit_add_rms_norm_arguments* arguments, void* stream,
                                               tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_add_rms_norm_plan(tmajit_runtime* runtime,
                                                    const tmajit_tensor* destinations,
                                                    size_t destination_count, const tmajit_tensor* sources,
                                                    size_t source_count,
                                                    const tmajit_add_rms_norm_arguments* arguments,
                                                    const char* family, tmajit_plan** plan,
                                                    tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_add_rms_norm_operation(const tmajit_tensor* destinations,
                                                         size_t destination_count,
                                                         const tmajit_tensor* sources, size_t source_count,
                                                         const tmajit_add_rms_norm_arguments* arguments,
                                                         tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_add_rms_norm_results(const tmajit_tensor* sources, size_t source_count,
                                                       const tmajit_add_rms_norm_arguments* arguments,
                                                       tmajit_tensor* destinations,
                                                       size_t* destination_count, tmajit_error** error);

/// Subtracts rows' means, divides by their standard deviations, applies weights and a bias. Its sources are
/// x, [weight], [bias].
typedef struct tmajit_layer_norm_arguments {
  size_t size;  ///< sizeof(tmajit_layer_norm_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
  /// the number that keeps divisors from 0; default: 1e-5
  tmajit_number eps;
} tmajit_layer_norm_arguments;
TMAJIT_C_API tmajit_status tmajit_layer_norm(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                             const tmajit_tensor* sources, size_t source_count,
                                             const tmajit_layer_norm_arguments* arguments, void* stream,
                                             tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_layer_norm_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                                  const tmajit_tensor* sources, size_t source_count,
                                                  const tmajit_layer_norm_arguments* arguments,
                                                  const char* family, tmajit_plan** plan,
                                                  tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_layer_norm_operation(const tmajit_tensor* destination,
                                                       const tmajit_tensor* sources, size_t source_count,
                                                       const tmajit_layer_norm_arguments* arguments,
                                                       tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_layer_norm_results(const tmajit_tensor* sources, size_t source_count,
                                                     const tmajit_layer_norm_arguments* arguments,
                                                     tmajit_tensor* destination, tmajit_error** error);

/// Computes the gradient of layer_norm for x. Its sources are dy, x, [weight].
typedef struct tmajit_layer_norm_backward_arguments {
  size_t size;  ///< sizeof(tmajit_layer_norm_backward_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
  /// the number that keeps divisors from 0; default: 1e-5
  tmajit_number eps;
} tmajit_layer_norm_backward_arguments;
TMAJIT_C_API tmajit_status tmajit_layer_norm_backward(tmajit_runtime* runtime,
                                                      const tmajit_tensor* destination,
                                                      const tmajit_tensor* sources, size_t source_count,
                                                      const tmajit_layer_norm_backward_arguments* arguments,
                                                      void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_layer_norm_backward_plan(tmajit_runtime* runtime,
                                                           const tmajit_tensor* destination,
                                                           const tmajit_tensor* sources,
                                                           size_t source_count,
                                                           const tmajit_layer_norm_backward_arguments* arguments,
                                                           const char* family, tmajit_plan** plan,
                                                           tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_layer_norm_backward_operation(const tmajit_tensor* destination,
                                                                const tmajit_tensor* sources,
                                                                size_t source_count,
                                                                const tmajit_layer_norm_backward_arguments* arguments,
                                                                tmajit_operation** operation,
                                                                tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_layer_norm_backward_results(const tmajit_tensor* sources,
                                                              size_t source_count,
                                                              const tmajit_layer_norm_backward_arguments* arguments,
                                                              tmajit_tensor* destination,
                                                              tmajit_error** error);

/// Divides rows by their Euclidean norm, or by eps if that is greater.
typedef struct tmajit_l2_normalize_arguments {
  size_t size;  ///< sizeof(tmajit_l2_normalize_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
  /// the number that keeps divisors from 0; default: 1e-12
  tmajit_number eps;
} tmajit_l2_normalize_arguments;
TMAJIT_C_API tmajit_status tmajit_l2_normalize(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                               const tmajit_tensor* source,
                                               const tmajit_l2_normalize_arguments* arguments, void* stream,
                                               tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_l2_normalize_plan(tmajit_runtime* runtime,
                                                    const tmajit_tensor* destination,
                                                    const tmajit_tensor* source,
                                                    const tmajit_l2_normalize_arguments* arguments,
                                                    const char* family, tmajit_plan** plan,
                                                    tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_l2_normalize_operation(const tmajit_tensor* destination,
                                                         const tmajit_tensor* source,
                                                         const tmajit_l2_normalize_arguments* arguments,
                                                         tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_l2_normalize_results(const tmajit_tensor* source,
                                                       const tmajit_l2_normalize_arguments* arguments,
                                                       tmajit_tensor* destination, tmajit_error** error);

/// Computes the cross-entropy of rows of logits with labels. Its sources are logits, labels.
typedef struct tmajit_cross_entropy_arguments {
  size_t size;  ///< sizeof(tmajit_cross_entropy_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
} tmajit_cross_entropy_arguments;
TMAJIT_C_API tmajit_status tmajit_cross_entropy(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                                const tmajit_tensor* sources, size_t source_count,
                                                const tmajit_cross_entropy_arguments* arguments,
                                                void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_cross_entropy_plan(tmajit_runtime* runtime,
                                                     const tmajit_tensor* destination,
                                                     const tmajit_tensor* sources, size_t source_count,
                                                     const tmajit_cross_entropy_arguments* arguments,
                                                     const char* family, tmajit_plan** plan,
                                                     tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_cross_entropy_operation(const tmajit_tensor* destination,
                                                          const tmajit_tensor* sources, size_t source_count,
                                                          const tmajit_cross_entropy_arguments* arguments,
                                                          tmajit_operation** operation,
                                                          tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_cross_entropy_results(const tmajit_tensor* sources, size_t source_count,
                                                        const tmajit_cross_entropy_arguments* arguments,
                                                        tmajit_tensor* destination, tmajit_error** error);

/// Computes cross_entropy and the gradient of each loss for its logits. Its sources are logits, labels.
typedef struct tmajit_cross_entropy_with_gradient_arguments {
  size_t size;  ///< sizeof(tmajit_cross_entropy_with_gradient_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
} tmajit_cross_entropy_with_gradient_arguments;
TMAJIT_C_API tmajit_status tmajit_cross_entropy_with_gradient(tmajit_runtime* runtime,
                                                              const tmajit_tensor* destinations,
                                                              size_t destination_count,
                                                              const tmajit_tensor* sources,
                                                              size_t source_count,
                                                              const tmajit_cross_entropy_with_gradient_arguments* arguments,
                                                              void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_cross_entropy_with_gradient_plan(tmajit_runtime* runtime,
                                                                   const tmajit_tensor* destinations,
                                                                   size_t destination_count,
                                                                   const tmajit_tensor* sources,
                                                                   size_t source_count,
                                                                   const tmajit_cross_entropy_with_gradient_arguments* arguments,
                                                                   const char* family, tmajit_plan** plan,
                                                                   tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_cross_entropy_with_gradient_operation(const tmajit_tensor* destinations,
                                                                        size_t destination_count,
                                                                        const tmajit_tensor* sources,
                                                                        size_t source_count,
                                                                        const tmajit_cross_entropy_with_gradient_arguments* arguments,
                                                                        tmajit_operation** operation,
                                                                        tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_cross_entropy_with_gradient_results(const tmajit_tensor* sources,
                                                                      size_t source_count,
                                                                      const tmajit_cross_entropy_with_gradient_arguments* arguments,
                                                                      tmajit_tensor* destinations,
                                                                      size_t* destination_count,
                                                                      tmajit_error** error);

/// Computes the gradient of cross_entropy for the logits. Its sources are dloss, logits, labels.
typedef struct tmajit_cross_entropy_backward_arguments {
  size_t size;  ///< sizeof(tmajit_cross_entropy_backward_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
} tmajit_cross_entropy_backward_arguments;
TMAJIT_C_API tmajit_status tmajit_cross_entropy_backward(tmajit_runtime* runtime,
                                                         const tmajit_tensor* destination,
                                                         const tmajit_tensor* sources, size_t source_count,
                                                         const tmajit_cross_entropy_backward_arguments* arguments,
                                                         void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_cross_entropy_backward_plan(tmajit_runtime* runtime,
                                                              const tmajit_tensor* destination,
                                                              const tmajit_tensor* sources,
                                                              size_t source_count,
                                                              const tmajit_cross_entropy_backward_arguments* arguments,
                                                              const char* family, tmajit_plan** plan,
                                                              tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_cross_entropy_backward_operation(const tmajit_tensor* destination,
                                                                   const tmajit_tensor* sources,
                                                                   size_t source_count,
                                                                   const tmajit_cross_entropy_backward_arguments* arguments,
                                                                   tmajit_operation** operation,
                                                                   tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_cross_entropy_backward_results(const tmajit_tensor* sources,
                                                                 size_t source_count,
                                                                 const tmajit_cross_entropy_backward_arguments* arguments,
                                                                 tmajit_tensor* destination,
                                                                 tmajit_error** error);

/// Finds the greatest element of each row and its first index.
typedef struct tmajit_max_with_index_arguments {
  size_t size;  ///< sizeof(tmajit_max_with_index_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
} tmajit_max_with_index_arguments;
TMAJIT_C_API tmajit_status tmajit_max_with_index(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                                 size_t destination_count, const tmajit_tensor* source,
                                                 const tmajit_max_with_index_arguments* arguments,
                                                 void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_max_with_index_plan(tmajit_runtime* runtime,
                                                      const tmajit_tensor* destinations,
                                                      size_t destination_count, const tmajit_tensor* source,
                                                      const tmajit_max_with_index_arguments* arguments,
                                                      const char* family, tmajit_plan** plan,
                                                      tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_max_with_index_operation(const tmajit_tensor* destinations,
                                                           size_t destination_count,
                                                           const tmajit_tensor* source,
                                                           const tmajit_max_with_index_arguments* arguments,
                                                           tmajit_operation** operation,
                                                           tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_max_with_index_results(const tmajit_tensor* source,
                                                         const tmajit_max_with_index_arguments* arguments,
                                                         tmajit_tensor* destinations,
                                                         size_t* destination_count, tmajit_error** error);

/// Converts rows, or blocks of them, to 8 bits with a scale each.
typedef struct tmajit_quantize_rows_arguments {
  size_t size;  ///< sizeof(tmajit_quantize_rows_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
  /// the number of neighbouring elements of a row that share a scale, a divisor of its length; default: 0,
  /// the whole row
  tmajit_integer block;
  /// the type of the quantised elements: "e4m3", "e5m2", "i8"; default: the destination's type, else e4m3
  const char* to;
} tmajit_quantize_rows_arguments;
TMAJIT_C_API tmajit_status tmajit_quantize_rows(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                                size_t destination_count, const tmajit_tensor* source,
                                                const tmajit_quantize_rows_arguments* arguments,
                                                void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_quantize_rows_plan(tmajit_runtime* runtime,
                                                     const tmajit_tensor* destinations,
                                                     size_t destination_count, const tmajit_tensor* source,
                                                     const tmajit_quantize_rows_arguments* arguments,
                                                     const char* family, tmajit_plan** plan,
                                                     tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_quantize_rows_operation(const tmajit_tensor* destinations,
                                                          size_t destination_count,
                                                          const tmajit_tensor* source,
                                                          const tmajit_quantize_rows_arguments* arguments,
                                                          tmajit_operation** operation,
                                                          tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_quantize_rows_results(const tmajit_tensor* source,
                                                        const tmajit_quantize_rows_arguments* arguments,
                                                        tmajit_tensor* destinations,
                                                        size_t* destination_count, tmajit_error** error);

/// Multiplies rows, or blocks of them, by their scales. Its sources are q, scale.
typedef struct tmajit_dequantize_rows_arguments {
  size_t size;  ///< sizeof(tmajit_dequantize_rows_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
  /// the number of neighbouring elements of a row that share a scale, a divisor of its length; default: 0,
  /// the whole row
  tmajit_integer block;
} tmajit_dequantize_rows_arguments;
TMAJIT_C_API tmajit_status tmajit_dequantize_rows(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                                  const tmajit_tensor* sources, size_t source_count,
                                                  const tmajit_dequantize_rows_arguments* arguments,
                                                  void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_dequantize_rows_plan(tmajit_runtime* runtime,
                                                       const tmajit_tensor* destination,
                                                       const tmajit_tensor* sources, size_t source_count,
                                                       const tmajit_dequantize_rows_arguments* arguments,
                                                       const char* family, tmajit_plan** plan,
                                                       tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_dequantize_rows_operation(const tmajit_tensor* destination,
                                                            const tmajit_tensor* sources,
                                                            size_t source_count,
                                                            const tmajit_dequantize_rows_arguments* arguments,
                                                            tmajit_operation** operation,
                                                            tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_dequantize_rows_results(const tmajit_tensor* sources, size_t source_count,
                                                          const tmajit_dequantize_rows_arguments* arguments,
                                                          tmajit_tensor* destination, tmajit_error** error);

/// Converts square blocks of matrices to 8 bits with a scale each.
typedef struct tmajit_quantize_blocks_arguments {
  size_t size;  ///< sizeof(tmajit_quantize_blocks_arguments)
  /// the rows and columns of a block, a divisor of the extents; default: 128
  tmajit_integer block;
  /// the type of the quantised elements: "e4m3", "e5m2", "i8"; default: the destination's type, else e4m3
  const char* to;
} tmajit_quantize_blocks_arguments;
TMAJIT_C_API tmajit_status tmajit_quantize_blocks(tmajit_runtime* runtime,
                                                  const tmajit_tensor* destinations,
                                                  size_t destination_count, const tmajit_tensor* source,
                                                  const tmajit_quantize_blocks_arguments* arguments,
                                                  void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_quantize_blocks_plan(tmajit_runtime* runtime,
                                                       const tmajit_tensor* destinations,
                                                       size_t destination_count,
                                                       const tmajit_tensor* source,
                                                       const tmajit_quantize_blocks_arguments* arguments,
                                                       const char* family, tmajit_plan** plan,
                                                       tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_quantize_blocks_operation(const tmajit_tensor* destinations,
                                                            size_t destination_count,
                                                            const tmajit_tensor* source,
                                                            const tmajit_quantize_blocks_arguments* arguments,
                                                            tmajit_operation** operation,
                                                            tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_quantize_blocks_results(const tmajit_tensor* source,
                                                          const tmajit_quantize_blocks_arguments* arguments,
                                                          tmajit_tensor* destinations,
                                                          size_t* destination_count, tmajit_error** error);

/// Multiplies square blocks of matrices by their scales. Its sources are q, scale.
typedef struct tmajit_dequantize_blocks_arguments {
  size_t size;  ///< sizeof(tmajit_dequantize_blocks_arguments)
  /// the rows and columns of a block, a divisor of the extents; default: 128
  tmajit_integer block;
} tmajit_dequantize_blocks_arguments;
TMAJIT_C_API tmajit_status tmajit_dequantize_blocks(tmajit_runtime* runtime,
                                                    const tmajit_tensor* destination,
                                                    const tmajit_tensor* sources, size_t source_count,
                                                    const tmajit_dequantize_blocks_arguments* arguments,
                                                    void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_dequantize_blocks_plan(tmajit_runtime* runtime,
                                                         const tmajit_tensor* destination,
                                                         const tmajit_tensor* sources, size_t source_count,
                                                         const tmajit_dequantize_blocks_arguments* arguments,
                                                         const char* family, tmajit_plan** plan,
                                                         tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_dequantize_blocks_operation(const tmajit_tensor* destination,
                                                              const tmajit_tensor* sources,
                                                              size_t source_count,
                                                              const tmajit_dequantize_blocks_arguments* arguments,
                                                              tmajit_operation** operation,
                                                              tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_dequantize_blocks_results(const tmajit_tensor* sources,
                                                            size_t source_count,
                                                            const tmajit_dequantize_blocks_arguments* arguments,
                                                            tmajit_tensor* destination,
                                                            tmajit_error** error);

/// Converts a tensor to 8 bits with one scale.
typedef struct tmajit_quantize_tensor_arguments {
  size_t size;  ///< sizeof(tmajit_quantize_tensor_arguments)
  /// the type of the quantised elements: "e4m3", "e5m2", "i8"; default: the destination's type, else e4m3
  const char* to;
} tmajit_quantize_tensor_arguments;
TMAJIT_C_API tmajit_status tmajit_quantize_tensor(tmajit_runtime* runtime,
                                                  const tmajit_tensor* destinations,
                                                  size_t destination_count, const tmajit_tensor* source,
                                                  const tmajit_quantize_tensor_arguments* arguments,
                                                  void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_quantize_tensor_plan(tmajit_runtime* runtime,
                                                       const tmajit_tensor* destinations,
                                                       size_t destination_count,
                                                       const tmajit_tensor* source,
                                                       const tmajit_quantize_tensor_arguments* arguments,
                                                       const char* family, tmajit_plan** plan,
                                                       tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_quantize_tensor_operation(const tmajit_tensor* destinations,
                                                            size_t destination_count,
                                                            const tmajit_tensor* source,
                                                            const tmajit_quantize_tensor_arguments* arguments,
                                                            tmajit_operation** operation,
                                                            tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_quantize_tensor_results(const tmajit_tensor* source,
                                                          const tmajit_quantize_tensor_arguments* arguments,
                                                          tmajit_tensor* destinations,
                                                          size_t* destination_count, tmajit_error** error);

/// Multiplies a tensor by its scale. Its sources are q, scale.
typedef struct tmajit_dequantize_tensor_arguments {
  size_t size;  ///< sizeof(tmajit_dequantize_tensor_arguments)
} tmajit_dequantize_tensor_arguments;
TMAJIT_C_API tmajit_status tmajit_dequantize_tensor(tmajit_runtime* runtime,
                                                    const tmajit_tensor* destination,
                                                    const tmajit_tensor* sources, size_t source_count,
                                                    const tmajit_dequantize_tensor_arguments* arguments,
                                                    void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_dequantize_tensor_plan(tmajit_runtime* runtime,
                                                         const tmajit_tensor* destination,
                                                         const tmajit_tensor* sources, size_t source_count,
                                                         const tmajit_dequantize_tensor_arguments* arguments,
                                                         const char* family, tmajit_plan** plan,
                                                         tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_dequantize_tensor_operation(const tmajit_tensor* destination,
                                                              const tmajit_tensor* sources,
                                                              size_t source_count,
                                                              const tmajit_dequantize_tensor_arguments* arguments,
                                                              tmajit_operation** operation,
                                                              tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_dequantize_tensor_results(const tmajit_tensor* sources,
                                                            size_t source_count,
                                                            const tmajit_dequantize_tensor_arguments* arguments,
                                                            tmajit_tensor* destination,
                                                            tmajit_error** error);

/// Computes silu(a) * b; without b, a holds both in two halves. Its sources are a, [b].
typedef struct tmajit_swiglu_arguments {
  size_t size;  ///< sizeof(tmajit_swiglu_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
} tmajit_swiglu_arguments;
TMAJIT_C_API tmajit_status tmajit_swiglu(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                         const tmajit_tensor* sources, size_t source_count,
                                         const tmajit_swiglu_arguments* arguments, void* stream,
                                         tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_swiglu_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                              const tmajit_tensor* sources, size_t source_count,
                                              const tmajit_swiglu_arguments* arguments, const char* family,
                                              tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_swiglu_operation(const tmajit_tensor* destination,
                                                   const tmajit_tensor* sources, size_t source_count,
                                                   const tmajit_swiglu_arguments* arguments,
                                                   tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_swiglu_results(const tmajit_tensor* sources, size_t source_count,
                                                 const tmajit_swiglu_arguments* arguments,
                                                 tmajit_tensor* destination, tmajit_error** error);

/// Computes the gradients of swiglu; without b, of a that holds both. Its sources are dy, a, [b].
typedef struct tmajit_swiglu_backward_arguments {
  size_t size;  ///< sizeof(tmajit_swiglu_backward_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
} tmajit_swiglu_backward_arguments;
TMAJIT_C_API tmajit_status tmajit_swiglu_backward(tmajit_runtime* runtime,
                                                  const tmajit_tensor* destinations,
                                                  size_t destination_count, const tmajit_tensor* sources,
                                                  size_t source_count,
                                                  const tmajit_swiglu_backward_arguments* arguments,
                                                  void* stream, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_swiglu_backward_plan(tmajit_runtime* runtime,
                                                       const tmajit_tensor* destinations,
                                                       size_t destination_count,
                                                       const tmajit_tensor* sources, size_t source_count,
                                                       const tmajit_swiglu_backward_arguments* arguments,
                                                       const char* family, tmajit_plan** plan,
                                                       tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_swiglu_backward_operation(const tmajit_tensor* destinations,
                                                            size_t destination_count,
                                                            const tmajit_tensor* sources,
                                                            size_t source_count,
                                                            const tmajit_swiglu_backward_arguments* arguments,
                                                            tmajit_operation** operation,
                                                            tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_swiglu_backward_results(const tmajit_tensor* sources, size_t source_count,
                                                          const tmajit_swiglu_backward_arguments* arguments,
                                                          tmajit_tensor* destinations,
                                                          size_t* destination_count, tmajit_error** error);

/// Turns pairs of a row's elements by angles, whose cosines and sines are given. Its sources are x, cos, sin.
typedef struct tmajit_rotary_arguments {
  size_t size;  ///< sizeof(tmajit_rotary_arguments)
  /// the dimension of a row; default: the last one
  tmajit_integer axis;
  /// which two elements of a row turn together: i and i + half of the row, or 2 i and 2 i + 1: "halves",
  /// "pairs"; default: halves
  const char* layout;
} tmajit_rotary_arguments;
TMAJIT_C_API tmajit_status tmajit_rotary(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                         const tmajit_tensor* sources, size_t source_count,
                                         const tmajit_rotary_arguments* arguments, void* stream,
                                         tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_rotary_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                              const tmajit_tensor* sources, size_t source_count,
                                              const tmajit_rotary_arguments* arguments, const char* family,
                                              tmajit_plan** plan, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_rotary_operation(const tmajit_tensor* destination,
                                                   const tmajit_tensor* sources, size_t source_count,
                                                   const tmajit_rotary_arguments* arguments,
                                                   tmajit_operation** operation, tmajit_error** error);
TMAJIT_C_API tmajit_status tmajit_rotary_results(const tmajit_tensor* sources, size_t source_count,
                                                 const tmajit_rotary_arguments* arguments,
                                                 tmajit_tensor* destination, tmajit_error** error);

#ifdef __cplusplus
}
#endif
#endif
