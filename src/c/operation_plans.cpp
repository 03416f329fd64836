// src/c/write_operations.cpp writes this file from the operations' descriptions.
// clang-format off
#include "c/operation_structs.hpp"

using namespace tmajit::c;

tmajit_status tmajit_copy_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                               const tmajit_tensor* source, const tmajit_copy_arguments* arguments,
                               const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(copy_operation, runtime, {destination, 1}, {source, 1}, arguments, family, plan, error);
}

tmajit_status tmajit_copy_results(const tmajit_tensor* source, const tmajit_copy_arguments* arguments,
                                  tmajit_tensor* destination, tmajit_error** error) {
  return results(copy_operation, {source, 1}, arguments, destination, error);
}

tmajit_status tmajit_permute_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                  const tmajit_tensor* source, const tmajit_permute_arguments* arguments,
                                  const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(permute_operation, runtime, {destination, 1}, {source, 1}, arguments, family, plan,
                   error);
}

tmajit_status tmajit_permute_results(const tmajit_tensor* source, const tmajit_permute_arguments* arguments,
                                     tmajit_tensor* destination, tmajit_error** error) {
  return results(permute_operation, {source, 1}, arguments, destination, error);
}

tmajit_status tmajit_slice_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                const tmajit_tensor* source, const tmajit_slice_arguments* arguments,
                                const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(slice_operation, runtime, {destination, 1}, {source, 1}, arguments, family, plan, error);
}

tmajit_status tmajit_slice_results(const tmajit_tensor* source, const tmajit_slice_arguments* arguments,
                                   tmajit_tensor* destination, tmajit_error** error) {
  return results(slice_operation, {source, 1}, arguments, destination, error);
}

tmajit_status tmajit_flip_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                               const tmajit_tensor* source, const tmajit_flip_arguments* arguments,
                               const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(flip_operation, runtime, {destination, 1}, {source, 1}, arguments, family, plan, error);
}

tmajit_status tmajit_flip_results(const tmajit_tensor* source, const tmajit_flip_arguments* arguments,
                                  tmajit_tensor* destination, tmajit_error** error) {
  return results(flip_operation, {source, 1}, arguments, destination, error);
}

tmajit_status tmajit_broadcast_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                    const tmajit_tensor* source,
                                    const tmajit_broadcast_arguments* arguments, const char* family,
                                    tmajit_plan** plan, tmajit_error** error) {
  return make_plan(broadcast_operation, runtime, {destination, 1}, {source, 1}, arguments, family, plan,
                   error);
}

tmajit_status tmajit_broadcast_results(const tmajit_tensor* source,
                                       const tmajit_broadcast_arguments* arguments,
                                       tmajit_tensor* destination, tmajit_error** error) {
  return results(broadcast_operation, {source, 1}, arguments, destination, error);
}

tmajit_status tmajit_pad_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                              const tmajit_tensor* source, const tmajit_pad_arguments* arguments,
                              const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(pad_operation, runtime, {destination, 1}, {source, 1}, arguments, family, plan, error);
}

tmajit_status tmajit_pad_results(const tmajit_tensor* source, const tmajit_pad_arguments* arguments,
                                 tmajit_tensor* destination, tmajit_error** error) {
  return results(pad_operation, {source, 1}, arguments, destination, error);
}

tmajit_status tmajit_cast_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                               const tmajit_tensor* source, const tmajit_cast_arguments* arguments,
                               const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(cast_operation, runtime, {destination, 1}, {source, 1}, arguments, family, plan, error);
}

tmajit_status tmajit_cast_results(const tmajit_tensor* source, const tmajit_cast_arguments* arguments,
                                  tmajit_tensor* destination, tmajit_error** error) {
  return results(cast_operation, {source, 1}, arguments, destination, error);
}

