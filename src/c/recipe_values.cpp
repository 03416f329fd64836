// src/c/write_operations.cpp writes this file from the operations' descriptions.
// clang-format off
#include "c/operation_structs.hpp"

using namespace tmajit::c;

tmajit_status tmajit_softmax_operation(const tmajit_tensor* destination, const tmajit_tensor* source,
                                       const tmajit_softmax_arguments* arguments,
                                       tmajit_operation** operation, tmajit_error** error) {
  return make_value(softmax_operation, {destination, 1}, {source, 1}, arguments, operation, error);
}

tmajit_status tmajit_softmax_backward_operation(const tmajit_tensor* destination,
                                                const tmajit_tensor* sources, size_t source_count,
                                                const tmajit_softmax_backward_arguments* arguments,
                                                tmajit_operation** operation, tmajit_error** error) {
  return make_value(softmax_backward_operation, {destination, 1}, {sources, source_count}, arguments,
                    operation, error);
}

tmajit_status tmajit_log_softmax_operation(const tmajit_tensor* destination, const tmajit_tensor* source,
                                           const tmajit_log_softmax_arguments* arguments,
                                           tmajit_operation** operation, tmajit_error** error) {
  return make_value(log_softmax_operation, {destination, 1}, {source, 1}, arguments, operation, error);
}

tmajit_status tmajit_log_softmax_backward_operation(const tmajit_tensor* destination,
                                                    const tmajit_tensor* sources, size_t source_count,
                                                    const tmajit_log_softmax_backward_arguments* arguments,
                                                    tmajit_operation** operation, tmajit_error** error) {
  return make_value(log_softmax_backward_operation, {destination, 1}, {sources, source_count}, arguments,
                    operation, error);
}

tmajit_status tmajit_logsumexp_operation(const tmajit_tensor* destination, const tmajit_tensor* source,
                                         const tmajit_logsumexp_arguments* arguments,
                                         tmajit_operation** operation, tmajit_error** error) {
  return make_value(logsumexp_operation, {destination, 1}, {source, 1}, arguments, operation, error);
}

tmajit_status tmajit_rms_norm_operation(const tmajit_tensor* destination, const tmajit_tensor* sources,
                                        size_t source_count, const tmajit_rms_norm_arguments* arguments,
                                        tmajit_operation** operation, tmajit_error** error) {
  return make_value(rms_norm_operation, {destination, 1}, {sources, source_count}, arguments, operation,
                    error);
}

tmajit_status tmajit_rms_norm_backward_operation(const tmajit_tensor* destination,
                                                 const tmajit_tensor* sources, size_t source_count,
                                                 const tmajit_rms_norm_backward_arguments* arguments,
                                                 tmajit_operation** operation, tmajit_error** error) {
  return make_value(rms_norm_backward_operation, {destination, 1}, {sources, source_count}, arguments,
                    operation, error);
}

tmajit_status tmajit_add_rms_norm_operation(const tmajit_tensor* destinations, size_t destination_count,
                                            const tmajit_tensor* sources, size_t source_count,
                                            const tmajit_add_rms_norm_arguments* arguments,
                                            tmajit_operation** operation, tmajit_error** error) {
  return make_value(add_rms_norm_operation, {destinations, destination_count}, {sources, source_count},
                    arguments, operation, error);
}

tmajit_status tmajit_layer_norm_operation(const tmajit_tensor* destination, const tmajit_tensor* sources,
                                          size_t source_count, const tmajit_layer_norm_arguments* arguments,
                                          tmajit_operation** operation, tmajit_error** error) {
  return make_value(layer_norm_operation, {destination, 1}, {sources, source_count}, arguments, operation,
                    error);
}

tmajit_status tmajit_layer_norm_backward_operation(const tmajit_tensor* destination,
                                                   const tmajit_tensor* sources, size_t source_count,
                                                   const tmajit_layer_norm_backward_arguments* arguments,
                                                   tmajit_operation** operation, tmajit_error** error) {
  return make_value(layer_norm_backward_operation, {destination, 1}, {sources, source_count}, arguments,
                    operation, error);
}

tmajit_status tmajit_l2_normalize_operation(const tmajit_tensor* destination, const tmajit_tensor* source,
                                            const tmajit_l2_normalize_arguments* arguments,
                                            tmajit_operation** operation, tmajit_error** error) {
  return make_value(l2_normalize_operation, {destination, 1}, {source, 1}, arguments, operation, error);
}

tmajit_status tmajit_cross_entropy_operation(const tmajit_tensor* destination, const tmajit_tensor* sources,
                                             size_t source_count,
                                             const tmajit_cross_entropy_arguments* arguments,
                                             tmajit_operation** operation, tmajit_error** error) {
  return make_value(cross_entropy_operation, {destination, 1}, {sources, source_count}, arguments,
                    operation, error);
}

