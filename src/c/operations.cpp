// src/c/write_operations.cpp writes this file from the operations' descriptions.
// clang-format off
#include "c/operation_structs.hpp"

using namespace tmajit::c;

tmajit_status tmajit_copy(tmajit_runtime* runtime, const tmajit_tensor* destination,
                          const tmajit_tensor* source, const tmajit_copy_arguments* arguments, void* stream,
                          tmajit_error** error) {
  return run(copy_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
}

tmajit_status tmajit_permute(tmajit_runtime* runtime, const tmajit_tensor* destination,
                             const tmajit_tensor* source, const tmajit_permute_arguments* arguments,
                             void* stream, tmajit_error** error) {
  return run(permute_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
}

tmajit_status tmajit_slice(tmajit_runtime* runtime, const tmajit_tensor* destination,
                           const tmajit_tensor* source, const tmajit_slice_arguments* arguments,
                           void* stream, tmajit_error** error) {
  return run(slice_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
}

tmajit_status tmajit_flip(tmajit_runtime* runtime, const tmajit_tensor* destination,
                          const tmajit_tensor* source, const tmajit_flip_arguments* arguments, void* stream,
                          tmajit_error** error) {
  return run(flip_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
}

tmajit_status tmajit_broadcast(tmajit_runtime* runtime, const tmajit_tensor* destination,
                               const tmajit_tensor* source, const tmajit_broadcast_arguments* arguments,
                               void* stream, tmajit_error** error) {
  return run(broadcast_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
}

tmajit_status tmajit_pad(tmajit_runtime* runtime, const tmajit_tensor* destination,
                         const tmajit_tensor* source, const tmajit_pad_arguments* arguments, void* stream,
                         tmajit_error** error) {
  return run(pad_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
}

tmajit_status tmajit_cast(tmajit_runtime* runtime, const tmajit_tensor* destination,
                          const tmajit_tensor* source, const tmajit_cast_arguments* arguments, void* stream,
                          tmajit_error** error) {
  return run(cast_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
}

tmajit_status tmajit_concat(tmajit_runtime* runtime, const tmajit_tensor* destination,
                            const tmajit_tensor* sources, size_t source_count,
                            const tmajit_concat_arguments* arguments, void* stream, tmajit_error** error) {
  return run(concat_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream, error);
}

tmajit_status tmajit_split(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                           size_t destination_count, const tmajit_tensor* source,
                           const tmajit_split_arguments* arguments, void* stream, tmajit_error** error) {
  return run(split_operation, runtime, {destinations, destination_count}, {source, 1}, arguments, stream,
             error);
}

tmajit_status tmajit_map(tmajit_runtime* runtime, const tmajit_tensor* destination,
                         const tmajit_tensor* sources, size_t source_count,
                         const tmajit_map_arguments* arguments, void* stream, tmajit_error** error) {
  return run(map_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream, error);
}

tmajit_status tmajit_stencil(tmajit_runtime* runtime, const tmajit_tensor* destination,
                             const tmajit_tensor* sources, size_t source_count,
                             const tmajit_stencil_arguments* arguments, void* stream, tmajit_error** error) {
  return run(stencil_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream,
             error);
}

tmajit_status tmajit_reduce(tmajit_runtime* runtime, const tmajit_tensor* destination,
                            const tmajit_tensor* sources, size_t source_count,
                            const tmajit_reduce_arguments* arguments, void* stream, tmajit_error** error) {
  return run(reduce_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream, error);
}

tmajit_status tmajit_scan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                          const tmajit_tensor* sources, size_t source_count,
                          const tmajit_scan_arguments* arguments, void* stream, tmajit_error** error) {
  return run(scan_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream, error);
}

tmajit_status tmajit_rowwise(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                             size_t destination_count, const tmajit_tensor* sources, size_t source_count,
                             const tmajit_rowwise_arguments* arguments, void* stream, tmajit_error** error) {
  return run(rowwise_operation, runtime, {destinations, destination_count}, {sources, source_count},
             arguments, stream, error);
}

tmajit_status tmajit_cast_transpose(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                    size_t destination_count, const tmajit_tensor* sources,
                                    size_t source_count, const tmajit_cast_transpose_arguments* arguments,
                                    void* stream, tmajit_error** error) {
  return run(cast_transpose_operation, runtime, {destinations, destination_count}, {sources, source_count},
             arguments, stream, error);
}

tmajit_status tmajit_top_k(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                           size_t destination_count, const tmajit_tensor* source,
                           const tmajit_top_k_arguments* arguments, void* stream, tmajit_error** error) {
  return run(top_k_operation, runtime, {destinations, destination_count}, {source, 1}, arguments, stream,
             error);
}

tmajit_status tmajit_gather(tmajit_runtime* runtime, const tmajit_tensor* destination,
                            const tmajit_tensor* sources, size_t source_count,
                            const tmajit_gather_arguments* arguments, void* stream, tmajit_error** error) {
  return run(gather_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream, error);
}

tmajit_status tmajit_scatter(tmajit_runtime* runtime, const tmajit_tensor* destination,
                             const tmajit_tensor* sources, size_t source_count,
                             const tmajit_scatter_arguments* arguments, void* stream, tmajit_error** error) {
  return run(scatter_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream,
             error);
}

tmajit_status tmajit_scatter_add(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                 const tmajit_tensor* sources, size_t source_count,
                                 const tmajit_scatter_add_arguments* arguments, void* stream,
                                 tmajit_error** error) {
  return run(scatter_add_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream,
             error);
}

tmajit_status tmajit_moe_permute(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                 size_t destination_count, const tmajit_tensor* sources,
                                 size_t source_count, const tmajit_moe_permute_arguments* arguments,
                                 void* stream, tmajit_error** error) {
  return run(moe_permute_operation, runtime, {destinations, destination_count}, {sources, source_count},
             arguments, stream, error);
}

tmajit_status tmajit_gather_sum(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                const tmajit_tensor* sources, size_t source_count,
                                const tmajit_gather_sum_arguments* arguments, void* stream,
                                tmajit_error** error) {
  return run(gather_sum_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream,
             error);
}

tmajit_status tmajit_copy_ragged(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                 size_t destination_count, const tmajit_tensor* sources,
                                 size_t source_count, const tmajit_copy_ragged_arguments* arguments,
                                 void* stream, tmajit_error** error) {
  return run(copy_ragged_operation, runtime, {destinations, destination_count}, {sources, source_count},
             arguments, stream, error);
}

tmajit_status tmajit_reduce_into(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                 const tmajit_tensor* source, const tmajit_reduce_into_arguments* arguments,
                                 void* stream, tmajit_error** error) {
  return run(reduce_into_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
}

tmajit_status tmajit_im2col(tmajit_runtime* runtime, const tmajit_tensor* destination,
                            const tmajit_tensor* source, const tmajit_im2col_arguments* arguments,
                            void* stream, tmajit_error** error) {
  return run(im2col_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
}

tmajit_status tmajit_convolution(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                 const tmajit_tensor* sources, size_t source_count,
                                 const tmajit_convolution_arguments* arguments, void* stream,
                                 tmajit_error** error) {
  return run(convolution_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream,
             error);
}

tmajit_status tmajit_tiles(tmajit_runtime* runtime, const tmajit_tensor* destination,
                           const tmajit_tensor* sources, size_t source_count,
                           const tmajit_tiles_arguments* arguments, void* stream, tmajit_error** error) {
  return run(tiles_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream, error);
}
