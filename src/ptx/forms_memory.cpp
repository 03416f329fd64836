#include "ptx/forms.hpp"

TMAJIT_BEGIN
namespace ptx {

// PTX ISA 9.7.9, memory, addresses and cache policies; 9.7.13.5 to 9.7.13.7, atomics.
llvm::ArrayRef<FormRow> memory_forms() noexcept {
  static constexpr FormRow rows[] = {
      {Opcode::ld, "ld", "weak? SS? LDCOP? HINT? FETCH? VEC? MEM", "D m s?"},
      {Opcode::ld, "ld", "weak? SS? EVICT1? EVICT2? HINT? FETCH? VEC? MEM", "D m s?"},
      {Opcode::ld, "ld", "volatile SS? FETCH? VEC? MEM", "D m"},
      {Opcode::ld, "ld", "relaxed|acquire SCOPE SS? EVICT1? EVICT2? HINT? FETCH? VEC? MEM", "D m s?"},
      {Opcode::ld, "ld", "mmio relaxed sys global? MEM", "d m"},
      {Opcode::ld, "ld", "global ca|cg|cs? nc EVICT1? EVICT2? HINT? FETCH? VEC? MEM", "D m s?"},
      {Opcode::ldu, "ldu", "global? VEC? MEM", "D m"},
      {Opcode::st, "st", "weak? SS? STCOP? HINT? VEC? MEM", "m S s?"},
      {Opcode::st, "st", "weak? SS? EVICT1? EVICT2? HINT? VEC? MEM", "m S s?"},
      {Opcode::st, "st", "volatile SS? VEC? MEM", "m S"},
      {Opcode::st, "st", "relaxed|release SCOPE SS? EVICT1? EVICT2? HINT? VEC? MEM", "m S s?"},
      {Opcode::st, "st", "mmio relaxed sys global? MEM", "m s"},
      {Opcode::st_async, "st.async", "weak? cluster? shared::cluster? BYTES VEC? MEM", "m S m"},
      {Opcode::st_async, "st.async", "mmio? release gpu|sys global? MEM", "m s"},
      {Opcode::st_bulk, "st.bulk", "weak? shared::cta?", "m s k"},
      {Opcode::prefetch, "prefetch", "global|local? L1|L2", "m"},
      {Opcode::prefetch, "prefetch", "global L2::evict_last|L2::evict_normal", "m"},
      {Opcode::prefetch_tensormap, "prefetch", "const|param? tensormap", "m"},
      {Opcode::prefetchu, "prefetchu", "L1", "m"},
      {Opcode::applypriority, "applypriority", "global? L2::evict_normal", "m s"},
      {Opcode::discard, "discard", "global? L2", "m s"},
      {Opcode::createpolicy_range, "createpolicy.range", "global? EVICT2 EVICT2? b64", "d m s s"},
      {Opcode::createpolicy_fractional, "createpolicy.fractional", "EVICT2 EVICT2? b64", "d s?"},
      {Opcode::createpolicy_cvt, "createpolicy.cvt.L2", "b64", "d s"},
      {Opcode::isspacep, "isspacep", "SS", "d s"},
      {Opcode::cvta, "cvta", "SS u32|u64", "d s"},
      {Opcode::cvta_to, "cvta.to", "SS u32|u64", "d s"},
      {Opcode::mapa, "mapa", "shared::cluster? u32|u64", "d s s"},
      {Opcode::getctarank, "getctarank", "shared::cluster? u32|u64", "d s"},
      {Opcode::atom, "atom",
       "relaxed|acquire|release|acq_rel? SCOPE? global|SHARED? ATOMOP noftz? HINT? "
       "BIT2|WIDE|f32|f64|HALF",
       "d m s s?"},
      {Opcode::atom, "atom",
       "global|SHARED? ATOMOP relaxed|acquire|release|acq_rel SCOPE? "
       "BIT2|WIDE|f32|f64|HALF",
       "d m s s?"},
      {Opcode::atom, "atom", "relaxed|acquire|release|acq_rel? SCOPE? global|SHARED? cas b16|b128",
       "d m s s"},
      {Opcode::atom, "atom", "relaxed|acquire|release|acq_rel? SCOPE? global|SHARED? exch HINT? b128",
       "d m s s?"},
      {Opcode::atom, "atom",
       "relaxed|acquire|release|acq_rel? SCOPE? global? add|min|max noftz? HINT? VEC f32|HALF", "v m v s?"},
      // nvcc writes the space first for its block- and system-wide builtins.
      {Opcode::atom, "atom", "global|SHARED SCOPE ATOMOP noftz? b16|BIT2|WIDE|f32|f64|HALF", "d m s s?"},
      {Opcode::red, "red", "global|SHARED SCOPE REDOP noftz? BIT2|WIDE|f32|f64|HALF", "m s"},
      {Opcode::red, "red", "relaxed|release? SCOPE? global|SHARED? REDOP noftz? HINT? BIT2|WIDE|f32|f64|HALF",
       "m s s?"},
      {Opcode::red, "red", "global|SHARED? REDOP relaxed|release SCOPE? BIT2|WIDE|f32|f64|HALF", "m s s?"},
      {Opcode::red, "red", "relaxed|release? SCOPE? global? add|min|max noftz? HINT? VEC f32|HALF", "m v s?"},
      {Opcode::red_async, "red.async", "relaxed cluster shared::cluster? BYTES REDOP WIDE|b32", "m s m"},
      {Opcode::red_async, "red.async", "mmio? release gpu|cluster|sys global? add WIDE", "m s"},
      {Opcode::multimem_ld_reduce, "multimem.ld_reduce",
       "weak|relaxed|acquire? SCOPE? global? add|min|max|and|or|xor acc::f32|acc::f16? VEC? "
       "BIT2|WIDE|f32|f64|HALF|e4m3|e5m2|E8X2",
       "D m"},
      {Opcode::multimem_st, "multimem.st", "weak|relaxed|release? SCOPE? global? VEC? BIT2|WIDE|f32|f64|HALF",
       "m S"},
      {Opcode::multimem_red, "multimem.red",
       "relaxed|release? SCOPE? global? add|min|max|and|or|xor VEC? BIT2|WIDE|f32|f64|HALF", "m S"},
  };
  return rows;
}

}  // namespace ptx
TMAJIT_END