tmajit_status tmajit_cross_entropy_with_gradient_operation(const tmajit_tensor* destinations,
                                                           size_t destination_count,
                                                           const tmajit_tensor* sources,
                                                           size_t source_count,
                                                           const tmajit_cross_entropy_with_gradient_arguments* arguments,
                                                           tmajit_operation** operation,
                                                           tmajit_error** error) {
  return make_value(cross_entropy_with_gradient_operation, {destinations, destination_count},
                    {sources, source_count}, arguments, operation, error);
}

tmajit_status tmajit_cross_entropy_backward_operation(const tmajit_tensor* destination,
                                                      const tmajit_tensor* sources, size_t source_count,
                                                      const tmajit_cross_entropy_backward_arguments* arguments,
                                                      tmajit_operation** operation, tmajit_error** error) {
  return make_value(cross_entropy_backward_operation, {destination, 1}, {sources, source_count}, arguments,
                    operation, error);
}

tmajit_status tmajit_max_with_index_operation(const tmajit_tensor* destinations, size_t destination_count,
                                              const tmajit_tensor* source,
                                              const tmajit_max_with_index_arguments* arguments,
                                              tmajit_operation** operation, tmajit_error** error) {
  return make_value(max_with_index_operation, {destinations, destination_count}, {source, 1}, arguments,
                    operation, error);
}

tmajit_status tmajit_quantize_rows_operation(const tmajit_tensor* destinations, size_t destination_count,
                                             const tmajit_tensor* source,
                                             const tmajit_quantize_rows_arguments* arguments,
                                             tmajit_operation** operation, tmajit_error** error) {
  return make_value(quantize_rows_operation, {destinations, destination_count}, {source, 1}, arguments,
                    operation, error);
}

tmajit_status tmajit_dequantize_rows_operation(const tmajit_tensor* destination,
                                               const tmajit_tensor* sources, size_t source_count,
                                               const tmajit_dequantize_rows_arguments* arguments,
                                               tmajit_operation** operation, tmajit_error** error) {
  return make_value(dequantize_rows_operation, {destination, 1}, {sources, source_count}, arguments,
                    operation, error);
}

tmajit_status tmajit_quantize_blocks_operation(const tmajit_tensor* destinations, size_t destination_count,
                                               const tmajit_tensor* source,
                                               const tmajit_quantize_blocks_arguments* arguments,
                                               tmajit_operation** operation, tmajit_error** error) {
  return make_value(quantize_blocks_operation, {destinations, destination_count}, {source, 1}, arguments,
                    operation, error);
}

tmajit_status tmajit_dequantize_blocks_operation(const tmajit_tensor* destination,
                                                 const tmajit_tensor* sources, size_t source_count,
                                                 const tmajit_dequantize_blocks_arguments* arguments,
                                                 tmajit_operation** operation, tmajit_error** error) {
  return make_value(dequantize_blocks_operation, {destination, 1}, {sources, source_count}, arguments,
                    operation, error);
}

tmajit_status tmajit_quantize_tensor_operation(const tmajit_tensor* destinations, size_t destination_count,
                                               const tmajit_tensor* source,
                                               const tmajit_quantize_tensor_arguments* arguments,
                                               tmajit_operation** operation, tmajit_error** error) {
  return make_value(quantize_tensor_operation, {destinations, destination_count}, {source, 1}, arguments,
                    operation, error);
}

tmajit_status tmajit_dequantize_tensor_operation(const tmajit_tensor* destination,
                                                 const tmajit_tensor* sources, size_t source_count,
                                                 const tmajit_dequantize_tensor_arguments* arguments,
                                                 tmajit_operation** operation, tmajit_error** error) {
  return make_value(dequantize_tensor_operation, {destination, 1}, {sources, source_count}, arguments,
                    operation, error);
}

tmajit_status tmajit_swiglu_operation(const tmajit_tensor* destination, const tmajit_tensor* sources,
                                      size_t source_count, const tmajit_swiglu_arguments* arguments,
                                      tmajit_operation** operation, tmajit_error** error) {
  return make_value(swiglu_operation, {destination, 1}, {sources, source_count}, arguments, operation,
                    error);
}

tmajit_status tmajit_swiglu_backward_operation(const tmajit_tensor* destinations, size_t destination_count,
                                               const tmajit_tensor* sources, size_t source_count,
                                               const tmajit_swiglu_backward_arguments* arguments,
                                               tmajit_operation** operation, tmajit_error** error) {
  return make_value(swiglu_backward_operation, {destinations, destination_count}, {sources, source_count},
                    arguments, operation, error);
}

tmajit_status tmajit_rotary_operation(const tmajit_tensor* destination, const tmajit_tensor* sources,
                                      size_t source_count, const tmajit_rotary_arguments* arguments,
                                      tmajit_operation** operation, tmajit_error** error) {
  return make_value(rotary_operation, {destination, 1}, {sources, source_count}, arguments, operation,
                    error);
}
