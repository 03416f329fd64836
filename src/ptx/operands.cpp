#include "ptx/operands.hpp"

#include "ptx/forms.hpp"

TMAJIT_BEGIN
namespace ptx {
namespace {

llvm::SmallVector<BoundOperand, 6> bind_all(const std::vector<Operand>& operands, std::uint32_t first) {
  llvm::SmallVector<BoundOperand, 6> bound;
  for (const Operand& operand : operands) {
    bound.push_back({&operand, first});
    first += names_in(operand);
  }
  return bound;
}

}  // namespace

std::uint32_t names_in(const Operand& operand) {
  std::uint32_t names =
      operand.kind == Operand::Kind::symbol || operand.kind == Operand::Kind::negated ? 1 : 0;
  for (const Operand& element : operand.elements) names += names_in(element);
  return names;
}

llvm::SmallVector<BoundOperand, 6> bound_operands(const FlatInstruction& flat) {
  return bind_all(flat.instruction->operands, flat.instruction->guard ? 1 : 0);
}

llvm::SmallVector<BoundOperand, 6> bound_elements(BoundOperand whole) {
  return bind_all(whole.operand->elements, whole.binding);
}

bool writes_first(const Instruction& instruction) {
  if (instruction.operands.empty()) return false;
  if (instruction.opcode == Opcode::wmma) return !instruction.has("store");
  if (instruction.opcode == Opcode::call) return instruction.operands[0].kind == Operand::Kind::tuple;
  return writes_first_operand(instruction.opcode);
}

}  // namespace ptx
TMAJIT_END
