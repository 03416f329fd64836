#pragma once

/// One row for each opcode: what each room needs to know of it. A new opcode without a row does not compile.
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
  updates,  ///< memory at operand 1, and its result is what stood there
  writes_matrix,
  moves_fragments,  ///< from or to memory, or neither
  bulk_copy,
  tensor_load,
  tensor_store,
  tensor_prefetch,
  bulk_prefetch,
  commits,          ///< a bulk group
  waits_for_group,  ///< a bulk group
  waits_for_phase,  ///< of an mbarrier
  waits,            ///< for what lint does not follow
  synchronises,     ///< other threads go on after it
  uses_map,
  changes_map,
  proxy_fence,
  init_fence,
  initialises,  ///< an mbarrier; the same below
  invalidates,
  expects,
  arrives,
  remote_copy,  ///< to another CTA, or it counts bytes there
  calls,
};

struct OpcodeRow {
  Opcode opcode;
  const char* section;  ///< of the PTX ISA
  DataFlow flow;        ///< of its usual form; data_flow() knows the others
  Effect effect;
  /// A file of tests/sim without "_test.cpp" that runs it; null: the simulator does not run it.
  const char* test;
  /// Ids of rules that name an instruction of this opcode, separated by blanks; a `*` at the end stands for
  /// any text.
  std::array<const char*, 3> rules{};  ///< null: no more
};

/// In the order of the enumeration.
[[nodiscard]] llvm::ArrayRef<OpcodeRow> opcode_rows() noexcept;
[[nodiscard]] inline const OpcodeRow& row_of(Opcode opcode) noexcept {
  return opcode_rows()[static_cast<std::size_t>(opcode)];
}

/// Whether accesses before and after an instruction are separate for reports: it waits, or lets threads meet.
[[nodiscard]] bool separates(Opcode opcode) noexcept;

/// Whether a list as in OpcodeRow::rules has the rule.
[[nodiscard]] bool concerns(llvm::StringRef rules, llvm::StringRef rule) noexcept;

}  // namespace ptx
TMAJIT_END
