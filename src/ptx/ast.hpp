#pragma once

/// PTX as data: one module's text as a tree of plain values. The tree does not hold blanks, comments or the
/// radix of numbers; print() writes it as text again.
#include "ptx/opcode.hpp"
#include "ptx/types.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>

TMAJIT_BEGIN
namespace ptx {

/// A place in the text, counted from 1; 0 if the node was made by a program. Locations always compare equal,
/// so that trees compare by content alone.
struct Location {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend bool operator==(const Location&, const Location&) noexcept { return true; }
};

/// A literal. `bits` holds two's complement for integers, the IEEE bits for floats.
struct Immediate {
  enum class Kind : std::uint8_t {
    integer,    ///< 42, -1, 0x2A
    unsigned_,  ///< 42U
    f32,        ///< 0f3F800000
    f64,        ///< 0d3FF0000000000000, 1.0
  };
  Kind kind = Kind::integer;
  std::uint64_t bits = 0;
  friend bool operator==(const Immediate&, const Immediate&) = default;
};

/// One operand of an instruction. Scopes decide what a symbol names: a register, a variable, a label or a
/// function; see resolve.hpp.
struct Operand {
  enum class Kind : std::uint8_t {
    symbol,     ///< name, name.component, name+offset
    immediate,  ///< value
    sink,       ///< _
    negated,    ///< !name
    vector,     ///< {elements}
    tuple,      ///< (elements): the arguments and results of call
    pair,       ///< elements[0] | elements[1]: two destinations
    address,    ///< [elements[0] + offset] or [offset] without elements
    tensor,     ///< [elements[0], {coordinates elements[1 …]}]
    unread,     ///< name: the text of all operands of an unknown instruction, which cannot be parsed
  };
  Kind kind = Kind::symbol;
  std::string name;
  std::string component;  ///< "x" of %tid.x
  std::int64_t offset = 0;
  Immediate value;
  std::vector<Operand> elements;
  Location location;
  friend bool operator==(const Operand&, const Operand&) = default;
};

/// `@p` or `@!p` before an instruction.
struct Guard {
  std::string predicate;
  bool negated = false;
  friend bool operator==(const Guard&, const Guard&) = default;
};

/// One instruction. match_form() finds its form. The form gives the opcode, and the order of the words in the
/// name, whatever their order in the text. An instruction without a form has opcode `unknown`, a fault, and
/// the name as in the text.
struct Instruction {
  Location location;
  std::optional<Guard> guard;
  Opcode opcode = Opcode::exit;
  std::string name;  ///< "ld.global.v4.f32"; never empty
  std::vector<Operand> operands;
  std::string fault;  ///< fault of an unknown instruction: "unknown instruction 'frobnicate'"; else empty
  Location fault_location;  ///< location of the word or operand that is wrong

  /// The words of the name: "ld", "global", "v4", "f32".
  [[nodiscard]] llvm::SmallVector<llvm::StringRef, 8> words() const;
  /// Whether `word` ("sat", "shared::cluster") is one of the words after the first.
  [[nodiscard]] bool has(std::string_view word) const noexcept;
  /// The words that are types or state spaces, in order.
  [[nodiscard]] llvm::SmallVector<ScalarType, 4> types() const;
  [[nodiscard]] llvm::SmallVector<StateSpace, 4> spaces() const;
  /// 2, 4 or 8 for .v2, .v4, .v8, else 1.
  [[nodiscard]] std::uint32_t vector_width() const noexcept;

