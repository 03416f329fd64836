#include "ptx/data_flow.hpp"

#include "ptx/opcode_rows.hpp"
#include "ptx/operands.hpp"

TMAJIT_BEGIN
namespace ptx {
namespace {

bool has_float_type(const Instruction& in) {
  const auto types = in.types();
  return !types.empty() && is_float(types.back());
}

/// Whether both operands are the same register, so that the result does not depend on its value.
bool cancels(const FlatInstruction& flat) {
  const Instruction& in = *flat.instruction;
  if (in.opcode != Opcode::sub && in.opcode != Opcode::xor_ && in.opcode != Opcode::setp &&
      in.opcode != Opcode::set)
    return false;
  if (in.operands.size() != 3 || has_float_type(in)) return false;
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
    case Opcode::mul:
    case Opcode::mul24:
    case Opcode::mad:
    case Opcode::mad24:
    case Opcode::madc: return has_float_type(in) ? DataFlow::computes : DataFlow::conjoins;
    case Opcode::sub:
    case Opcode::xor_:
    case Opcode::setp:
    case Opcode::set:
      if (in.operands.size() > 3 && !in.has("xor")) return DataFlow::joins;
      return cancels(flat) ? DataFlow::defines : DataFlow::computes;
    case Opcode::mov:
      return in.operands.size() > 1 && in.operands[1].kind == Operand::Kind::vector ? DataFlow::joins
                                                                                    : DataFlow::computes;
    case Opcode::cvt: return in.operands.size() > 2 ? DataFlow::joins : DataFlow::computes;
    case Opcode::wmma: return in.has("load") ? DataFlow::defines : DataFlow::hands_over;
    default: return row_of(in.opcode).flow;
  }
}

bool has_effects(DataFlow flow, Opcode opcode) {
  return flow == DataFlow::acts || flow == DataFlow::stores || flow == DataFlow::hands_over ||
         opcode == Opcode::call;
}

}  // namespace ptx
TMAJIT_END
