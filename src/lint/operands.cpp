#include "lint/operands.hpp"

TMAJIT_BEGIN
namespace lint {
namespace {

using ptx::Opcode;
using ptx::Operand;

std::uint32_t names_in(const Operand& operand) {
  std::uint32_t names =
      operand.kind == Operand::Kind::symbol || operand.kind == Operand::Kind::negated ? 1 : 0;
  for (const Operand& element : operand.elements) names += names_in(element);
  return names;
}

llvm::SmallVector<BoundOperand, 6> bind_all(const std::vector<Operand>& operands, std::uint32_t first) {
  llvm::SmallVector<BoundOperand, 6> bound;
  for (const Operand& operand : operands) {
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

std::uint32_t written_operands(const ptx::Instruction& instruction) {
  if (instruction.operands.empty()) return 0;
  switch (instruction.opcode) {
    case Opcode::st:
    case Opcode::st_async:
    case Opcode::st_bulk:
    case Opcode::prefetch:
    case Opcode::prefetch_tensormap:
    case Opcode::prefetchu:
    case Opcode::applypriority:
    case Opcode::discard:
    case Opcode::multimem_st:
    case Opcode::multimem_red:
    case Opcode::cp_async:
    case Opcode::cp_async_wait_group:
    case Opcode::cp_async_mbarrier_arrive:
    case Opcode::cp_async_bulk:
    case Opcode::cp_reduce_async_bulk:
    case Opcode::cp_async_bulk_prefetch:
    case Opcode::cp_async_bulk_tensor_load:
    case Opcode::cp_async_bulk_tensor_store:
    case Opcode::cp_reduce_async_bulk_tensor:
    case Opcode::cp_async_bulk_prefetch_tensor:
    case Opcode::cp_async_bulk_wait_group:
    case Opcode::tensormap_replace:
    case Opcode::tensormap_cp_fenceproxy:
    case Opcode::bra:
    case Opcode::brx_idx:
    case Opcode::bar_sync:
    case Opcode::bar_arrive:
    case Opcode::bar_warp_sync:
    case Opcode::fence_proxy:
    case Opcode::red:
    case Opcode::red_async:
    case Opcode::mbarrier_init:
    case Opcode::mbarrier_inval:
    case Opcode::mbarrier_expect_tx:
    case Opcode::mbarrier_complete_tx:
    case Opcode::stmatrix:
    case Opcode::wgmma_wait_group:
    case Opcode::stackrestore:
    case Opcode::nanosleep:
    case Opcode::pmevent:
    case Opcode::setmaxnreg: return 0;
    case Opcode::wmma: return instruction.has("store") ? 0 : 1;
    case Opcode::call: return instruction.operands[0].kind == Operand::Kind::tuple ? 1 : 0;
    default: return 1;
  }
}

}  // namespace lint
TMAJIT_END
