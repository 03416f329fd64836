#include "ptx/forms.hpp"

TMAJIT_BEGIN
namespace ptx {

// PTX ISA 9.7.6 to 9.7.8, and the register-to-register part of 9.7.9.
llvm::ArrayRef<FormRow> logic_forms() noexcept {
  static constexpr FormRow rows[] = {
      {Opcode::set, "set", "CMP ftz? REG|HALF REG|HALF", "d s s"},
      {Opcode::set, "set", "CMP BOOL ftz? REG|HALF REG|HALF", "d s s p"},
      {Opcode::setp, "setp", "CMP ftz? REG|HALF", "e s s"},
      {Opcode::setp, "setp", "CMP BOOL ftz? REG|HALF", "e s s p"},
      {Opcode::selp, "selp", "REG|f16|bf16|pred", "d s s p"},
      {Opcode::slct, "slct", "REG s32", "d s s s"},
      {Opcode::slct, "slct", "ftz? REG f32", "d s s s"},
      {Opcode::and_, "and", "BITS", "d s s"},
      {Opcode::and_, "and", "pred", "d p p"},
      {Opcode::or_, "or", "BITS", "d s s"},
      {Opcode::or_, "or", "pred", "d p p"},
      {Opcode::xor_, "xor", "BITS", "d s s"},
      {Opcode::xor_, "xor", "pred", "d p p"},
      {Opcode::not_, "not", "BITS", "d s"},
      {Opcode::not_, "not", "pred", "d p"},
      {Opcode::cnot, "cnot", "BITS", "d s"},
      {Opcode::lop3, "lop3", "b32", "d s s s k"},
      {Opcode::lop3, "lop3", "or|and b32", "e s s s k p"},
      {Opcode::shf, "shf", "l|r clamp|wrap b32", "d s s s"},
      {Opcode::shl, "shl", "BITS", "d s s"},
      {Opcode::shr, "shr", "BITS|INT", "d s s"},
      {Opcode::mov, "mov", "REG|f16|bf16|f16x2|bf16x2|b128", "D S"},
      {Opcode::mov, "mov", "pred", "d p"},
      {Opcode::prmt, "prmt", "b32 f4e|b4e|rc8|ecl|ecr|rc16?", "d s s s"},
      {Opcode::shfl, "shfl", "sync up|down|bfly|idx b32", "e s s s s"},
      {Opcode::cvt, "cvt", "RND|IRND? ftz? sat? CONV CONV", "d s"},
      {Opcode::cvt, "cvt", "rn|rz relu? satfinite? HALF1 f32", "d s"},
      {Opcode::cvt, "cvt", "rn|rz satfinite? relu? HALF2 f32", "d s s"},
      {Opcode::cvt, "cvt", "rn|rz relu satfinite HALF2 f32", "d s s"},
      {Opcode::cvt, "cvt", "rs relu? satfinite? HALF2 f32", "d s s s"},
      {Opcode::cvt, "cvt", "rna satfinite? tf32 f32", "d s"},
      {Opcode::cvt, "cvt", "rn|rz satfinite? relu? tf32 f32", "d s"},
      {Opcode::cvt, "cvt", "rn|rz relu satfinite? tf32 f32", "d s"},
      {Opcode::cvt, "cvt", "rn satfinite relu? E8X2 f32", "d s s"},
      {Opcode::cvt, "cvt", "rn satfinite relu? E8X2 HALF2", "d s"},
      {Opcode::cvt, "cvt", "rn relu? f16x2 E8X2", "d s"},
      {Opcode::cvt_pack, "cvt.pack", "sat u16|s16 s32", "d s s"},
      {Opcode::cvt_pack, "cvt.pack", "sat u2|s2|u4|s4|u8|s8 s32 b32", "d s s s"},
  };
  return rows;
}

}  // namespace ptx
TMAJIT_END
