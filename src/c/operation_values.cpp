// src/c/write_operations.cpp writes this file from the operations' descriptions.
// clang-format off
#include "c/operation_structs.hpp"

using namespace tmajit::c;

tmajit_status tmajit_copy_operation(const tmajit_tensor* destination, const tmajit_tensor* source,
                                    const tmajit_copy_arguments* arguments, tmajit_operation** operation,
                                    tmajit_error** error) {
  return make_value(copy_operation, {destination, 1}, {source, 1}, arguments, operation, error);
}

tmajit_status tmajit_permute_operation(const tmajit_tensor* destination, const tmajit_tensor* source,
                                       const tmajit_permute_arguments* arguments,
                                       tmajit_operation** operation, tmajit_error** error) {
  return make_value(permute_operation, {destination, 1}, {source, 1}, arguments, operation, error);
}

tmajit_status tmajit_slice_operation(const tmajit_tensor* destination, const tmajit_tensor* source,
                                     const tmajit_slice_arguments* arguments, tmajit_operation** operation,
                                     tmajit_error** error) {
  return make_value(slice_operation, {destination, 1}, {source, 1}, arguments, operation, error);
}

tmajit_status tmajit_flip_operation(const tmajit_tensor* destination, const tmajit_tensor* source,
                                    const tmajit_flip_arguments* arguments, tmajit_operation** operation,
                                    tmajit_error** error) {
  return make_value(flip_operation, {destination, 1}, {source, 1}, arguments, operation, error);
}

tmajit_status tmajit_broadcast_operation(const tmajit_tensor* destination, const tmajit_tensor* source,
                                         const tmajit_broadcast_arguments* arguments,
                                         tmajit_operation** operation, tmajit_error** error) {
  return make_value(broadcast_operation, {destination, 1}, {source, 1}, arguments, operation, error);
}

tmajit_status tmajit_pad_operation(const tmajit_tensor* destination, const tmajit_tensor* source,
                                   const tmajit_pad_arguments* arguments, tmajit_operation** operation,
                                   tmajit_error** error) {
  return make_value(pad_operation, {destination, 1}, {source, 1}, arguments, operation, error);
}

tmajit_status tmajit_cast_operation(const tmajit_tensor* destination, const tmajit_tensor* source,
                                    const tmajit_cast_arguments* arguments, tmajit_operation** operation,
                                    tmajit_error** error) {
  return make_value(cast_operation, {destination, 1}, {source, 1}, arguments, operation, error);
}

tmajit_status tmajit_concat_operation(const tmajit_tensor* destination, const tmajit_tensor* sources,
                                      size_t source_count, const tmajit_concat_arguments* arguments,
                                      tmajit_operation** operation, tmajit_error** error) {
  return make_value(concat_operation, {destination, 1}, {sources, source_count}, arguments, operation,
                    error);
}

tmajit_status tmajit_split_operation(const tmajit_tensor* destinations, size_t destination_count,
                                     const tmajit_tensor* source, const tmajit_split_arguments* arguments,
                                     tmajit_operation** operation, tmajit_error** error) {
  return make_value(split_operation, {destinations, destination_count}, {source, 1}, arguments, operation,
                    error);
}

tmajit_status tmajit_map_operation(const tmajit_tensor* destination, const tmajit_tensor* sources,
                                   size_t source_count, const tmajit_map_arguments* arguments,
                                   tmajit_operation** operation, tmajit_error** error) {
  return make_value(map_operation, {destination, 1}, {sources, source_count}, arguments, operation, error);
}

tmajit_status tmajit_stencil_operation(const tmajit_tensor* destination, const tmajit_tensor* sources,
                                       size_t source_count, const tmajit_stencil_arguments* arguments,
                                       tmajit_operation** operation, tmajit_error** error) {
  return make_value(stencil_operation, {destination, 1}, {sources, source_count}, arguments, operation,
                    error);
}

tmajit_status tmajit_reduce_operation(const tmajit_tensor* destination, const tmajit_tensor* sources,
                                      size_t source_count, const tmajit_reduce_arguments* arguments,
                                      tmajit_operation** operation, tmajit_error** error) {
  return make_value(reduce_operation, {destination, 1}, {sources, source_count}, arguments, operation,
                    error);
}

tmajit_status tmajit_scan_operation(const tmajit_tensor* destination, const tmajit_tensor* sources,
                                    size_t source_count, const tmajit_scan_arguments* arguments,
                                    tmajit_operation** operation, tmajit_error** error) {
  return make_value(scan_operation, {destination, 1}, {sources, source_count}, arguments, operation, error);
}

