#pragma once

/// The recipes, which src/operations/recipes/table.cpp describes, as USE(name) for each.
#define TMAJIT_FOR_EACH_RECIPE(USE) \
  USE(softmax)                      \
  USE(softmax_backward)             \
  USE(log_softmax)                  \
  USE(log_softmax_backward)         \
  USE(logsumexp)                    \
  USE(rms_norm)                     \
  USE(rms_norm_backward)            \
  USE(add_rms_norm)                 \
  USE(layer_norm)                   \
  USE(layer_norm_backward)          \
  USE(l2_normalize)                 \
  USE(cross_entropy)                \
  USE(cross_entropy_with_gradient)  \
  USE(cross_entropy_backward)       \
  USE(max_with_index)               \
  USE(quantize_rows)                \
  USE(dequantize_rows)              \
  USE(quantize_blocks)              \
  USE(dequantize_blocks)            \
  USE(quantize_tensor)              \
  USE(dequantize_tensor)            \
  USE(swiglu)                       \
  USE(swiglu_backward)              \
  USE(rotary)

/// The list of operations, in the order of the documentation: USE(name) for each. A new operation adds a
/// line.
#define TMAJIT_FOR_EACH_OPERATION(USE) \
  USE(copy)                            \
  USE(permute)                         \
  USE(slice)                           \
  USE(flip)                            \
  USE(broadcast)                       \
  USE(pad)                             \
  USE(cast)                            \
  USE(concat)                          \
  USE(split)                           \
  USE(map)                             \
  USE(stencil)                         \
  USE(reduce)                          \
  USE(scan)                            \
  USE(rowwise)                         \
  TMAJIT_FOR_EACH_RECIPE(USE)          \
  USE(cast_transpose)                  \
  USE(top_k)                           \
  USE(gather)                          \
  USE(scatter)                         \
  USE(scatter_add)                     \
  USE(moe_permute)                     \
  USE(gather_sum)                      \
  USE(copy_ragged)                     \
  USE(reduce_into)                     \
  USE(im2col)                          \
  USE(convolution)                     \
  USE(tiles)
