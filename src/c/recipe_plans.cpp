// src/c/write_operations.cpp writes this file from the operations' descriptions.
// clang-format off
#include "c/operation_structs.hpp"

using namespace tmajit::c;

tmajit_status tmajit_softmax_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                  const tmajit_tensor* source, const tmajit_softmax_arguments* arguments,
                                  const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(softmax_operation, runtime, {destination, 1}, {source, 1}, arguments, family, plan,
                   error);
}

tmajit_status tmajit_softmax_results(const tmajit_tensor* source, const tmajit_softmax_arguments* arguments,
                                     tmajit_tensor* destination, tmajit_error** error) {
  return results(softmax_operation, {source, 1}, arguments, destination, error);
}

tmajit_status tmajit_softmax_backward_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                           const tmajit_tensor* sources, size_t source_count,
                                           const tmajit_softmax_backward_arguments* arguments,
                                           const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(softmax_backward_operation, runtime, {destination, 1}, {sources, source_count},
                   arguments, family, plan, error);
}

tmajit_status tmajit_softmax_backward_results(const tmajit_tensor* sources, size_t source_count,
                                              const tmajit_softmax_backward_arguments* arguments,
                                              tmajit_tensor* destination, tmajit_error** error) {
  return results(softmax_backward_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_log_softmax_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                      const tmajit_tensor* source,
                                      const tmajit_log_softmax_arguments* arguments, const char* family,
                                      tmajit_plan** plan, tmajit_error** error) {
  return make_plan(log_softmax_operation, runtime, {destination, 1}, {source, 1}, arguments, family, plan,
                   error);
}

tmajit_status tmajit_log_softmax_results(const tmajit_tensor* source,
                                         const tmajit_log_softmax_arguments* arguments,
                                         tmajit_tensor* destination, tmajit_error** error) {
  return results(log_softmax_operation, {source, 1}, arguments, destination, error);
}

tmajit_status tmajit_log_softmax_backward_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                               const tmajit_tensor* sources, size_t source_count,
                                               const tmajit_log_softmax_backward_arguments* arguments,
                                               const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(log_softmax_backward_operation, runtime, {destination, 1}, {sources, source_count},
                   arguments, family, plan, error);
}

tmajit_status tmajit_log_softmax_backward_results(const tmajit_tensor* sources, size_t source_count,
                                                  const tmajit_log_softmax_backward_arguments* arguments,
                                                  tmajit_tensor* destination, tmajit_error** error) {
  return results(log_softmax_backward_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_logsumexp_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                    const tmajit_tensor* source,
                                    const tmajit_logsumexp_arguments* arguments, const char* family,
                                    tmajit_plan** plan, tmajit_error** error) {
  return make_plan(logsumexp_operation, runtime, {destination, 1}, {source, 1}, arguments, family, plan,
                   error);
}

tmajit_status tmajit_logsumexp_results(const tmajit_tensor* source,
                                       const tmajit_logsumexp_arguments* arguments,
                                       tmajit_tensor* destination, tmajit_error** error) {
  return results(logsumexp_operation, {source, 1}, arguments, destination, error);
}

tmajit_status tmajit_rms_norm_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                   const tmajit_tensor* sources, size_t source_count,
                                   const tmajit_rms_norm_arguments* arguments, const char* family,
                                   tmajit_plan** plan, tmajit_error** error) {
  return make_plan(rms_norm_operation, runtime, {destination, 1}, {sources, source_count}, arguments,
                   family, plan, error);
}

