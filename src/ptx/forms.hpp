#pragma once

/// The forms of instructions: for each operation the modifiers it takes, in their order, and the shape of its
/// operands, as the PTX ISA's syntax lines give them.
#include "ptx/ast.hpp"

#include <string>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringRef.h>

TMAJIT_BEGIN
namespace ptx {

/// One row of the table. `modifiers` and `operands` are lists of items separated by blanks.
///
/// A modifier item is a word or alternatives `a|b`, optional with a `?` at its end. A word in capitals is a
/// class, see word_classes in forms.cpp: `INT` stands for u16|u32|…
///
/// An operand item is one letter, optional with a `?`:
///   d  a register or _            D  a register, _ or a vector of them
///   e  d or two of them, d|p      s  a register, literal, symbol or symbol+offset
///   S  s or a vector of s         v  a vector
///   p  a predicate, !p or literal k  an integer literal
///   m  an address [a+offset]      t  a tensor address [map, {coordinates}]
///   l  a label or function        q  a list in parentheses
struct FormRow {
  Opcode opcode;
  const char* name;  ///< "cp.async.bulk.tensor": the words every instruction of this form starts with
  const char* modifiers;
  const char* operands;
};

/// Every row, by chapter of the PTX ISA.
[[nodiscard]] llvm::ArrayRef<FormRow> form_rows() noexcept;

/// The outcome of looking an instruction up.
struct FormMatch {
  enum class Fault : std::uint8_t { none, opcode, modifier, operand };
  Fault fault = Fault::none;
  Opcode opcode = Opcode::unknown;
  /// The first word or operand that no form takes; one past the last if something is missing there.
  std::size_t position = 0;
  std::string expected;  ///< description of all words or operands that forms take at `position`
  /// The instruction's name in the form's order, if the text has another order; else empty.
  std::string name;
};

/// The form of an instruction with these words and operands, or the furthest point that any form reached.
/// Modifiers may be in any order, as for ptxas. Only the order of types and that of state spaces is fixed,
/// since it tells the destination from the source: `cvt.f32.s32`, `.shared::cluster.global`.
[[nodiscard]] FormMatch match_form(llvm::ArrayRef<llvm::StringRef> words, llvm::ArrayRef<Operand> operands);

/// Whether forms of the operation write their first operand: a register, two, or a vector of them.
[[nodiscard]] bool writes_first_operand(Opcode opcode) noexcept;

/// An instruction of that row, with the first alternative of each item; `with_optional` includes optional
/// items. For tests and lists of the known instructions.
[[nodiscard]] Instruction sample_instruction(const FormRow& row, bool with_optional);

}  // namespace ptx
TMAJIT_END
