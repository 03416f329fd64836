#pragma once

/// Which threads of a CTA execute an instruction, as far as that follows from %tid.x.
#include "lint/kernel.hpp"

#include <llvm/ADT/ArrayRef.h>

TMAJIT_BEGIN
namespace lint {

/// Threads that execute an instruction in one and the same way through the kernel: numbers %tid.x.
struct Threads {
  NumberSet numbers;
  bool by_condition = false;  ///< a condition of %tid.x chooses them; else the instruction is every thread's
  bool one_a_warp = false;    ///< elect.sync chooses among them
  bool by_warp = false;       ///< another condition, the same for all lanes of a warp, chooses among warps
};

/// The threads that execute an instruction, a set for each way that its conditions leave. Nothing where other
/// conditions choose among threads, or other branches than those that all ways to the instruction pass.
[[nodiscard]] std::optional<llvm::SmallVector<Threads, 2>> threads_at(const Kernel& kernel,
                                                                      std::uint32_t instruction);
/// The threads that fit the facts of a path, apart from conditions that the path has forgotten.
[[nodiscard]] std::optional<Threads> threads_of(const Kernel& kernel, const Facts& facts);

/// Two lanes of one warp that are among them for certain, if there are two.
[[nodiscard]] std::optional<std::pair<std::uint64_t, std::uint64_t>> two_lanes(const Kernel& kernel,
                                                                               const Threads& threads);
/// Whether each of these threads that reads finds a byte that another writer's thread has written, for
/// certain. The threads that write are `writers`, each at `written`; each reader reads `bytes` from `read`
/// on.
[[nodiscard]] bool reads_of_others(const Values& values, llvm::ArrayRef<Threads> writers,
                                   const Value& written, std::uint64_t written_bytes, const Threads& readers,
                                   const Value& read, std::uint64_t bytes);
/// Whether the two threads have the same value, where both come for the same time.
[[nodiscard]] bool is_same(const Values& values, const Value& value,
                           const std::pair<std::uint64_t, std::uint64_t>& threads);

}  // namespace lint
TMAJIT_END