tmajit_status tmajit_concat_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                 const tmajit_tensor* sources, size_t source_count,
                                 const tmajit_concat_arguments* arguments, const char* family,
                                 tmajit_plan** plan, tmajit_error** error) {
  return make_plan(concat_operation, runtime, {destination, 1}, {sources, source_count}, arguments, family,
                   plan, error);
}

tmajit_status tmajit_concat_results(const tmajit_tensor* sources, size_t source_count,
                                    const tmajit_concat_arguments* arguments, tmajit_tensor* destination,
                                    tmajit_error** error) {
  return results(concat_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_split_plan(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                size_t destination_count, const tmajit_tensor* source,
                                const tmajit_split_arguments* arguments, const char* family,
                                tmajit_plan** plan, tmajit_error** error) {
  return make_plan(split_operation, runtime, {destinations, destination_count}, {source, 1}, arguments,
                   family, plan, error);
}

tmajit_status tmajit_split_results(const tmajit_tensor* source, const tmajit_split_arguments* arguments,
                                   tmajit_tensor* destinations, size_t* destination_count,
                                   tmajit_error** error) {
  return results(split_operation, {source, 1}, arguments, destinations, destination_count, error);
}

tmajit_status tmajit_map_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                              const tmajit_tensor* sources, size_t source_count,
                              const tmajit_map_arguments* arguments, const char* family, tmajit_plan** plan,
                              tmajit_error** error) {
  return make_plan(map_operation, runtime, {destination, 1}, {sources, source_count}, arguments, family,
                   plan, error);
}

tmajit_status tmajit_map_results(const tmajit_tensor* sources, size_t source_count,
                                 const tmajit_map_arguments* arguments, tmajit_tensor* destination,
                                 tmajit_error** error) {
  return results(map_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_stencil_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                  const tmajit_tensor* sources, size_t source_count,
                                  const tmajit_stencil_arguments* arguments, const char* family,
                                  tmajit_plan** plan, tmajit_error** error) {
  return make_plan(stencil_operation, runtime, {destination, 1}, {sources, source_count}, arguments, family,
                   plan, error);
}

tmajit_status tmajit_stencil_results(const tmajit_tensor* sources, size_t source_count,
                                     const tmajit_stencil_arguments* arguments, tmajit_tensor* destination,
                                     tmajit_error** error) {
  return results(stencil_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_reduce_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                 const tmajit_tensor* sources, size_t source_count,
                                 const tmajit_reduce_arguments* arguments, const char* family,
                                 tmajit_plan** plan, tmajit_error** error) {
  return make_plan(reduce_operation, runtime, {destination, 1}, {sources, source_count}, arguments, family,
                   plan, error);
}

tmajit_status tmajit_reduce_results(const tmajit_tensor* sources, size_t source_count,
                                    const tmajit_reduce_arguments* arguments, tmajit_tensor* destination,
                                    tmajit_error** error) {
  return results(reduce_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_scan_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                               const tmajit_tensor* sources, size_t source_count,
                               const tmajit_scan_arguments* arguments, const char* family,
                               tmajit_plan** plan, tmajit_error** error) {
  return make_plan(scan_operation, runtime, {destination, 1}, {sources, source_count}, arguments, family,
                   plan, error);
}

tmajit_status tmajit_scan_results(const tmajit_tensor* sources, size_t source_count,
                                  const tmajit_scan_arguments* arguments, tmajit_tensor* destination,
                                  tmajit_error** error) {
  return results(scan_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_rowwise_plan(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                  size_t destination_count, const tmajit_tensor* sources,
                                  size_t source_count, const tmajit_rowwise_arguments* arguments,
                                  const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(rowwise_operation, runtime, {destinations, destination_count}, {sources, source_count},
                   arguments, family, plan, error);
}

tmajit_status tmajit_rowwise_results(const tmajit_tensor* sources, size_t source_count,
                                     const tmajit_rowwise_arguments* arguments, tmajit_tensor* destinations,
                                     size_t* destination_count, tmajit_error** error) {
  return results(rowwise_operation, {sources, source_count}, arguments, destinations, destination_count,
                 error);
}

tmajit_status tmajit_cast_transpose_plan(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                         size_t destination_count, const tmajit_tensor* sources,
                                         size_t source_count,
                                         const tmajit_cast_transpose_arguments* arguments,
                                         const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(cast_transpose_operation, runtime, {destinations, destination_count},
                   {sources, source_count}, arguments, family, plan, error);
}

tmajit_status tmajit_cast_transpose_results(const tmajit_tensor* sources, size_t source_count,
                                            const tmajit_cast_transpose_arguments* arguments,
                                            tmajit_tensor* destinations, size_t* destination_count,
                                            tmajit_error** error) {
  return results(cast_transpose_operation, {sources, source_count}, arguments, destinations,
                 destination_count, error);
}

tmajit_status tmajit_top_k_plan(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                size_t destination_count, const tmajit_tensor* source,
                                const tmajit_top_k_arguments* arguments, const char* family,
                                tmajit_plan** plan, tmajit_error** error) {
  return make_plan(top_k_operation, runtime, {destinations, destination_count}, {source, 1}, arguments,
                   family, plan, error);
}

tmajit_status tmajit_top_k_results(const tmajit_tensor* source, const tmajit_top_k_arguments* arguments,
                                   tmajit_tensor* destinations, size_t* destination_count,
                                   tmajit_error** error) {
  return results(top_k_operation, {source, 1}, arguments, destinations, destination_count, error);
}

tmajit_status tmajit_gather_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                 const tmajit_tensor* sources, size_t source_count,
                                 const tmajit_gather_arguments* arguments, const char* family,
                                 tmajit_plan** plan, tmajit_error** error) {
  return make_plan(gather_operation, runtime, {destination, 1}, {sources, source_count}, arguments, family,
                   plan, error);
}

tmajit_status tmajit_gather_results(const tmajit_tensor* sources, size_t source_count,
                                    const tmajit_gather_arguments* arguments, tmajit_tensor* destination,
                                    tmajit_error** error) {
  return results(gather_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_scatter_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                  const tmajit_tensor* sources, size_t source_count,
                                  const tmajit_scatter_arguments* arguments, const char* family,
                                  tmajit_plan** plan, tmajit_error** error) {
  return make_plan(scatter_operation, runtime, {destination, 1}, {sources, source_count}, arguments, family,
                   plan, error);
}

tmajit_status tmajit_scatter_results(const tmajit_tensor* sources, size_t source_count,
                                     const tmajit_scatter_arguments* arguments, tmajit_tensor* destination,
                                     tmajit_error** error) {
  return results(scatter_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_scatter_add_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                      const tmajit_tensor* sources, size_t source_count,
                                      const tmajit_scatter_add_arguments* arguments, const char* family,
                                      tmajit_plan** plan, tmajit_error** error) {
  return make_plan(scatter_add_operation, runtime, {destination, 1}, {sources, source_count}, arguments,
                   family, plan, error);
}

tmajit_status tmajit_scatter_add_results(const tmajit_tensor* sources, size_t source_count,
                                         const tmajit_scatter_add_arguments* arguments,
                                         tmajit_tensor* destination, tmajit_error** error) {
  return results(scatter_add_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_moe_permute_plan(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                      size_t destination_count, const tmajit_tensor* sources,
                                      size_t source_count, const tmajit_moe_permute_arguments* arguments,
                                      const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(moe_permute_operation, runtime, {destinations, destination_count},
                   {sources, source_count}, arguments, family, plan, error);
}

tmajit_status tmajit_moe_permute_results(const tmajit_tensor* sources, size_t source_count,
                                         const tmajit_moe_permute_arguments* arguments,
                                         tmajit_tensor* destinations, size_t* destination_count,
                                         tmajit_error** error) {
  return results(moe_permute_operation, {sources, source_count}, arguments, destinations, destination_count,
                 error);
}

tmajit_status tmajit_gather_sum_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                     const tmajit_tensor* sources, size_t source_count,
                                     const tmajit_gather_sum_arguments* arguments, const char* family,
                                     tmajit_plan** plan, tmajit_error** error) {
  return make_plan(gather_sum_operation, runtime, {destination, 1}, {sources, source_count}, arguments,
                   family, plan, error);
}

tmajit_status tmajit_gather_sum_results(const tmajit_tensor* sources, size_t source_count,
                                        const tmajit_gather_sum_arguments* arguments,
                                        tmajit_tensor* destination, tmajit_error** error) {
  return results(gather_sum_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_copy_ragged_plan(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                      size_t destination_count, const tmajit_tensor* sources,
                                      size_t source_count, const tmajit_copy_ragged_arguments* arguments,
                                      const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(copy_ragged_operation, runtime, {destinations, destination_count},
                   {sources, source_count}, arguments, family, plan, error);
}

tmajit_status tmajit_copy_ragged_results(const tmajit_tensor* sources, size_t source_count,
                                         const tmajit_copy_ragged_arguments* arguments,
                                         tmajit_tensor* destinations, size_t* destination_count,
                                         tmajit_error** error) {
  return results(copy_ragged_operation, {sources, source_count}, arguments, destinations, destination_count,
                 error);
}

tmajit_status tmajit_reduce_into_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                      const tmajit_tensor* source,
                                      const tmajit_reduce_into_arguments* arguments, const char* family,
                                      tmajit_plan** plan, tmajit_error** error) {
  return make_plan(reduce_into_operation, runtime, {destination, 1}, {source, 1}, arguments, family, plan,
                   error);
}

tmajit_status tmajit_reduce_into_results(const tmajit_tensor* source,
                                         const tmajit_reduce_into_arguments* arguments,
                                         tmajit_tensor* destination, tmajit_error** error) {
  return results(reduce_into_operation, {source, 1}, arguments, destination, error);
}

tmajit_status tmajit_im2col_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                 const tmajit_tensor* source, const tmajit_im2col_arguments* arguments,
                                 const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(im2col_operation, runtime, {destination, 1}, {source, 1}, arguments, family, plan, error);
}

tmajit_status tmajit_im2col_results(const tmajit_tensor* source, const tmajit_im2col_arguments* arguments,
                                    tmajit_tensor* destination, tmajit_error** error) {
  return results(im2col_operation, {source, 1}, arguments, destination, error);
}

tmajit_status tmajit_convolution_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                      const tmajit_tensor* sources, size_t source_count,
                                      const tmajit_convolution_arguments* arguments, const char* family,
                                      tmajit_plan** plan, tmajit_error** error) {
  return make_plan(convolution_operation, runtime, {destination, 1}, {sources, source_count}, arguments,
                   family, plan, error);
}

tmajit_status tmajit_convolution_results(const tmajit_tensor* sources, size_t source_count,
                                         const tmajit_convolution_arguments* arguments,
                                         tmajit_tensor* destination, tmajit_error** error) {
  return results(convolution_operation, {sources, source_count}, arguments, destination, error);
}

tmajit_status tmajit_tiles_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                const tmajit_tensor* sources, size_t source_count,
                                const tmajit_tiles_arguments* arguments, const char* family,
                                tmajit_plan** plan, tmajit_error** error) {
  return make_plan(tiles_operation, runtime, {destination, 1}, {sources, source_count}, arguments, family,
                   plan, error);
}

tmajit_status tmajit_tiles_results(const tmajit_tensor* sources, size_t source_count,
                                   const tmajit_tiles_arguments* arguments, tmajit_tensor* destination,
                                   tmajit_error** error) {
  return results(tiles_operation, {sources, source_count}, arguments, destination, error);
}
