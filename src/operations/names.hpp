#pragma once

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
  USE(gather)                          \
  USE(scatter)                         \
  USE(scatter_add)                     \
  USE(copy_ragged)                     \
  USE(reduce_into)                     \
  USE(im2col)                          \
  USE(convolution)                     \
  USE(tiles)
