#pragma once

#include <string>
#include <vector>

namespace tests {

/// A call of a function of the device headers, and the instructions that it must compile to.
struct HeaderRow {
  /// Statements. They may name `map`, a tensor map; `memory`, bytes of global memory; `wide`, 64 bits, and
  /// `narrow`, their lower half; `words2`, `words4` and `wides2`, which hold 70 …, 80 …; and `out` and
  /// `out64`, words for their results. Addresses in shared memory are given as numbers.
  std::string call;
  /// The PTX instruction, with the source of each operand: [256], {out0, out1}.
  std::string ptx;
  /// The machine instruction, without operands or modifiers; empty if there is none.
  std::string sass;
};

/// Copies of the engine between global and shared memory: tiles, im2col, one-dimensional copies, prefetches.
[[nodiscard]] std::vector<HeaderRow> copy_rows();
/// Reductions of the engine into memory.
[[nodiscard]] std::vector<HeaderRow> reduction_rows();
/// mbarriers, fences, groups, clusters, grids.
[[nodiscard]] std::vector<HeaderRow> synchronisation_rows();
/// Cache policies, tensor maps, matrices in shared memory, registers.
[[nodiscard]] std::vector<HeaderRow> other_rows();
/// wgmma: every N of each kind of accumulators; every type with A from shared memory and from registers.
[[nodiscard]] std::vector<HeaderRow> wgmma_rows();

}  // namespace tests
