#pragma once

/// The operands of an instruction with what its function binds their names to.
#include "ptx/resolve.hpp"

#include <cstdint>

#include <llvm/ADT/SmallVector.h>

TMAJIT_BEGIN
namespace lint {

/// An operand and where its names begin among the instruction's bindings.
struct BoundOperand {
  const ptx::Operand* operand = nullptr;
  std::uint32_t binding = 0;
};

[[nodiscard]] llvm::SmallVector<BoundOperand, 6> bound_operands(const ptx::FlatInstruction& flat);
/// The parts of a vector, pair, tuple or address.
[[nodiscard]] llvm::SmallVector<BoundOperand, 6> bound_elements(BoundOperand whole);

/// Whether the instruction writes its first operand.
[[nodiscard]] bool writes_first(const ptx::Instruction& instruction);

/// Calls visit(register, element) for every register that the instruction writes: `element` counts them.
template <class Visit>
void for_each_written(const ptx::FlatInstruction& flat, const Visit& visit) {
  if (!writes_first(*flat.instruction)) return;
  const BoundOperand written = bound_operands(flat)[0];
  std::uint32_t element = 0;
  const auto take = [&](BoundOperand each) {
    if (each.operand->kind == ptx::Operand::Kind::symbol) {
      if (const auto* reg = std::get_if<ptx::RegisterRef>(&flat.bindings[each.binding]))
        visit(reg->index, element);
    }
    ++element;
  };
  if (written.operand->elements.empty()) return take(written);
  for (const BoundOperand& each : bound_elements(written)) take(each);
}

}  // namespace lint
TMAJIT_END
