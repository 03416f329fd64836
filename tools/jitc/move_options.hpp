#pragma once

#include "options.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace jitc {

/// What the options say of a move, as they were typed; move_problem.hpp makes sense of them. What is moved
/// stands in KernelOptions.
struct MoveOptions {
  std::string slice = {};
  std::string flip = {};
  std::string axes = {};
  std::string broadcast = {};
  std::string pad = {};
  double pad_value = 0;
  std::string axis = {};
  std::string parts = {};
  std::uint64_t offset = 0;
  std::uint64_t out_offset = 0;
  bool plan = false;
};

inline constexpr auto moves_group = "Moves";

/// The words that name moves, for help texts: "permute, slice …".
[[nodiscard]] std::string move_names();

/// Throws Error{invalid_argument} unless `word` is one of them.
void require_move_name(std::string_view word);

/// Adds the options of MoveOptions to `command`, in the group of moves. `values` must outlive the parse.
void add_move_options(CLI::App& command, MoveOptions& values);
/// The same of a command that takes kernel families, too: FAMILY names either.
void add_operation_options(CLI::App& command, KernelOptions& kernel, MoveOptions& values);
/// MOVE, the options of tensors, and those of moves: a command that is about moves alone.
void add_move_command_options(CLI::App& command, KernelOptions& tensors, MoveOptions& values);

/// Whether `command` was given a move rather than a kernel family. `copy` and `map` are both: they are moves
/// if an option of the group of moves is given, or a tensor has more than 5 dimensions. Throws
/// Error{invalid_argument} where an option of the one is given to the other.
[[nodiscard]] bool is_move(const CLI::App& command, const KernelOptions& tensors);

}  // namespace jitc
