#pragma once

// src/c/write_operations.cpp writes this file from the operations' descriptions.
// clang-format off
#include "c/calls.hpp"

#include <cstddef>

// The members of each operation's struct of arguments.
namespace tmajit::c {

inline constexpr OperationStruct copy_operation{
    "copy", "tmajit_copy_arguments", sizeof(tmajit_copy_arguments), {}};

inline constexpr ArgumentMember permute_members[] = {
    {"axes", offsetof(tmajit_permute_arguments, axes)},
};
inline constexpr OperationStruct permute_operation{
    "permute", "tmajit_permute_arguments", sizeof(tmajit_permute_arguments), permute_members};

inline constexpr ArgumentMember slice_members[] = {
    {"slices", offsetof(tmajit_slice_arguments, slices)},
};
inline constexpr OperationStruct slice_operation{
    "slice", "tmajit_slice_arguments", sizeof(tmajit_slice_arguments), slice_members};

inline constexpr ArgumentMember flip_members[] = {
    {"axes", offsetof(tmajit_flip_arguments, axes)},
};
inline constexpr OperationStruct flip_operation{
    "flip", "tmajit_flip_arguments", sizeof(tmajit_flip_arguments), flip_members};

inline constexpr ArgumentMember broadcast_members[] = {
    {"shape", offsetof(tmajit_broadcast_arguments, shape)},
};
inline constexpr OperationStruct broadcast_operation{
    "broadcast", "tmajit_broadcast_arguments", sizeof(tmajit_broadcast_arguments), broadcast_members};

inline constexpr ArgumentMember pad_members[] = {
    {"widths", offsetof(tmajit_pad_arguments, widths)},
    {"value", offsetof(tmajit_pad_arguments, value)},
};
inline constexpr OperationStruct pad_operation{
    "pad", "tmajit_pad_arguments", sizeof(tmajit_pad_arguments), pad_members};

inline constexpr OperationStruct cast_operation{
    "cast", "tmajit_cast_arguments", sizeof(tmajit_cast_arguments), {}};

inline constexpr ArgumentMember concat_members[] = {
    {"axis", offsetof(tmajit_concat_arguments, axis)},
    {"new_axis", offsetof(tmajit_concat_arguments, new_axis)},
};
inline constexpr OperationStruct concat_operation{
    "concat", "tmajit_concat_arguments", sizeof(tmajit_concat_arguments), concat_members};

inline constexpr ArgumentMember split_members[] = {
    {"axis", offsetof(tmajit_split_arguments, axis)},
    {"parts", offsetof(tmajit_split_arguments, parts)},
    {"drop_axis", offsetof(tmajit_split_arguments, drop_axis)},
};
inline constexpr OperationStruct split_operation{
    "split", "tmajit_split_arguments", sizeof(tmajit_split_arguments), split_members};

inline constexpr ArgumentMember map_members[] = {
    {"expression", offsetof(tmajit_map_arguments, expression)},
};
inline constexpr OperationStruct map_operation{
    "map", "tmajit_map_arguments", sizeof(tmajit_map_arguments), map_members};

inline constexpr ArgumentMember stencil_members[] = {
    {"expression", offsetof(tmajit_stencil_arguments, expression)},
    {"boundary", offsetof(tmajit_stencil_arguments, boundary)},
    {"value", offsetof(tmajit_stencil_arguments, value)},
    {"dims", offsetof(tmajit_stencil_arguments, dims)},
};
inline constexpr OperationStruct stencil_operation{
    "stencil", "tmajit_stencil_arguments", sizeof(tmajit_stencil_arguments), stencil_members};

inline constexpr ArgumentMember reduce_members[] = {
    {"op", offsetof(tmajit_reduce_arguments, op)},
    {"axes", offsetof(tmajit_reduce_arguments, axes)},
    {"expression", offsetof(tmajit_reduce_arguments, expression)},
    {"epilogue", offsetof(tmajit_reduce_arguments, epilogue)},
    {"keep_dims", offsetof(tmajit_reduce_arguments, keep_dims)},
};
inline constexpr OperationStruct reduce_operation{
    "reduce", "tmajit_reduce_arguments", sizeof(tmajit_reduce_arguments), reduce_members};

inline constexpr ArgumentMember scan_members[] = {
    {"op", offsetof(tmajit_scan_arguments, op)},
    {"axis", offsetof(tmajit_scan_arguments, axis)},
    {"bound", offsetof(tmajit_scan_arguments, bound)},
    {"direction", offsetof(tmajit_scan_arguments, direction)},
    {"expression", offsetof(tmajit_scan_arguments, expression)},
};
inline constexpr OperationStruct scan_operation{
    "scan", "tmajit_scan_arguments", sizeof(tmajit_scan_arguments), scan_members};

inline constexpr ArgumentMember rowwise_members[] = {
    {"steps", offsetof(tmajit_rowwise_arguments, steps)},
    {"axes", offsetof(tmajit_rowwise_arguments, axes)},
};
inline constexpr OperationStruct rowwise_operation{
    "rowwise", "tmajit_rowwise_arguments", sizeof(tmajit_rowwise_arguments), rowwise_members};

inline constexpr ArgumentMember softmax_members[] = {
    {"axis", offsetof(tmajit_softmax_arguments, axis)},
};
inline constexpr OperationStruct softmax_operation{
    "softmax", "tmajit_softmax_arguments", sizeof(tmajit_softmax_arguments), softmax_members};

inline constexpr ArgumentMember softmax_backward_members[] = {
    {"axis", offsetof(tmajit_softmax_backward_arguments, axis)},
};
inline constexpr OperationStruct softmax_backward_operation{
    "softmax_backward", "tmajit_softmax_backward_arguments", sizeof(tmajit_softmax_backward_arguments), softmax_backward_members};

inline constexpr ArgumentMember log_softmax_members[] = {
    {"axis", offsetof(tmajit_log_softmax_arguments, axis)},
};
inline constexpr OperationStruct log_softmax_operation{
    "log_softmax", "tmajit_log_softmax_arguments", sizeof(tmajit_log_softmax_arguments), log_softmax_members};

inline constexpr ArgumentMember log_softmax_backward_members[] = {
    {"axis", offsetof(tmajit_log_softmax_backward_arguments, axis)},
};
inline constexpr OperationStruct log_softmax_backward_operation{
    "log_softmax_backward", "tmajit_log_softmax_backward_arguments", sizeof(tmajit_log_softmax_backward_arguments), log_softmax_backward_members};

inline constexpr ArgumentMember logsumexp_members[] = {
    {"axis", offsetof(tmajit_logsumexp_arguments, axis)},
};
inline constexpr OperationStruct logsumexp_operation{
    "logsumexp", "tmajit_logsumexp_arguments", sizeof(tmajit_logsumexp_arguments), logsumexp_members};

inline constexpr ArgumentMember rms_norm_members[] = {
    {"axis", offsetof(tmajit_rms_norm_arguments, axis)},
    {"eps", offsetof(tmajit_rms_norm_arguments, eps)},
};
inline constexpr OperationStruct rms_norm_operation{
    "rms_norm", "tmajit_rms_norm_arguments", sizeof(tmajit_rms_norm_arguments), rms_norm_members};

inline constexpr ArgumentMember rms_norm_backward_members[] = {
    {"axis", offsetof(tmajit_rms_norm_backward_arguments, axis)},
    {"eps", offsetof(tmajit_rms_norm_backward_arguments, eps)},
};
inline constexpr OperationStruct rms_norm_backward_operation{
    "rms_norm_backward", "tmajit_rms_norm_backward_arguments", sizeof(tmajit_rms_norm_backward_arguments), rms_norm_backward_members};

inline constexpr ArgumentMember add_rms_norm_members[] = {
    {"axis", offsetof(tmajit_add_rms_norm_arguments, axis)},
    {"eps", offsetof(tmajit_add_rms_norm_arguments, eps)},
};
inline constexpr OperationStruct add_rms_norm_operation{
    "add_rms_norm", "tmajit_add_rms_norm_arguments", sizeof(tmajit_add_rms_norm_arguments), add_rms_norm_members};

inline constexpr ArgumentMember layer_norm_members[] = {
    {"axis", offsetof(tmajit_layer_norm_arguments, axis)},
    {"eps", offsetof(tmajit_layer_norm_arguments, eps)},
};
inline constexpr OperationStruct layer_norm_operation{
    "layer_norm", "tmajit_layer_norm_arguments", sizeof(tmajit_layer_norm_arguments), layer_norm_members};

inline constexpr ArgumentMember layer_norm_backward_members[] = {
    {"axis", offsetof(tmajit_layer_norm_backward_arguments, axis)},
    {"eps", offsetof(tmajit_layer_norm_backward_arguments, eps)},
};
inline constexpr OperationStruct layer_norm_backward_operation{
    "layer_norm_backward", "tmajit_layer_norm_backward_arguments", sizeof(tmajit_layer_norm_backward_arguments), layer_norm_backward_members};

inline constexpr ArgumentMember l2_normalize_members[] = {
    {"axis", offsetof(tmajit_l2_normalize_arguments, axis)},
    {"eps", offsetof(tmajit_l2_normalize_arguments, eps)},
};
inline constexpr OperationStruct l2_normalize_operation{
    "l2_normalize", "tmajit_l2_normalize_arguments", sizeof(tmajit_l2_normalize_arguments), l2_normalize_members};

inline constexpr ArgumentMember cross_entropy_members[] = {
    {"axis", offsetof(tmajit_cross_entropy_arguments, axis)},
};
inline constexpr OperationStruct cross_entropy_operation{
    "cross_entropy", "tmajit_cross_entropy_arguments", sizeof(tmajit_cross_entropy_arguments), cross_entropy_members};

inline constexpr ArgumentMember cross_entropy_with_gradient_members[] = {
    {"axis", offsetof(tmajit_cross_entropy_with_gradient_arguments, axis)},
};
inline constexpr OperationStruct cross_entropy_with_gradient_operation{
    "cross_entropy_with_gradient", "tmajit_cross_entropy_with_gradient_arguments", sizeof(tmajit_cross_entropy_with_gradient_arguments), cross_entropy_with_gradient_members};

inline constexpr ArgumentMember cross_entropy_backward_members[] = {
    {"axis", offsetof(tmajit_cross_entropy_backward_arguments, axis)},
};
inline constexpr OperationStruct cross_entropy_backward_operation{
    "cross_entropy_backward", "tmajit_cross_entropy_backward_arguments", sizeof(tmajit_cross_entropy_backward_arguments), cross_entropy_backward_members};

inline constexpr ArgumentMember max_with_index_members[] = {
    {"axis", offsetof(tmajit_max_with_index_arguments, axis)},
};
inline constexpr OperationStruct max_with_index_operation{
    "max_with_index", "tmajit_max_with_index_arguments", sizeof(tmajit_max_with_index_arguments), max_with_index_members};

inline constexpr ArgumentMember quantize_rows_members[] = {
    {"axis", offsetof(tmajit_quantize_rows_arguments, axis)},
    {"block", offsetof(tmajit_quantize_rows_arguments, block)},
    {"to", offsetof(tmajit_quantize_rows_arguments, to)},
};
inline constexpr OperationStruct quantize_rows_operation{
    "quantize_rows", "tmajit_quantize_rows_arguments", sizeof(tmajit_quantize_rows_arguments), quantize_rows_members};

inline constexpr ArgumentMember dequantize_rows_members[] = {
    {"axis", offsetof(tmajit_dequantize_rows_arguments, axis)},
    {"block", offsetof(tmajit_dequantize_rows_arguments, block)},
};
inline constexpr OperationStruct dequantize_rows_operation{
    "dequantize_rows", "tmajit_dequantize_rows_arguments", sizeof(tmajit_dequantize_rows_arguments), dequantize_rows_members};

inline constexpr ArgumentMember quantize_blocks_members[] = {
    {"block", offsetof(tmajit_quantize_blocks_arguments, block)},
    {"to", offsetof(tmajit_quantize_blocks_arguments, to)},
};
inline constexpr OperationStruct quantize_blocks_operation{
    "quantize_blocks", "tmajit_quantize_blocks_arguments", sizeof(tmajit_quantize_blocks_arguments), quantize_blocks_members};

inline constexpr ArgumentMember dequantize_blocks_members[] = {
    {"block", offsetof(tmajit_dequantize_blocks_arguments, block)},
};
inline constexpr OperationStruct dequantize_blocks_operation{
    "dequantize_blocks", "tmajit_dequantize_blocks_arguments", sizeof(tmajit_dequantize_blocks_arguments), dequantize_blocks_members};

inline constexpr ArgumentMember quantize_tensor_members[] = {
    {"to", offsetof(tmajit_quantize_tensor_arguments, to)},
};
inline constexpr OperationStruct quantize_tensor_operation{
    "quantize_tensor", "tmajit_quantize_tensor_arguments", sizeof(tmajit_quantize_tensor_arguments), quantize_tensor_members};

inline constexpr OperationStruct dequantize_tensor_operation{
    "dequantize_tensor", "tmajit_dequantize_tensor_arguments", sizeof(tmajit_dequantize_tensor_arguments), {}};

inline constexpr ArgumentMember swiglu_members[] = {
    {"axis", offsetof(tmajit_swiglu_arguments, axis)},
};
inline constexpr OperationStruct swiglu_operation{
    "swiglu", "tmajit_swiglu_arguments", sizeof(tmajit_swiglu_arguments), swiglu_members};

inline constexpr ArgumentMember swiglu_backward_members[] = {
    {"axis", offsetof(tmajit_swiglu_backward_arguments, axis)},
};
inline constexpr OperationStruct swiglu_backward_operation{
    "swiglu_backward", "tmajit_swiglu_backward_arguments", sizeof(tmajit_swiglu_backward_arguments), swiglu_backward_members};

inline constexpr ArgumentMember rotary_members[] = {
    {"axis", offsetof(tmajit_rotary_arguments, axis)},
    {"layout", offsetof(tmajit_rotary_arguments, layout)},
};
inline constexpr OperationStruct rotary_operation{
    "rotary", "tmajit_rotary_arguments", sizeof(tmajit_rotary_arguments), rotary_members};

inline constexpr ArgumentMember cast_transpose_members[] = {
    {"to", offsetof(tmajit_cast_transpose_arguments, to)},
    {"orders", offsetof(tmajit_cast_transpose_arguments, orders)},
    {"amax", offsetof(tmajit_cast_transpose_arguments, amax)},
};
inline constexpr OperationStruct cast_transpose_operation{
    "cast_transpose", "tmajit_cast_transpose_arguments", sizeof(tmajit_cast_transpose_arguments), cast_transpose_members};

inline constexpr ArgumentMember top_k_members[] = {
    {"k", offsetof(tmajit_top_k_arguments, k)},
    {"axis", offsetof(tmajit_top_k_arguments, axis)},
    {"largest", offsetof(tmajit_top_k_arguments, largest)},
    {"index", offsetof(tmajit_top_k_arguments, index)},
};
inline constexpr OperationStruct top_k_operation{
    "top_k", "tmajit_top_k_arguments", sizeof(tmajit_top_k_arguments), top_k_members};

inline constexpr ArgumentMember gather_members[] = {
    {"axes", offsetof(tmajit_gather_arguments, axes)},
    {"along", offsetof(tmajit_gather_arguments, along)},
    {"out_of_range", offsetof(tmajit_gather_arguments, out_of_range)},
    {"value", offsetof(tmajit_gather_arguments, value)},
    {"flat", offsetof(tmajit_gather_arguments, flat)},
    {"expression", offsetof(tmajit_gather_arguments, expression)},
};
inline constexpr OperationStruct gather_operation{
    "gather", "tmajit_gather_arguments", sizeof(tmajit_gather_arguments), gather_members};

inline constexpr ArgumentMember scatter_members[] = {
    {"axes", offsetof(tmajit_scatter_arguments, axes)},
    {"along", offsetof(tmajit_scatter_arguments, along)},
    {"out_of_range", offsetof(tmajit_scatter_arguments, out_of_range)},
    {"flat", offsetof(tmajit_scatter_arguments, flat)},
};
inline constexpr OperationStruct scatter_operation{
    "scatter", "tmajit_scatter_arguments", sizeof(tmajit_scatter_arguments), scatter_members};

inline constexpr ArgumentMember scatter_add_members[] = {
    {"axes", offsetof(tmajit_scatter_add_arguments, axes)},
    {"along", offsetof(tmajit_scatter_add_arguments, along)},
    {"out_of_range", offsetof(tmajit_scatter_add_arguments, out_of_range)},
    {"deterministic", offsetof(tmajit_scatter_add_arguments, deterministic)},
    {"flat", offsetof(tmajit_scatter_add_arguments, flat)},
};
inline constexpr OperationStruct scatter_add_operation{
    "scatter_add", "tmajit_scatter_add_arguments", sizeof(tmajit_scatter_add_arguments), scatter_add_members};

inline constexpr ArgumentMember moe_permute_members[] = {
    {"count", offsetof(tmajit_moe_permute_arguments, count)},
    {"alignment", offsetof(tmajit_moe_permute_arguments, alignment)},
};
inline constexpr OperationStruct moe_permute_operation{
    "moe_permute", "tmajit_moe_permute_arguments", sizeof(tmajit_moe_permute_arguments), moe_permute_members};

inline constexpr ArgumentMember gather_sum_members[] = {
    {"axes", offsetof(tmajit_gather_sum_arguments, axes)},
    {"out_of_range", offsetof(tmajit_gather_sum_arguments, out_of_range)},
    {"flat", offsetof(tmajit_gather_sum_arguments, flat)},
    {"ragged", offsetof(tmajit_gather_sum_arguments, ragged)},
};
inline constexpr OperationStruct gather_sum_operation{
    "gather_sum", "tmajit_gather_sum_arguments", sizeof(tmajit_gather_sum_arguments), gather_sum_members};

inline constexpr OperationStruct copy_ragged_operation{
    "copy_ragged", "tmajit_copy_ragged_arguments", sizeof(tmajit_copy_ragged_arguments), {}};

inline constexpr ArgumentMember reduce_into_members[] = {
    {"op", offsetof(tmajit_reduce_into_arguments, op)},
};
inline constexpr OperationStruct reduce_into_operation{
    "reduce_into", "tmajit_reduce_into_arguments", sizeof(tmajit_reduce_into_arguments), reduce_into_members};

inline constexpr ArgumentMember im2col_members[] = {
    {"filter", offsetof(tmajit_im2col_arguments, filter)},
    {"strides", offsetof(tmajit_im2col_arguments, strides)},
    {"dilations", offsetof(tmajit_im2col_arguments, dilations)},
    {"padding", offsetof(tmajit_im2col_arguments, padding)},
};
inline constexpr OperationStruct im2col_operation{
    "im2col", "tmajit_im2col_arguments", sizeof(tmajit_im2col_arguments), im2col_members};

inline constexpr ArgumentMember convolution_members[] = {
    {"filter", offsetof(tmajit_convolution_arguments, filter)},
    {"strides", offsetof(tmajit_convolution_arguments, strides)},
    {"dilations", offsetof(tmajit_convolution_arguments, dilations)},
    {"padding", offsetof(tmajit_convolution_arguments, padding)},
};
inline constexpr OperationStruct convolution_operation{
    "convolution", "tmajit_convolution_arguments", sizeof(tmajit_convolution_arguments), convolution_members};

inline constexpr ArgumentMember tiles_members[] = {
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
inline constexpr OperationStruct tiles_operation{
    "tiles", "tmajit_tiles_arguments", sizeof(tmajit_tiles_arguments), tiles_members};

}  // namespace tmajit::c
