#include "ptx/data_flow.hpp"

#include "ptx/operands.hpp"

TMAJIT_BEGIN
namespace ptx {
namespace {

/// Whether an instruction that no row below names, and that has results, computes them from its operands
/// alone.
bool is_pure(Opcode opcode) {
  if (opcode >= Opcode::add && opcode <= Opcode::prmt) return true;
  switch (opcode) {
    case Opcode::createpolicy_range:
    case Opcode::createpolicy_fractional:
    case Opcode::createpolicy_cvt:
    case Opcode::isspacep:
    case Opcode::cvta:
    case Opcode::cvta_to:
    case Opcode::cvt:
    case Opcode::mapa:
    case Opcode::getctarank:
    case Opcode::mbarrier_pending_count:
    case Opcode::video: return true;
    default: return false;
  }
}

bool of_floats(const Instruction& in) {
  const auto types = in.types();
  return !types.empty() && is_float(types.back());
}

/// Whether two operands are one register, of which the instruction makes the same whatever it holds.
bool cancels(const FlatInstruction& flat) {
  const Instruction& in = *flat.instruction;
  if (in.opcode != Opcode::sub && in.opcode != Opcode::xor_ && in.opcode != Opcode::setp &&
      in.opcode != Opcode::set)
    return false;
  if (in.operands.size() != 3 || of_floats(in)) return false;
  const auto operands = bound_operands(flat);
  if (operands[1].operand->kind != Operand::Kind::symbol ||
      operands[2].operand->kind != Operand::Kind::symbol)
    return false;
  const auto* const a = std::get_if<RegisterRef>(&flat.bindings[operands[1].binding]);
  const auto* const b = std::get_if<RegisterRef>(&flat.bindings[operands[2].binding]);
  return a != nullptr && b != nullptr && *a == *b;
}

}  // namespace

DataFlow data_flow(const FlatInstruction& flat) {
  const Instruction& in = *flat.instruction;
  switch (in.opcode) {
    case Opcode::and_: return DataFlow::conjoins;
    case Opcode::or_: return DataFlow::disjoins;
    case Opcode::mul:
    case Opcode::mul24:
    case Opcode::mad:
    case Opcode::mad24:
    case Opcode::madc: return of_floats(in) ? DataFlow::computes : DataFlow::conjoins;
    case Opcode::sub:
    case Opcode::xor_:
    case Opcode::setp:
    case Opcode::set:
      if (in.operands.size() > 3 && !in.has("xor")) return DataFlow::joins;
      return cancels(flat) ? DataFlow::defines : DataFlow::computes;
    case Opcode::selp: return DataFlow::selects;
    case Opcode::mov:
      return in.operands.size() > 1 && in.operands[1].kind == Operand::Kind::vector ? DataFlow::joins
                                                                                    : DataFlow::computes;
    case Opcode::slct:
    case Opcode::lop3:
    case Opcode::bfi:
    case Opcode::prmt:
    case Opcode::shf:
    case Opcode::cvt_pack: return DataFlow::joins;
    case Opcode::cvt: return in.operands.size() > 2 ? DataFlow::joins : DataFlow::computes;
    case Opcode::shfl: return DataFlow::shuffles;
    case Opcode::vote:
    case Opcode::match:
    case Opcode::redux: return DataFlow::meets;
    case Opcode::mma:
    case Opcode::wgmma_mma_async: return DataFlow::fragments;
    case Opcode::st: return DataFlow::stores;
    case Opcode::stmatrix: return DataFlow::hands_over;
    case Opcode::wmma: return in.has("load") ? DataFlow::defines : DataFlow::hands_over;
    case Opcode::movmatrix: return DataFlow::transposes;
    // Functions have what they are given in local memory.
    case Opcode::ld:
    case Opcode::ldu:
    case Opcode::call:
    case Opcode::ldmatrix:
    case Opcode::prefetch:
    case Opcode::prefetchu: return DataFlow::defines;
    default: return is_pure(in.opcode) ? DataFlow::computes : DataFlow::acts;
  }
}

bool has_effects(DataFlow flow, Opcode opcode) {
  return flow == DataFlow::acts || flow == DataFlow::stores || flow == DataFlow::hands_over ||
         opcode == Opcode::call;
}

}  // namespace ptx
TMAJIT_END