tmajit_status tmajit_rms_norm_results(const tmajit_tensor* sources, size_t source_count,
                                      const tmajit_rms_norm_arguments* arguments,
                                      tmajit_tensor* destination, tmajit_error** error) {
  return results(rms_norm_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_rms_norm_backward_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                            const tmajit_tensor* sources, size_t source_count,
                                            const tmajit_rms_norm_backward_arguments* arguments,
                                            const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(rms_norm_backward_operation, runtime, {destination, 1}, {sources, source_count},
                   arguments, family, plan, error);
}

tmajit_status tmajit_rms_norm_backward_results(const tmajit_tensor* sources, size_t source_count,
                                               const tmajit_rms_norm_backward_arguments* arguments,
                                               tmajit_tensor* destination, tmajit_error** error) {
  return results(rms_norm_backward_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_add_rms_norm_plan(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                       size_t destination_count, const tmajit_tensor* sources,
                                       size_t source_count, const tmajit_add_rms_norm_arguments* arguments,
                                       const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(add_rms_norm_operation, runtime, {destinations, destination_count},
                   {sources, source_count}, arguments, family, plan, error);
}

tmajit_status tmajit_add_rms_norm_results(const tmajit_tensor* sources, size_t source_count,
                                          const tmajit_add_rms_norm_arguments* arguments,
                                          tmajit_tensor* destinations, size_t* destination_count,
                                          tmajit_error** error) {
  return results(add_rms_norm_operation, {sources, source_count}, arguments, destinations,
                 destination_count, error);
}

tmajit_status tmajit_layer_norm_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                     const tmajit_tensor* sources, size_t source_count,
                                     const tmajit_layer_norm_arguments* arguments, const char* family,
                                     tmajit_plan** plan, tmajit_error** error) {
  return make_plan(layer_norm_operation, runtime, {destination, 1}, {sources, source_count}, arguments,
                   family, plan, error);
}

tmajit_status tmajit_layer_norm_results(const tmajit_tensor* sources, size_t source_count,
                                        const tmajit_layer_norm_arguments* arguments,
                                        tmajit_tensor* destination, tmajit_error** error) {
  return results(layer_norm_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_layer_norm_backward_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                              const tmajit_tensor* sources, size_t source_count,
                                              const tmajit_layer_norm_backward_arguments* arguments,
                                              const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(layer_norm_backward_operation, runtime, {destination, 1}, {sources, source_count},
                   arguments, family, plan, error);
}

tmajit_status tmajit_layer_norm_backward_results(const tmajit_tensor* sources, size_t source_count,
                                                 const tmajit_layer_norm_backward_arguments* arguments,
                                                 tmajit_tensor* destination, tmajit_error** error) {
  return results(layer_norm_backward_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_l2_normalize_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                       const tmajit_tensor* source,
                                       const tmajit_l2_normalize_arguments* arguments, const char* family,
                                       tmajit_plan** plan, tmajit_error** error) {
  return make_plan(l2_normalize_operation, runtime, {destination, 1}, {source, 1}, arguments, family, plan,
                   error);
}

tmajit_status tmajit_l2_normalize_results(const tmajit_tensor* source,
                                          const tmajit_l2_normalize_arguments* arguments,
                                          tmajit_tensor* destination, tmajit_error** error) {
  return results(l2_normalize_operation, {source, 1}, arguments, destination, error);
}

tmajit_status tmajit_cross_entropy_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                        const tmajit_tensor* sources, size_t source_count,
                                        const tmajit_cross_entropy_arguments* arguments, const char* family,
                                        tmajit_plan** plan, tmajit_error** error) {
  return make_plan(cross_entropy_operation, runtime, {destination, 1}, {sources, source_count}, arguments,
                   family, plan, error);
}

tmajit_status tmajit_cross_entropy_results(const tmajit_tensor* sources, size_t source_count,
                                           const tmajit_cross_entropy_arguments* arguments,
                                           tmajit_tensor* destination, tmajit_error** error) {
  return results(cross_entropy_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_cross_entropy_with_gradient_plan(tmajit_runtime* runtime,
                                                      const tmajit_tensor* destinations,
                                                      size_t destination_count,
                                                      const tmajit_tensor* sources, size_t source_count,
                                                      const tmajit_cross_entropy_with_gradient_arguments* arguments,
                                                      const char* family, tmajit_plan** plan,
                                                      tmajit_error** error) {
  return make_plan(cross_entropy_with_gradient_operation, runtime, {destinations, destination_count},
                   {sources, source_count}, arguments, family, plan, error);
}

tmajit_status tmajit_cross_entropy_with_gradient_results(const tmajit_tensor* sources, size_t source_count,
                                                         const tmajit_cross_entropy_with_gradient_arguments* arguments,
                                                         tmajit_tensor* destinations,
                                                         size_t* destination_count, tmajit_error** error) {
  return results(cross_entropy_with_gradient_operation, {sources, source_count}, arguments, destinations,
                 destination_count, error);
}

tmajit_status tmajit_cross_entropy_backward_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                                 const tmajit_tensor* sources, size_t source_count,
                                                 const tmajit_cross_entropy_backward_arguments* arguments,
                                                 const char* family, tmajit_plan** plan,
                                                 tmajit_error** error) {
  return make_plan(cross_entropy_backward_operation, runtime, {destination, 1}, {sources, source_count},
                   arguments, family, plan, error);
}

tmajit_status tmajit_cross_entropy_backward_results(const tmajit_tensor* sources, size_t source_count,
                                                    const tmajit_cross_entropy_backward_arguments* arguments,
                                                    tmajit_tensor* destination, tmajit_error** error) {
  return results(cross_entropy_backward_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_max_with_index_plan(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                         size_t destination_count, const tmajit_tensor* source,
                                         const tmajit_max_with_index_arguments* arguments,
                                         const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(max_with_index_operation, runtime, {destinations, destination_count}, {source, 1},
                   arguments, family, plan, error);
}

tmajit_status tmajit_max_with_index_results(const tmajit_tensor* source,
                                            const tmajit_max_with_index_arguments* arguments,
                                            tmajit_tensor* destinations, size_t* destination_count,
                                            tmajit_error** error) {
  return results(max_with_index_operation, {source, 1}, arguments, destinations, destination_count, error);
}

tmajit_status tmajit_quantize_rows_plan(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                        size_t destination_count, const tmajit_tensor* source,
                                        const tmajit_quantize_rows_arguments* arguments, const char* family,
                                        tmajit_plan** plan, tmajit_error** error) {
  return make_plan(quantize_rows_operation, runtime, {destinations, destination_count}, {source, 1},
                   arguments, family, plan, error);
}

tmajit_status tmajit_quantize_rows_results(const tmajit_tensor* source,
                                           const tmajit_quantize_rows_arguments* arguments,
                                           tmajit_tensor* destinations, size_t* destination_count,
                                           tmajit_error** error) {
  return results(quantize_rows_operation, {source, 1}, arguments, destinations, destination_count, error);
}

tmajit_status tmajit_dequantize_rows_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                          const tmajit_tensor* sources, size_t source_count,
                                          const tmajit_dequantize_rows_arguments* arguments,
                                          const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(dequantize_rows_operation, runtime, {destination, 1}, {sources, source_count}, arguments,
                   family, plan, error);
}

tmajit_status tmajit_dequantize_rows_results(const tmajit_tensor* sources, size_t source_count,
                                             const tmajit_dequantize_rows_arguments* arguments,
                                             tmajit_tensor* destination, tmajit_error** error) {
  return results(dequantize_rows_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_quantize_blocks_plan(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                          size_t destination_count, const tmajit_tensor* source,
                                          const tmajit_quantize_blocks_arguments* arguments,
                                          const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(quantize_blocks_operation, runtime, {destinations, destination_count}, {source, 1},
                   arguments, family, plan, error);
}

tmajit_status tmajit_quantize_blocks_results(const tmajit_tensor* source,
                                             const tmajit_quantize_blocks_arguments* arguments,
                                             tmajit_tensor* destinations, size_t* destination_count,
                                             tmajit_error** error) {
  return results(quantize_blocks_operation, {source, 1}, arguments, destinations, destination_count, error);
}

tmajit_status tmajit_dequantize_blocks_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                            const tmajit_tensor* sources, size_t source_count,
                                            const tmajit_dequantize_blocks_arguments* arguments,
                                            const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(dequantize_blocks_operation, runtime, {destination, 1}, {sources, source_count},
                   arguments, family, plan, error);
}

tmajit_status tmajit_dequantize_blocks_results(const tmajit_tensor* sources, size_t source_count,
                                               const tmajit_dequantize_blocks_arguments* arguments,
                                               tmajit_tensor* destination, tmajit_error** error) {
  return results(dequantize_blocks_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_quantize_tensor_plan(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                          size_t destination_count, const tmajit_tensor* source,
                                          const tmajit_quantize_tensor_arguments* arguments,
                                          const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(quantize_tensor_operation, runtime, {destinations, destination_count}, {source, 1},
                   arguments, family, plan, error);
}

tmajit_status tmajit_quantize_tensor_results(const tmajit_tensor* source,
                                             const tmajit_quantize_tensor_arguments* arguments,
                                             tmajit_tensor* destinations, size_t* destination_count,
                                             tmajit_error** error) {
  return results(quantize_tensor_operation, {source, 1}, arguments, destinations, destination_count, error);
}

tmajit_status tmajit_dequantize_tensor_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                            const tmajit_tensor* sources, size_t source_count,
                                            const tmajit_dequantize_tensor_arguments* arguments,
                                            const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(dequantize_tensor_operation, runtime, {destination, 1}, {sources, source_count},
                   arguments, family, plan, error);
}

tmajit_status tmajit_dequantize_tensor_results(const tmajit_tensor* sources, size_t source_count,
                                               const tmajit_dequantize_tensor_arguments* arguments,
                                               tmajit_tensor* destination, tmajit_error** error) {
  return results(dequantize_tensor_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_swiglu_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                 const tmajit_tensor* sources, size_t source_count,
                                 const tmajit_swiglu_arguments* arguments, const char* family,
                                 tmajit_plan** plan, tmajit_error** error) {
  return make_plan(swiglu_operation, runtime, {destination, 1}, {sources, source_count}, arguments, family,
                   plan, error);
}

tmajit_status tmajit_swiglu_results(const tmajit_tensor* sources, size_t source_count,
                                    const tmajit_swiglu_arguments* arguments, tmajit_tensor* destination,
                                    tmajit_error** error) {
  return results(swiglu_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_swiglu_backward_plan(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                          size_t destination_count, const tmajit_tensor* sources,
                                          size_t source_count,
                                          const tmajit_swiglu_backward_arguments* arguments,
                                          const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(swiglu_backward_operation, runtime, {destinations, destination_count},
                   {sources, source_count}, arguments, family, plan, error);
}

tmajit_status tmajit_swiglu_backward_results(const tmajit_tensor* sources, size_t source_count,
                                             const tmajit_swiglu_backward_arguments* arguments,
                                             tmajit_tensor* destinations, size_t* destination_count,
                                             tmajit_error** error) {
  return results(swiglu_backward_operation, {sources, source_count}, arguments, destinations,
                 destination_count, error);
}

tmajit_status tmajit_rotary_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                 const tmajit_tensor* sources, size_t source_count,
                                 const tmajit_rotary_arguments* arguments, const char* family,
                                 tmajit_plan** plan, tmajit_error** error) {
  return make_plan(rotary_operation, runtime, {destination, 1}, {sources, source_count}, arguments, family,
                   plan, error);
}

tmajit_status tmajit_rotary_results(const tmajit_tensor* sources, size_t source_count,
                                    const tmajit_rotary_arguments* arguments, tmajit_tensor* destination,
                                    tmajit_error** error) {
  return results(rotary_operation, {sources, source_count}, arguments, destination, error);
}
