// src/c/write_operations.cpp writes this file from the operations' descriptions.
// clang-format off
#include "c/operation_structs.hpp"

using namespace tmajit::c;

tmajit_status tmajit_softmax(tmajit_runtime* runtime, const tmajit_tensor* destination,
                             const tmajit_tensor* source, const tmajit_softmax_arguments* arguments,
                             void* stream, tmajit_error** error) {
  return run(softmax_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
}

tmajit_status tmajit_softmax_backward(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                      const tmajit_tensor* sources, size_t source_count,
                                      const tmajit_softmax_backward_arguments* arguments, void* stream,
                                      tmajit_error** error) {
  return run(softmax_backward_operation, runtime, {destination, 1}, {sources, source_count}, arguments,
             stream, error);
}

tmajit_status tmajit_log_softmax(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                 const tmajit_tensor* source, const tmajit_log_softmax_arguments* arguments,
                                 void* stream, tmajit_error** error) {
  return run(log_softmax_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
}

tmajit_status tmajit_log_softmax_backward(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                          const tmajit_tensor* sources, size_t source_count,
                                          const tmajit_log_softmax_backward_arguments* arguments,
                                          void* stream, tmajit_error** error) {
  return run(log_softmax_backward_operation, runtime, {destination, 1}, {sources, source_count}, arguments,
             stream, error);
}

tmajit_status tmajit_logsumexp(tmajit_runtime* runtime, const tmajit_tensor* destination,
                               const tmajit_tensor* source, const tmajit_logsumexp_arguments* arguments,
                               void* stream, tmajit_error** error) {
  return run(logsumexp_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
}

tmajit_status tmajit_rms_norm(tmajit_runtime* runtime, const tmajit_tensor* destination,
                              const tmajit_tensor* sources, size_t source_count,
                              const tmajit_rms_norm_arguments* arguments, void* stream,
                              tmajit_error** error) {
  return run(rms_norm_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream,
             error);
}

tmajit_status tmajit_rms_norm_backward(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                       const tmajit_tensor* sources, size_t source_count,
                                       const tmajit_rms_norm_backward_arguments* arguments, void* stream,
                                       tmajit_error** error) {
  return run(rms_norm_backward_operation, runtime, {destination, 1}, {sources, source_count}, arguments,
             stream, error);
}

tmajit_status tmajit_add_rms_norm(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                  size_t destination_count, const tmajit_tensor* sources,
                                  size_t source_count, const tmajit_add_rms_norm_arguments* arguments,
                                  void* stream, tmajit_error** error) {
  return run(add_rms_norm_operation, runtime, {destinations, destination_count}, {sources, source_count},
             arguments, stream, error);
}

tmajit_status tmajit_layer_norm(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                const tmajit_tensor* sources, size_t source_count,
                                const tmajit_layer_norm_arguments* arguments, void* stream,
                                tmajit_error** error) {
  return run(layer_norm_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream,
             error);
}

tmajit_status tmajit_layer_norm_backward(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                         const tmajit_tensor* sources, size_t source_count,
                                         const tmajit_layer_norm_backward_arguments* arguments,
                                         void* stream, tmajit_error** error) {
  return run(layer_norm_backward_operation, runtime, {destination, 1}, {sources, source_count}, arguments,
             stream, error);
}

tmajit_status tmajit_l2_normalize(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                  const tmajit_tensor* source,
                                  const tmajit_l2_normalize_arguments* arguments, void* stream,
                                  tmajit_error** error) {
  return run(l2_normalize_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
}

tmajit_status tmajit_cross_entropy(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                   const tmajit_tensor* sources, size_t source_count,
                                   const tmajit_cross_entropy_arguments* arguments, void* stream,
                                   tmajit_error** error) {
  return run(cross_entropy_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream,
             error);
}

tmajit_status tmajit_cross_entropy_with_gradient(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                                 size_t destination_count, const tmajit_tensor* sources,
                                                 size_t source_count,
                                                 const tmajit_cross_entropy_with_gradient_arguments* arguments,
                                                 void* stream, tmajit_error** error) {
  return run(cross_entropy_with_gradient_operation, runtime, {destinations, destination_count},
             {sources, source_count}, arguments, stream, error);
}

tmajit_status tmajit_cross_entropy_backward(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                            const tmajit_tensor* sources, size_t source_count,
                                            const tmajit_cross_entropy_backward_arguments* arguments,
                                            void* stream, tmajit_error** error) {
  return run(cross_entropy_backward_operation, runtime, {destination, 1}, {sources, source_count},
             arguments, stream, error);
}

tmajit_status tmajit_max_with_index(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                    size_t destination_count, const tmajit_tensor* source,
                                    const tmajit_max_with_index_arguments* arguments, void* stream,
                                    tmajit_error** error) {
  return run(max_with_index_operation, runtime, {destinations, destination_count}, {source, 1}, arguments,
             stream, error);
}

tmajit_status tmajit_quantize_rows(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                   size_t destination_count, const tmajit_tensor* source,
                                   const tmajit_quantize_rows_arguments* arguments, void* stream,
                                   tmajit_error** error) {
  return run(quantize_rows_operation, runtime, {destinations, destination_count}, {source, 1}, arguments,
             stream, error);
}

tmajit_status tmajit_dequantize_rows(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                     const tmajit_tensor* sources, size_t source_count,
                                     const tmajit_dequantize_rows_arguments* arguments, void* stream,
                                     tmajit_error** error) {
  return run(dequantize_rows_operation, runtime, {destination, 1}, {sources, source_count}, arguments,
             stream, error);
}

tmajit_status tmajit_quantize_blocks(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                     size_t destination_count, const tmajit_tensor* source,
                                     const tmajit_quantize_blocks_arguments* arguments, void* stream,
                                     tmajit_error** error) {
  return run(quantize_blocks_operation, runtime, {destinations, destination_count}, {source, 1}, arguments,
             stream, error);
}

tmajit_status tmajit_dequantize_blocks(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                       const tmajit_tensor* sources, size_t source_count,
                                       const tmajit_dequantize_blocks_arguments* arguments, void* stream,
                                       tmajit_error** error) {
  return run(dequantize_blocks_operation, runtime, {destination, 1}, {sources, source_count}, arguments,
             stream, error);
}

tmajit_status tmajit_quantize_tensor(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                     size_t destination_count, const tmajit_tensor* source,
                                     const tmajit_quantize_tensor_arguments* arguments, void* stream,
                                     tmajit_error** error) {
  return run(quantize_tensor_operation, runtime, {destinations, destination_count}, {source, 1}, arguments,
             stream, error);
}

tmajit_status tmajit_dequantize_tensor(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                       const tmajit_tensor* sources, size_t source_count,
                                       const tmajit_dequantize_tensor_arguments* arguments, void* stream,
                                       tmajit_error** error) {
  return run(dequantize_tensor_operation, runtime, {destination, 1}, {sources, source_count}, arguments,
             stream, error);
}

tmajit_status tmajit_swiglu(tmajit_runtime* runtime, const tmajit_tensor* destination,
                            const tmajit_tensor* sources, size_t source_count,
                            const tmajit_swiglu_arguments* arguments, void* stream, tmajit_error** error) {
  return run(swiglu_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream, error);
}

tmajit_status tmajit_swiglu_backward(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                     size_t destination_count, const tmajit_tensor* sources,
                                     size_t source_count, const tmajit_swiglu_backward_arguments* arguments,
                                     void* stream, tmajit_error** error) {
  return run(swiglu_backward_operation, runtime, {destinations, destination_count}, {sources, source_count},
             arguments, stream, error);
}

tmajit_status tmajit_rotary(tmajit_runtime* runtime, const tmajit_tensor* destination,
                            const tmajit_tensor* sources, size_t source_count,
                            const tmajit_rotary_arguments* arguments, void* stream, tmajit_error** error) {
  return run(rotary_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream, error);
}
