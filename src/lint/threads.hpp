#pragma once

/// The threads of a CTA that execute an instruction, as far as conditions on %tid.x determine them.
#include "lint/kernel.hpp"

#include <llvm/ADT/ArrayRef.h>

TMAJIT_BEGIN
namespace lint {

/// Threads that reach an instruction on one path, by their %tid.x.
struct Threads {
  NumberSet numbers;
  bool by_condition = false;  ///< a condition on %tid.x gave `numbers`; if false, every %tid.x is possible
  bool one_per_warp = false;  ///< elect.sync selects one thread in each warp
  bool by_warp = false;       ///< another condition selects some of the warps, with all their lanes
};

/// The threads that execute an instruction, one set for each case of its conditions. Returns nullopt if they
/// depend on a condition that `Threads` cannot hold, or on a branch that is on only some of the paths to the
/// instruction.
[[nodiscard]] std::optional<llvm::SmallVector<Threads, 2>> threads_at(const Kernel& kernel,
                                                                      std::uint32_t instruction);
/// The threads for which the facts of a path hold. Conditions that the path no longer records are ignored.
[[nodiscard]] std::optional<Threads> threads_of(const Kernel& kernel, const Facts& facts);

/// Two lanes of one warp that are certainly among `threads`; nullopt if no two lanes are certain.
[[nodiscard]] std::optional<std::pair<std::uint64_t, std::uint64_t>> two_lanes(const Kernel& kernel,
                                                                               const Threads& threads);
/// Whether each reading thread certainly reads a byte that another thread has written. Threads of `writers`
/// write `written_bytes` at `written`; threads of `readers` read `bytes` at `read`.
[[nodiscard]] bool reads_of_others(const Values& values, llvm::ArrayRef<Threads> writers,
                                   const Value& written, std::uint64_t written_bytes, const Threads& readers,
                                   const Value& read, std::uint64_t bytes);
/// Whether `value` is equal in both threads each time that they compute it: in the first iteration of a loop,
/// in the second, and so on.
[[nodiscard]] bool is_equal_in_both(const Values& values, const Value& value,
                                    const std::pair<std::uint64_t, std::uint64_t>& threads);

}  // namespace lint
TMAJIT_END
