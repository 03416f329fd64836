#include "lint/operands.hpp"

#include "ptx/forms.hpp"

TMAJIT_BEGIN
namespace lint {
namespace {

std::uint32_t names_in(const ptx::Operand& operand) {
  std::uint32_t names =
      operand.kind == ptx::Operand::Kind::symbol || operand.kind == ptx::Operand::Kind::negated ? 1 : 0;
  for (const ptx::Operand& element : operand.elements) names += names_in(element);
  return names;
}

llvm::SmallVector<BoundOperand, 6> bind_all(const std::vector<ptx::Operand>& operands, std::uint32_t first) {
  llvm::SmallVector<BoundOperand, 6> bound;
  for (const ptx::Operand& operand : operands) {
    bound.push_back({&operand, first});
    first += names_in(operand);
  }
  return bound;
}

}  // namespace

llvm::SmallVector<BoundOperand, 6> bound_operands(const ptx::FlatInstruction& flat) {
  return bind_all(flat.instruction->operands, flat.instruction->guard ? 1 : 0);
}

llvm::SmallVector<BoundOperand, 6> bound_elements(BoundOperand whole) {
  return bind_all(whole.operand->elements, whole.binding);
}

bool writes_first(const ptx::Instruction& instruction) {
  if (instruction.operands.empty()) return false;
  if (instruction.opcode == ptx::Opcode::wmma) return !instruction.has("store");
  if (instruction.opcode == ptx::Opcode::call)
    return instruction.operands[0].kind == ptx::Operand::Kind::tuple;
  return ptx::writes_first_operand(instruction.opcode);
}

}  // namespace lint
TMAJIT_END