  friend bool operator==(const Instruction&, const Instruction&) = default;
};

enum class Linkage : std::uint8_t { none, extern_, visible, weak, common };

/// One value of an initialiser: a literal, an address, or a nested list.
struct Initializer {
  enum class Kind : std::uint8_t {
    value,     ///< 3, 0f3F800000
    symbol,    ///< name + offset
    generic,   ///< generic(name) + offset
    mask,      ///< value(name): the bits of the address of `name` that the mask `value` selects
    literals,  ///< {literals}: a list without addresses and lists
    list,      ///< {elements}: any other list
  };
  Kind kind = Kind::value;
  Immediate value;
  std::string name;
  std::int64_t offset = 0;
  std::vector<Immediate> literals;
  std::vector<Initializer> elements;
  friend bool operator==(const Initializer&, const Initializer&) = default;
};

/// A variable or parameter: `.shared .align 1024 .b8 tile[4096]`.
struct Variable {
  Location location;
  Linkage linkage = Linkage::none;
  StateSpace space = StateSpace::global;
  std::vector<std::string> attributes;  ///< attributes of .attribute(…): "managed"
  std::optional<std::uint64_t> alignment;
  std::uint32_t vector_width = 1;  ///< 2 or 4 for .v2, .v4
  ScalarType type = ScalarType::b8;
  /// A kernel parameter's `.ptr`: the state space to which the parameter points, and the alignment there.
  struct Pointer {
    std::optional<StateSpace> space;
    std::optional<std::uint64_t> alignment;
    friend bool operator==(const Pointer&, const Pointer&) = default;
  };
  std::optional<Pointer> pointer;
  std::string name;
  std::vector<std::optional<std::uint64_t>> extents;  ///< empty for a scalar; nullopt for `[]`
  std::optional<Initializer> initializer;
  friend bool operator==(const Variable&, const Variable&) = default;
};

/// `.reg .b32 %r<6>, x;`
struct RegisterDeclaration {
  Location location;
  std::uint32_t vector_width = 1;
  ScalarType type = ScalarType::b32;
  struct Name {
    std::string name;
    std::optional<std::uint32_t> count;  ///< %r<6> declares %r0 … %r5
    friend bool operator==(const Name&, const Name&) = default;
  };
  std::vector<Name> names;
  friend bool operator==(const RegisterDeclaration&, const RegisterDeclaration&) = default;
};

struct Label {
  Location location;
  std::string name;
  friend bool operator==(const Label&, const Label&) = default;
};

/// `.loc file line column`: the source line of the instructions that follow.
struct LineMark {
  Location location;
  std::uint64_t file = 0;
  std::uint64_t line = 0;
  std::uint64_t column = 0;
  /// The call through which the line was inlined: `, function_name $L__info_string0+off, inlined_at file line
  /// column`.
  struct Inlined {
    std::string function;
    std::int64_t offset = 0;
    std::uint64_t file = 0;
    std::uint64_t line = 0;
    std::uint64_t column = 0;
    friend bool operator==(const Inlined&, const Inlined&) = default;
  };
  std::optional<Inlined> inlined;
  friend bool operator==(const LineMark&, const LineMark&) = default;
};

struct Pragma {
  Location location;
  std::vector<std::string> texts;
  friend bool operator==(const Pragma&, const Pragma&) = default;
};

/// `label: .branchtargets a, b;` or `label: .calltargets f, g;`
struct TargetList {
  Location location;
  std::string label;
  bool calls = false;
  std::vector<std::string> targets;
  friend bool operator==(const TargetList&, const TargetList&) = default;
};

/// A directive with integers that tunes or shapes a function: `.maxntid 256, 1, 1`.
struct Tuning {
  std::string name;  ///< "maxntid"
  std::vector<std::uint64_t> values;
  friend bool operator==(const Tuning&, const Tuning&) = default;
};

/// `label: .callprototype (results) _ (parameters);`
struct CallPrototype {
  Location location;
  std::string label;
  std::vector<Variable> results;
  std::vector<Variable> parameters;
  std::vector<Tuning> tuning;
  friend bool operator==(const CallPrototype&, const CallPrototype&) = default;
};

struct Statement;

/// `{ … }`: a scope with registers, variables and labels of its own.
struct Block {
  Location location;
  std::vector<Statement> statements;
  friend bool operator==(const Block&, const Block&) = default;
};

struct Statement {
  std::variant<Instruction, Label, LineMark, RegisterDeclaration, Variable, Block, Pragma, TargetList,
               CallPrototype>
      node;
  friend bool operator==(const Statement&, const Statement&) = default;
};

/// A kernel (`.entry`) or a device function (`.func`), declared or defined.
struct Function {
  Location location;
  Linkage linkage = Linkage::none;
  bool is_entry = false;
  std::vector<std::string> attributes;
  std::vector<Variable> results;
  std::string name;
  std::vector<Variable> parameters;
  std::vector<Tuning> tuning;
  std::optional<Block> body;
  friend bool operator==(const Function&, const Function&) = default;
};

/// `.file index "name", time, size`
struct File {
  Location location;
  std::uint64_t index = 0;
  std::string name;
  std::optional<std::uint64_t> time;
  std::optional<std::uint64_t> size;
  friend bool operator==(const File&, const File&) = default;
};

/// One value of a debug section: an integer, or a symbol (another section's name keeps its dot) plus an
/// offset or minus another symbol.
struct SectionValue {
  std::string symbol;
  std::string minus;
  std::int64_t value = 0;
  friend bool operator==(const SectionValue&, const SectionValue&) = default;
};

/// A line of a debug section: `label:` or `.b8 1, 2, 3`.
struct SectionLine {
  std::string label;
  ScalarType type = ScalarType::b8;
  std::vector<SectionValue> values;
  friend bool operator==(const SectionLine&, const SectionLine&) = default;
};

/// `.section .debug_info { … }`
struct Section {
  Location location;
  std::string name;  ///< ".debug_info"
  std::vector<SectionLine> lines;
  friend bool operator==(const Section&, const Section&) = default;
};

/// `.alias name, target;`
struct Alias {
  Location location;
  std::string name;
  std::string target;
  friend bool operator==(const Alias&, const Alias&) = default;
};

using Directive = std::variant<File, Variable, Function, Section, Alias, Pragma>;

struct Module {
  std::uint32_t version_major = 0;
  std::uint32_t version_minor = 0;
  std::vector<std::string> targets;  ///< "sm_90a", "debug"
  std::optional<std::uint64_t> address_size;
  std::vector<Directive> directives;

  /// The definition of the function, else its declaration, else null.
  [[nodiscard]] const Function* find(std::string_view function) const noexcept;
  friend bool operator==(const Module&, const Module&) = default;
};

}  // namespace ptx
TMAJIT_END
