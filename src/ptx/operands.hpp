#pragma once

/// The operands of an instruction, and the bindings of the names in them.
#include "ptx/resolve.hpp"

#include <cstdint>

#include <llvm/ADT/SmallVector.h>

TMAJIT_BEGIN
namespace ptx {

/// An operand, and the index of its first name among the instruction's bindings.
struct BoundOperand {
  const Operand* operand = nullptr;
  std::uint32_t binding = 0;
};

[[nodiscard]] llvm::SmallVector<BoundOperand, 6> bound_operands(const FlatInstruction& flat);
/// The parts of a vector, pair, tuple or address.
[[nodiscard]] llvm::SmallVector<BoundOperand, 6> bound_elements(BoundOperand whole);

/// Number of bindings that the operand takes.
[[nodiscard]] std::uint32_t names_in(const Operand& operand);

/// Whether the instruction writes its first operand.
[[nodiscard]] bool writes_first(const Instruction& instruction);

/// Calls visit(register, element) for every register that the instruction writes. `element` is its index
/// among the parts of the first operand.
template <class Visit>
void for_each_written(const FlatInstruction& flat, const Visit& visit) {
  if (!writes_first(*flat.instruction)) return;
  const BoundOperand written{&flat.instruction->operands[0], flat.instruction->guard ? 1U : 0U};
  std::uint32_t element = 0;
  const auto visit_part = [&](BoundOperand each) {
    if (each.operand->kind == Operand::Kind::symbol) {
      if (const auto* reg = std::get_if<RegisterRef>(&flat.bindings[each.binding]))
        visit(reg->index, element);
    }
    ++element;
  };
  if (written.operand->elements.empty()) return visit_part(written);
  for (const BoundOperand& each : bound_elements(written)) visit_part(each);
}

/// Calls visit(register) for every register that the instruction reads, including its guard, registers in
/// addresses, and the accumulators of wgmma.mma_async, which it also writes.
template <class Visit>
void for_each_read(const FlatInstruction& flat, const Visit& visit) {
  const bool skips = writes_first(*flat.instruction) && flat.instruction->opcode != Opcode::wgmma_mma_async;
  // Bindings [skipped_from, skipped_to) are only written.
  const std::size_t skipped_from = flat.instruction->guard ? 1 : 0;
  const std::size_t skipped_to = skips ? skipped_from + names_in(flat.instruction->operands[0]) : 0;
  for (std::size_t b = 0; b < flat.bindings.size(); ++b) {
    const auto* const reg = std::get_if<RegisterRef>(&flat.bindings[b]);
    if (reg != nullptr && (b < skipped_from || b >= skipped_to)) visit(reg->index);
  }
}

}  // namespace ptx
TMAJIT_END
