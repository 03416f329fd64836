// src/c/write_operations.cpp writes this file from the operations' descriptions.
// clang-format off
#include "c/calls.hpp"

#include <cstddef>

using namespace tmajit::c;

namespace {

constexpr OperationStruct copy_operation{
    "copy", "tmajit_copy_arguments", sizeof(tmajit_copy_arguments), {}};

constexpr ArgumentMember permute_members[] = {
    {"axes", offsetof(tmajit_permute_arguments, axes)},
};
constexpr OperationStruct permute_operation{
    "permute", "tmajit_permute_arguments", sizeof(tmajit_permute_arguments), permute_members};

constexpr ArgumentMember slice_members[] = {
    {"slices", offsetof(tmajit_slice_arguments, slices)},
};
constexpr OperationStruct slice_operation{
    "slice", "tmajit_slice_arguments", sizeof(tmajit_slice_arguments), slice_members};

constexpr ArgumentMember flip_members[] = {
    {"axes", offsetof(tmajit_flip_arguments, axes)},
};
constexpr OperationStruct flip_operation{
    "flip", "tmajit_flip_arguments", sizeof(tmajit_flip_arguments), flip_members};

constexpr ArgumentMember broadcast_members[] = {
    {"shape", offsetof(tmajit_broadcast_arguments, shape)},
};
constexpr OperationStruct broadcast_operation{
    "broadcast", "tmajit_broadcast_arguments", sizeof(tmajit_broadcast_arguments), broadcast_members};

constexpr ArgumentMember pad_members[] = {
    {"widths", offsetof(tmajit_pad_arguments, widths)},
    {"value", offsetof(tmajit_pad_arguments, value)},
};
constexpr OperationStruct pad_operation{
    "pad", "tmajit_pad_arguments", sizeof(tmajit_pad_arguments), pad_members};

constexpr OperationStruct cast_operation{
    "cast", "tmajit_cast_arguments", sizeof(tmajit_cast_arguments), {}};

constexpr ArgumentMember concat_members[] = {
    {"axis", offsetof(tmajit_concat_arguments, axis)},
    {"new_axis", offsetof(tmajit_concat_arguments, new_axis)},
};
constexpr OperationStruct concat_operation{
    "concat", "tmajit_concat_arguments", sizeof(tmajit_concat_arguments), concat_members};

constexpr ArgumentMember split_members[] = {
    {"axis", offsetof(tmajit_split_arguments, axis)},
    {"parts", offsetof(tmajit_split_arguments, parts)},
    {"drop_axis", offsetof(tmajit_split_arguments, drop_axis)},
};
constexpr OperationStruct split_operation{
    "split", "tmajit_split_arguments", sizeof(tmajit_split_arguments), split_members};

constexpr ArgumentMember map_members[] = {
    {"expression", offsetof(tmajit_map_arguments, expression)},
};
constexpr OperationStruct map_operation{
    "map", "tmajit_map_arguments", sizeof(tmajit_map_arguments), map_members};

constexpr ArgumentMember stencil_members[] = {
    {"expression", offsetof(tmajit_stencil_arguments, expression)},
    {"boundary", offsetof(tmajit_stencil_arguments, boundary)},
    {"value", offsetof(tmajit_stencil_arguments, value)},
    {"dims", offsetof(tmajit_stencil_arguments, dims)},
};
constexpr OperationStruct stencil_operation{
    "stencil", "tmajit_stencil_arguments", sizeof(tmajit_stencil_arguments), stencil_members};

constexpr ArgumentMember reduce_members[] = {
    {"op", offsetof(tmajit_reduce_arguments, op)},
    {"axes", offsetof(tmajit_reduce_arguments, axes)},
    {"expression", offsetof(tmajit_reduce_arguments, expression)},
    {"epilogue", offsetof(tmajit_reduce_arguments, epilogue)},
    {"keep_dims", offsetof(tmajit_reduce_arguments, keep_dims)},
};
constexpr OperationStruct reduce_operation{
    "reduce", "tmajit_reduce_arguments", sizeof(tmajit_reduce_arguments), reduce_members};

constexpr ArgumentMember scan_members[] = {
    {"op", offsetof(tmajit_scan_arguments, op)},
    {"axis", offsetof(tmajit_scan_arguments, axis)},
    {"bound", offsetof(tmajit_scan_arguments, bound)},
    {"direction", offsetof(tmajit_scan_arguments, direction)},
    {"expression", offsetof(tmajit_scan_arguments, expression)},
};
constexpr OperationStruct scan_operation{
    "scan", "tmajit_scan_arguments", sizeof(tmajit_scan_arguments), scan_members};

constexpr ArgumentMember rowwise_members[] = {
    {"steps", offsetof(tmajit_rowwise_arguments, steps)},
    {"axes", offsetof(tmajit_rowwise_arguments, axes)},
};
constexpr OperationStruct rowwise_operation{
    "rowwise", "tmajit_rowwise_arguments", sizeof(tmajit_rowwise_arguments), rowwise_members};

constexpr OperationStruct copy_ragged_operation{
    "copy_ragged", "tmajit_copy_ragged_arguments", sizeof(tmajit_copy_ragged_arguments), {}};

constexpr ArgumentMember reduce_into_members[] = {
    {"op", offsetof(tmajit_reduce_into_arguments, op)},
};
constexpr OperationStruct reduce_into_operation{
    "reduce_into", "tmajit_reduce_into_arguments", sizeof(tmajit_reduce_into_arguments), reduce_into_members};

constexpr ArgumentMember im2col_members[] = {
    {"filter", offsetof(tmajit_im2col_arguments, filter)},
    {"strides", offsetof(tmajit_im2col_arguments, strides)},
    {"dilations", offsetof(tmajit_im2col_arguments, dilations)},
    {"padding", offsetof(tmajit_im2col_arguments, padding)},
};
constexpr OperationStruct im2col_operation{
    "im2col", "tmajit_im2col_arguments", sizeof(tmajit_im2col_arguments), im2col_members};

constexpr ArgumentMember convolution_members[] = {
    {"filter", offsetof(tmajit_convolution_arguments, filter)},
    {"strides", offsetof(tmajit_convolution_arguments, strides)},
    {"dilations", offsetof(tmajit_convolution_arguments, dilations)},
    {"padding", offsetof(tmajit_convolution_arguments, padding)},
};
constexpr OperationStruct convolution_operation{
    "convolution", "tmajit_convolution_arguments", sizeof(tmajit_convolution_arguments), convolution_members};

constexpr ArgumentMember tiles_members[] = {
    {"family", offsetof(tmajit_tiles_arguments, family)},
    {"expression", offsetof(tmajit_tiles_arguments, expression)},
    {"op", offsetof(tmajit_tiles_arguments, op)},
    {"box", offsetof(tmajit_tiles_arguments, box)},
    {"element_strides", offsetof(tmajit_tiles_arguments, element_strides)},
    {"swizzle", offsetof(tmajit_tiles_arguments, swizzle)},
    {"interleave", offsetof(tmajit_tiles_arguments, interleave)},
    {"oob", offsetof(tmajit_tiles_arguments, oob)},
    {"l2", offsetof(tmajit_tiles_arguments, l2)},
    {"stages", offsetof(tmajit_tiles_arguments, stages)},
    {"output_stages", offsetof(tmajit_tiles_arguments, output_stages)},
    {"warps", offsetof(tmajit_tiles_arguments, warps)},
    {"ctas_per_sm", offsetof(tmajit_tiles_arguments, ctas_per_sm)},
    {"tiles_per_cta", offsetof(tmajit_tiles_arguments, tiles_per_cta)},
};
constexpr OperationStruct tiles_operation{
    "tiles", "tmajit_tiles_arguments", sizeof(tmajit_tiles_arguments), tiles_members};

}  // namespace

