#pragma once

#include "array_file.hpp"
#include "memory_image.hpp"
#include "move_options.hpp"

#include <tmajit/move.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace jitc {

/// Memory of one array on a device: the whole input or output, before any part of it is taken.
struct MoveArray {
  tmajit::TensorView view;
  MemorySpan memory;
  std::string name;  ///< "input 1"
};

/// An operation and the arrays it is for.
struct MoveProblem {
  std::string operation;
  std::string arguments;  ///< "--axes 0,2,1,3", as far as they change anything
  std::vector<MoveArray> inputs;
  std::vector<MoveArray> outputs;
  std::vector<InputArray> files;  ///< one an input, or none
  /// The moves, where the inputs' and outputs' memory begins at these addresses, in their order.
  [[nodiscard]] std::vector<tmajit::Move> moves(std::span<const std::uint64_t> inputs_at,
                                                std::span<const std::uint64_t> outputs_at) const;
  /// The same at addresses that nobody may use: multiples of 256, far apart.
  [[nodiscard]] std::vector<tmajit::Move> unplaced() const;

  /// What is done with every input before the operation proper.
  struct Views {
    std::vector<tmajit::Slice> slices;
    std::vector<std::uint32_t> flips;
    std::vector<std::uint32_t> axes;
    std::optional<std::vector<std::uint64_t>> shape;  ///< to broadcast to
  };
  Views views;
  std::optional<tmajit::Padding> padding;
  std::string expression;  ///< empty: bits as they are
  std::uint32_t axis = 0;  ///< of concat and split
};

/// Makes sense of the options. Throws Error{invalid_argument} where they contradict each other or the files,
/// Error{io} for a bad file.
[[nodiscard]] MoveProblem make_move(const KernelOptions& tensors, const MoveOptions& options);

/// "permute --axes 0,2,1,3: f32 64x128x256x512 -> f32 64x256x128x512"
[[nodiscard]] std::string describe(const MoveProblem& problem);

}  // namespace jitc
