#pragma once

#include <tmajit/operations.hpp>

#include <span>
#include <vector>

TMAJIT_BEGIN

/// One operation, as the list of operations has it: its description, the destinations' shapes and types, and
/// the operation from its arguments. Each is written in `arguments.cpp` of the operation's folder.
struct OperationEntry {
  OperationInfo info;
  /// Called for as many sources as `info` allows.
  std::vector<TensorView> (*destinations)(std::span<const TensorView> sources,
                                          const Arguments& arguments) = nullptr;
  /// Called for as many sources as `info` allows, and at least one destination.
  Operation (*make)(std::span<const Tensor> destinations, std::span<const Tensor> sources,
                    const Arguments& arguments) = nullptr;
};

extern const OperationEntry copy_entry;
extern const OperationEntry permute_entry;
extern const OperationEntry slice_entry;
extern const OperationEntry flip_entry;
extern const OperationEntry broadcast_entry;
extern const OperationEntry pad_entry;
extern const OperationEntry cast_entry;
extern const OperationEntry concat_entry;
extern const OperationEntry split_entry;
extern const OperationEntry map_entry;
extern const OperationEntry stencil_entry;
extern const OperationEntry reduce_entry;
extern const OperationEntry scan_entry;
extern const OperationEntry copy_ragged_entry;
extern const OperationEntry reduce_into_entry;
extern const OperationEntry im2col_entry;
extern const OperationEntry convolution_entry;

TMAJIT_END
