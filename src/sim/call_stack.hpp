#pragma once

/// Calls of functions that are not inlined: where each lane returns to, and the frames of functions that call
/// themselves.
#include "sim/program.hpp"

#include <array>
#include <vector>

TMAJIT_BEGIN
namespace sim {

/// Calls of a lane that may be open at a time.
inline constexpr std::size_t most_calls = 1024;
/// Local memory of a lane for the frames of recursive functions.
inline constexpr std::uint32_t stack_bytes = 16 * 1024;

struct Activation {
  std::uint32_t return_pc = 0;
  /// What the registers of a recursive function held before this call: 8 bytes each, the frame's address
  /// last.
  std::vector<std::uint64_t> saved;
};

/// Of a warp; made with its first call.
struct CallStack {
  std::array<std::vector<Activation>, lanes> calls;
  std::array<std::uint32_t, lanes> top{};  ///< bytes of stack_bytes in use
};

}  // namespace sim
TMAJIT_END