tmajit_status tmajit_rowwise_operation(const tmajit_tensor* destinations, size_t destination_count,
                                       const tmajit_tensor* sources, size_t source_count,
                                       const tmajit_rowwise_arguments* arguments,
                                       tmajit_operation** operation, tmajit_error** error) {
  return make_value(rowwise_operation, {destinations, destination_count}, {sources, source_count},
                    arguments, operation, error);
}

tmajit_status tmajit_cast_transpose_operation(const tmajit_tensor* destinations, size_t destination_count,
                                              const tmajit_tensor* sources, size_t source_count,
                                              const tmajit_cast_transpose_arguments* arguments,
                                              tmajit_operation** operation, tmajit_error** error) {
  return make_value(cast_transpose_operation, {destinations, destination_count}, {sources, source_count},
                    arguments, operation, error);
}

tmajit_status tmajit_top_k_operation(const tmajit_tensor* destinations, size_t destination_count,
                                     const tmajit_tensor* source, const tmajit_top_k_arguments* arguments,
                                     tmajit_operation** operation, tmajit_error** error) {
  return make_value(top_k_operation, {destinations, destination_count}, {source, 1}, arguments, operation,
                    error);
}

tmajit_status tmajit_gather_operation(const tmajit_tensor* destination, const tmajit_tensor* sources,
                                      size_t source_count, const tmajit_gather_arguments* arguments,
                                      tmajit_operation** operation, tmajit_error** error) {
  return make_value(gather_operation, {destination, 1}, {sources, source_count}, arguments, operation,
                    error);
}

tmajit_status tmajit_scatter_operation(const tmajit_tensor* destination, const tmajit_tensor* sources,
                                       size_t source_count, const tmajit_scatter_arguments* arguments,
                                       tmajit_operation** operation, tmajit_error** error) {
  return make_value(scatter_operation, {destination, 1}, {sources, source_count}, arguments, operation,
                    error);
}

tmajit_status tmajit_scatter_add_operation(const tmajit_tensor* destination, const tmajit_tensor* sources,
                                           size_t source_count,
                                           const tmajit_scatter_add_arguments* arguments,
                                           tmajit_operation** operation, tmajit_error** error) {
  return make_value(scatter_add_operation, {destination, 1}, {sources, source_count}, arguments, operation,
                    error);
}

tmajit_status tmajit_moe_permute_operation(const tmajit_tensor* destinations, size_t destination_count,
                                           const tmajit_tensor* sources, size_t source_count,
                                           const tmajit_moe_permute_arguments* arguments,
                                           tmajit_operation** operation, tmajit_error** error) {
  return make_value(moe_permute_operation, {destinations, destination_count}, {sources, source_count},
                    arguments, operation, error);
}

tmajit_status tmajit_gather_sum_operation(const tmajit_tensor* destination, const tmajit_tensor* sources,
                                          size_t source_count, const tmajit_gather_sum_arguments* arguments,
                                          tmajit_operation** operation, tmajit_error** error) {
  return make_value(gather_sum_operation, {destination, 1}, {sources, source_count}, arguments, operation,
                    error);
}

tmajit_status tmajit_copy_ragged_operation(const tmajit_tensor* destinations, size_t destination_count,
                                           const tmajit_tensor* sources, size_t source_count,
                                           const tmajit_copy_ragged_arguments* arguments,
                                           tmajit_operation** operation, tmajit_error** error) {
  return make_value(copy_ragged_operation, {destinations, destination_count}, {sources, source_count},
                    arguments, operation, error);
}

tmajit_status tmajit_reduce_into_operation(const tmajit_tensor* destination, const tmajit_tensor* source,
                                           const tmajit_reduce_into_arguments* arguments,
                                           tmajit_operation** operation, tmajit_error** error) {
  return make_value(reduce_into_operation, {destination, 1}, {source, 1}, arguments, operation, error);
}

tmajit_status tmajit_im2col_operation(const tmajit_tensor* destination, const tmajit_tensor* source,
                                      const tmajit_im2col_arguments* arguments,
                                      tmajit_operation** operation, tmajit_error** error) {
  return make_value(im2col_operation, {destination, 1}, {source, 1}, arguments, operation, error);
}

tmajit_status tmajit_convolution_operation(const tmajit_tensor* destination, const tmajit_tensor* sources,
                                           size_t source_count,
                                           const tmajit_convolution_arguments* arguments,
                                           tmajit_operation** operation, tmajit_error** error) {
  return make_value(convolution_operation, {destination, 1}, {sources, source_count}, arguments, operation,
                    error);
}

tmajit_status tmajit_tiles_operation(const tmajit_tensor* destination, const tmajit_tensor* sources,
                                     size_t source_count, const tmajit_tiles_arguments* arguments,
                                     tmajit_operation** operation, tmajit_error** error) {
  return make_value(tiles_operation, {destination, 1}, {sources, source_count}, arguments, operation, error);
}
