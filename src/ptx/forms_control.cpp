#include "ptx/forms.hpp"

TMAJIT_BEGIN
namespace ptx {

// PTX ISA 9.7.12, control flow; 9.7.17 and 9.7.19, stack and miscellaneous.
llvm::ArrayRef<FormRow> control_forms() noexcept {
  static constexpr FormRow rows[] = {
      {Opcode::bra, "bra", "uni?", "l"},
      {Opcode::brx_idx, "brx.idx", "uni?", "s l"},
      {Opcode::call, "call", "uni?", "q? l q? l?"},
      {Opcode::ret, "ret", "uni?", ""},
      {Opcode::exit, "exit", "", ""},
      {Opcode::trap, "trap", "", ""},
      {Opcode::brkpt, "brkpt", "", ""},
      {Opcode::stacksave, "stacksave", "u32|u64", "d"},
      {Opcode::stackrestore, "stackrestore", "u32|u64", "s"},
      {Opcode::alloca_, "alloca", "u32|u64", "d s k?"},
      {Opcode::nanosleep, "nanosleep", "u32", "s"},
      {Opcode::pmevent, "pmevent", "mask?", "k"},
      {Opcode::setmaxnreg, "setmaxnreg", "inc|dec sync aligned u32", "k"},
  };
  return rows;
}

}  // namespace ptx
TMAJIT_END