tmajit_status tmajit_copy(tmajit_runtime* runtime, const tmajit_tensor* destination,
                          const tmajit_tensor* source, const tmajit_copy_arguments* arguments, void* stream,
                          tmajit_error** error) {
  return run(copy_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
}

tmajit_status tmajit_copy_plan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                               const tmajit_tensor* source, const tmajit_copy_arguments* arguments,
                               const char* family, tmajit_plan** plan, tmajit_error** error) {
  return make_plan(copy_operation, runtime, {destination, 1}, {source, 1}, arguments, family, plan, error);
}

tmajit_status tmajit_copy_results(const tmajit_tensor* source, const tmajit_copy_arguments* arguments,
                                  tmajit_tensor* destination, tmajit_error** error) {
  return results(copy_operation, {source, 1}, arguments, destination, error);
}

tmajit_status tmajit_permute(tmajit_runtime* runtime, const tmajit_tensor* destination,
                             const tmajit_tensor* source, const tmajit_permute_arguments* arguments,
                             void* stream, tmajit_error** error) {
  return run(permute_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
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

tmajit_status tmajit_slice(tmajit_runtime* runtime, const tmajit_tensor* destination,
                           const tmajit_tensor* source, const tmajit_slice_arguments* arguments,
                           void* stream, tmajit_error** error) {
  return run(slice_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
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

tmajit_status tmajit_flip(tmajit_runtime* runtime, const tmajit_tensor* destination,
                          const tmajit_tensor* source, const tmajit_flip_arguments* arguments, void* stream,
                          tmajit_error** error) {
  return run(flip_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
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

tmajit_status tmajit_broadcast(tmajit_runtime* runtime, const tmajit_tensor* destination,
                               const tmajit_tensor* source, const tmajit_broadcast_arguments* arguments,
                               void* stream, tmajit_error** error) {
  return run(broadcast_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
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

tmajit_status tmajit_pad(tmajit_runtime* runtime, const tmajit_tensor* destination,
                         const tmajit_tensor* source, const tmajit_pad_arguments* arguments, void* stream,
                         tmajit_error** error) {
  return run(pad_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
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

tmajit_status tmajit_cast(tmajit_runtime* runtime, const tmajit_tensor* destination,
                          const tmajit_tensor* source, const tmajit_cast_arguments* arguments, void* stream,
                          tmajit_error** error) {
  return run(cast_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
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

tmajit_status tmajit_concat(tmajit_runtime* runtime, const tmajit_tensor* destination,
                            const tmajit_tensor* sources, size_t source_count,
                            const tmajit_concat_arguments* arguments, void* stream, tmajit_error** error) {
  return run(concat_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream, error);
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

tmajit_status tmajit_split(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                           size_t destination_count, const tmajit_tensor* source,
                           const tmajit_split_arguments* arguments, void* stream, tmajit_error** error) {
  return run(split_operation, runtime, {destinations, destination_count}, {source, 1}, arguments, stream,
             error);
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

tmajit_status tmajit_map(tmajit_runtime* runtime, const tmajit_tensor* destination,
                         const tmajit_tensor* sources, size_t source_count,
                         const tmajit_map_arguments* arguments, void* stream, tmajit_error** error) {
  return run(map_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream, error);
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

tmajit_status tmajit_stencil(tmajit_runtime* runtime, const tmajit_tensor* destination,
                             const tmajit_tensor* sources, size_t source_count,
                             const tmajit_stencil_arguments* arguments, void* stream, tmajit_error** error) {
  return run(stencil_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream,
             error);
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

tmajit_status tmajit_reduce(tmajit_runtime* runtime, const tmajit_tensor* destination,
                            const tmajit_tensor* sources, size_t source_count,
                            const tmajit_reduce_arguments* arguments, void* stream, tmajit_error** error) {
  return run(reduce_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream, error);
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

tmajit_status tmajit_scan(tmajit_runtime* runtime, const tmajit_tensor* destination,
                          const tmajit_tensor* sources, size_t source_count,
                          const tmajit_scan_arguments* arguments, void* stream, tmajit_error** error) {
  return run(scan_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream, error);
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

tmajit_status tmajit_rowwise(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                             size_t destination_count, const tmajit_tensor* sources, size_t source_count,
                             const tmajit_rowwise_arguments* arguments, void* stream, tmajit_error** error) {
  return run(rowwise_operation, runtime, {destinations, destination_count}, {sources, source_count},
             arguments, stream, error);
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

tmajit_status tmajit_copy_ragged(tmajit_runtime* runtime, const tmajit_tensor* destinations,
                                 size_t destination_count, const tmajit_tensor* sources,
                                 size_t source_count, const tmajit_copy_ragged_arguments* arguments,
                                 void* stream, tmajit_error** error) {
  return run(copy_ragged_operation, runtime, {destinations, destination_count}, {sources, source_count},
             arguments, stream, error);
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

tmajit_status tmajit_reduce_into(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                 const tmajit_tensor* source, const tmajit_reduce_into_arguments* arguments,
                                 void* stream, tmajit_error** error) {
  return run(reduce_into_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
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

tmajit_status tmajit_im2col(tmajit_runtime* runtime, const tmajit_tensor* destination,
                            const tmajit_tensor* source, const tmajit_im2col_arguments* arguments,
                            void* stream, tmajit_error** error) {
  return run(im2col_operation, runtime, {destination, 1}, {source, 1}, arguments, stream, error);
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

tmajit_status tmajit_convolution(tmajit_runtime* runtime, const tmajit_tensor* destination,
                                 const tmajit_tensor* sources, size_t source_count,
                                 const tmajit_convolution_arguments* arguments, void* stream,
                                 tmajit_error** error) {
  return run(convolution_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream,
             error);
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

tmajit_status tmajit_tiles(tmajit_runtime* runtime, const tmajit_tensor* destination,
                           const tmajit_tensor* sources, size_t source_count,
                           const tmajit_tiles_arguments* arguments, void* stream, tmajit_error** error) {
  return run(tiles_operation, runtime, {destination, 1}, {sources, source_count}, arguments, stream, error);
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
