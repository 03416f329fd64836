#pragma once

/// Which threads of a CTA execute an instruction, as far as that follows from %tid.x.
#include "lint/kernel.hpp"

#include <llvm/ADT/ArrayRef.h>

TMAJIT_BEGIN
namespace lint {

/// Threads that reach an instruction on one path, as numbers %tid.x.
struct Threads {
  NumberSet numbers;
  bool by_condition = false;  ///< a condition of %tid.x chooses them, not all threads
  bool one_a_warp = false;    ///< elect.sync chooses among them
  bool by_warp = false;       ///< another condition, the same for all lanes of a warp, chooses among warps
};

/// The threads that execute an instruction, one set for each case of its conditions. nullopt if other
/// conditions choose among threads, or branches that not all paths to the instruction pass.
[[nodiscard]] std::optional<llvm::SmallVector<Threads, 2>> threads_at(const Kernel& kernel,
                                                                      std::uint32_t instruction);
/// The threads that fit the facts of a path, apart from conditions that the path has forgotten.
[[nodiscard]] std::optional<Threads> threads_of(const Kernel& kernel, const Facts& facts);

/// Two lanes of one warp that are certainly among `threads`, if there are two.
[[nodiscard]] std::optional<std::pair<std::uint64_t, std::uint64_t>> two_lanes(const Kernel& kernel,
                                                                               const Threads& threads);
/// Whether each reading thread certainly reads a byte that another thread has written. Threads of `writers`
/// write `written_bytes` at `written`; threads of `readers` read `bytes` at `read`.
[[nodiscard]] bool reads_of_others(const Values& values, llvm::ArrayRef<Threads> writers,
                                   const Value& written, std::uint64_t written_bytes, const Threads& readers,
                                   const Value& read, std::uint64_t bytes);
/// Whether both threads have the same value on their n-th visit.
[[nodiscard]] bool is_same(const Values& values, const Value& value,
                           const std::pair<std::uint64_t, std::uint64_t>& threads);

}  // namespace lint
TMAJIT_END
