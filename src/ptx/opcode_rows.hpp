#pragma once

/// One row for each opcode, with the facts that lint, the simulator and tests need. A new opcode without a
/// row does not compile.
#include "ptx/data_flow.hpp"
#include "ptx/opcode.hpp"

#include <array>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>

TMAJIT_BEGIN
namespace ptx {

/// The effect of an instruction on the state that lint follows.
enum class Effect : std::uint8_t {
  none,
  reads,    ///< memory at operand 1
  writes,   ///< memory at operand 0
  updates,  ///< memory at operand 1, and returns its previous content
  writes_matrix,
  moves_fragments,  ///< from memory, to memory, or between registers
  bulk_copy,
  tensor_load,
  tensor_store,
  tensor_prefetch,
  bulk_prefetch,
  commits,          ///< a bulk group
  waits_for_group,  ///< a bulk group
  waits_for_phase,  ///< of an mbarrier
  waits,            ///< for something that lint does not follow
  synchronises,     ///< with other threads
  uses_map,
  changes_map,
  proxy_fence,
  init_fence,
  initialises,  ///< an mbarrier
  invalidates,  ///< an mbarrier
  expects,      ///< bytes at an mbarrier
  arrives,      ///< at an mbarrier
  remote_copy,  ///< completes bytes at an mbarrier that may be in another CTA
  calls,
};

struct OpcodeRow {  // NOLINT(clang-analyzer-optin.performance.Padding): in the order of the table
  Opcode opcode;
  const char* section;  ///< of the PTX ISA
  DataFlow flow;        ///< of its most frequent form; data_flow() decides for other forms
  Effect effect;
  /// A file of tests/sim without "_test.cpp" that runs it; null: the simulator does not run it.
  const char* test;
  /// Ids of rules whose findings can name an instruction of this opcode, separated by blanks. A `*` at the
  /// end of an id stands for any text.
  std::array<const char*, 3> rules{};  ///< up to three lists; null if there are fewer
};

/// In the order of the enumeration.
[[nodiscard]] llvm::ArrayRef<OpcodeRow> opcode_rows() noexcept;
[[nodiscard]] inline const OpcodeRow& row_of(Opcode opcode) noexcept {
  return opcode_rows()[static_cast<std::size_t>(opcode)];
}

/// Whether reports treat accesses before and after an instruction as separate: it waits, or synchronises
/// threads.
[[nodiscard]] bool separates(Opcode opcode) noexcept;

/// Whether `rules`, a list as in OpcodeRow::rules, has the rule.
[[nodiscard]] bool concerns(llvm::StringRef rules, llvm::StringRef rule) noexcept;

}  // namespace ptx
TMAJIT_END
