#pragma once

#include "check/own_files.hpp"
#include "ptx/resolve.hpp"
#include "sim/program/program.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TMAJIT_BEGIN
namespace sim {

using ptx::Opcode;
using ptx::ScalarType;
using ptx::StateSpace;

/// Decodes kernel `entry` of a module's PTX text. The module's .global variables begin at address
/// `global_base`. `project`: see SimOptions::project. Throws Error{invalid_argument} for text that does not
/// parse. An instruction that the simulator does not support throws Error{unsupported} only when a thread
/// executes it.
[[nodiscard]] Program decode(std::string_view ptx, const std::string& entry, std::uint64_t global_base = 0,
                             std::string_view project = {});

[[nodiscard]] inline bool is_wide(ScalarType type) noexcept {
  return ptx::bits_of(type) == 64;
}
[[nodiscard]] constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) noexcept {
  return (value + alignment - 1) / alignment * alignment;
}
/// Resolves the names in a function. Throws Error{invalid_argument} for an unknown name. Its text begins with
/// `kind`, "kernel" or "function".
[[nodiscard]] ptx::FlatFunction resolve(const ptx::Module& module, const ptx::Function& function,
                                        std::string_view kind);
/// Size of a variable in bytes; 0 for `[]`. Throws Error{unsupported} for a size larger than any memory.
[[nodiscard]] std::uint64_t bytes_of(const ptx::Variable& variable);
/// Alignment of a variable in bytes. Throws Error{unsupported} unless it is a power of two of at most 64 KiB.
[[nodiscard]] std::uint64_t alignment_of(const ptx::Variable& variable);

/// One operand of an instruction, with resolved names.
struct Arg {
  enum class Kind : std::uint8_t {
    reg,        ///< a register that is no predicate
    predicate,  ///< a predicate register, possibly negated
    constant,   ///< a literal, or the address of a variable or function
    sink,       ///< `_`: no operand, or a result to discard
    label,      ///< an instruction of the function
    table,      ///< a table of branch targets
    group,      ///< a vector, or a pair of results
    memory,     ///< an address in brackets
    function,   ///< a function to call
    targets,    ///< targets of an indirect call: index into Decoder::target_list()
  };
  Kind kind = Kind::sink;
  Slot slot = 0;
  /// The number of a register, or of the register in an address; 0: no register that PTX declares.
  RegisterNumber number = 0;
  bool wide = false;       ///< reg: 8 bytes a lane
  bool negated = false;    ///< predicate
  std::uint64_t bits = 0;  ///< constant: its value; label: index of the instruction; table, targets: index
  bool is_f64_literal = false;
  std::vector<Arg> elements{};  ///< group: elements of a vector or pair; memory: coordinates of a tensor
  MemoryAccess access{};        ///< memory: register and offset; the instruction gives the space
  /// Not null: the operand is this .param variable of a function or a call, in local memory at `access`.
  const ptx::Variable* param_variable = nullptr;
  const ptx::Function* function = nullptr;
};

/// The elements of a vector or pair; for any other operand, the operand itself.
[[nodiscard]] inline std::span<const Arg> elements(const Arg& arg) noexcept {
  if (arg.kind == Arg::Kind::group) return arg.elements;
  return {&arg, 1};
}

/// A function that is called: its code, and how its arguments and results are passed.
struct Callee {
  /// One parameter or result. Callers write an argument to the mailbox, and read a result from it. For a
  /// variable in memory, the mailbox is the variable itself, except in a recursive function: its variables
  /// are in its frame.
  struct Formal {
    const ptx::Variable* variable = nullptr;
    Arg mailbox;  ///< for .reg a register, else local memory (`param_variable`, `access`)
    std::uint32_t bytes = 0;
  };
  ptx::FlatFunction flat;
  bool recursive = false;
  std::uint32_t first = 0;  ///< index of its first micro-operation
  std::uint32_t frame = 0;  ///< recursive: index into Program::frames
  std::vector<Formal> parameters;
  std::vector<Formal> results;
};

/// Decodes a kernel. It is also the interface of selectors (select.hpp): the operands of one instruction, and
/// functions that emit micro-operations.
class Decoder {
 public:
  Decoder(Program& program, std::string_view project) : program_(program), own_files_(project) {}

  void run(const ptx::Module& module, ptx::FlatFunction function);

  // Calls, see decode/layout.cpp.

  /// The callee of a function; null if the function has no body.
  [[nodiscard]] const Callee* callee(const ptx::Function* function) const;
  /// The function that is being decoded; null for the kernel.
  [[nodiscard]] const Callee* current() const noexcept { return current_; }
  /// Emits copies for the current function: with `at_entry` of its arguments from their mailboxes, else of
  /// its results to their mailboxes.
  void emit_transfers(bool at_entry);
  /// The functions that an indirect call can reach.
  [[nodiscard]] const std::vector<const ptx::Function*>& target_list(const Arg& arg) const {
    return target_lists_[arg.bits];
  }
  [[nodiscard]] std::uint64_t function_address(const ptx::Function& function) const;
  /// Sets the guard of all micro-operations emitted from here on, and returns the previous guard.
  std::uint32_t exchange_guard(std::uint32_t guard) { return std::exchange(guard_, guard); }
  /// Emits a micro-operation whose aux will be the index of the function's first micro-operation.
  void emit_call(Handler handler, const Callee& target);
  /// Emits a copy between `operand` and the mailbox of a parameter or result: with `to_mailbox` to the
  /// mailbox, else from it.
  void emit_transfer(const Callee::Formal& formal, const Arg& operand, bool to_mailbox);

  /// The instruction that is being decoded.
  [[nodiscard]] const ptx::Instruction& instruction() const noexcept { return *flat_->instruction; }
  [[nodiscard]] bool has(std::string_view word) const noexcept { return instruction().has(word); }
  [[nodiscard]] const std::vector<Arg>& args() const noexcept { return args_; }
  [[nodiscard]] const Arg& arg(std::size_t i) const;
  [[nodiscard]] Program& program() noexcept { return program_; }
  /// The last type that the instruction names: most instructions operate on it.
  [[nodiscard]] ScalarType type() const;

  /// The slot from which to read an operand of type `type`. If the register's width differs, first emits a
  /// conversion to a temporary. For a negated predicate the result is its slot plus 1.
  [[nodiscard]] Slot read(const Arg& arg, ScalarType type);
  [[nodiscard]] Slot read(std::size_t i, ScalarType type) { return read(arg(i), type); }
  /// The slot to which to write a result of type `type`. If the register's width differs, this is a
  /// temporary, and a conversion to the register follows the instruction's micro-operations.
  [[nodiscard]] Slot write(const Arg& arg, ScalarType type);
  [[nodiscard]] Slot write(std::size_t i, ScalarType type) { return write(arg(i), type); }
  /// The value of a literal operand; any other operand is an error.
  [[nodiscard]] std::uint64_t literal(const Arg& arg) const;
  /// The address of a memory operand in `space`.
  [[nodiscard]] MemoryAccess address(const Arg& arg, Space space) const;
  /// The state space that the instruction names; generic if it names none.
  [[nodiscard]] Space space() const;

  /// The slot of a literal.
  [[nodiscard]] Slot constant(std::uint64_t bits, bool wide);
  /// A new slot.
  [[nodiscard]] Slot temporary(bool wide);
  /// The slots of an operand's elements: write() of each with `written`, else read().
  [[nodiscard]] std::vector<Slot> slots(const Arg& arg, ScalarType type, bool written);
  // These add an entry to one of the program's tables. They return its index, for MicroOp::aux.

  [[nodiscard]] std::uint32_t add(WarpgroupProduct product) {
    return append(program_.products, std::move(product));
  }
  [[nodiscard]] std::uint32_t add(MemoryAccess access) {
    return append(program_.accesses, std::move(access));
  }
  [[nodiscard]] std::uint32_t add(BulkOperands operands) {
    return append(program_.bulks, std::move(operands));
  }
  [[nodiscard]] std::uint32_t add(const Video& video) { return append(program_.videos, video); }
  /// Emits a micro-operation. Throws Error{unsupported} if `handler` is null.
  void emit(Handler handler, Slot d = 0, Slot a = 0, Slot b = 0, Slot c = 0, std::uint32_t aux = 0);
  /// Emits a micro-operation with operand 0 as d and operands 1 to 3, as far as `types` has them, as a, b and
  /// c. Operand i has type types[i].
  void emit_as(Handler handler, std::initializer_list<ScalarType> types) {
    emit_as(handler, std::span(types.begin(), types.size()));
  }
  /// Emits a micro-operation with all operands of the instruction, each of type `type`.
  void emit_uniform(Handler handler, ScalarType type, std::uint32_t aux = 0);
  /// Emits a branch to the instruction with index `target`. decode_function() replaces `target` by the index
  /// of a micro-operation once all instructions are decoded.
  void emit_branch(Handler handler, std::uint64_t target);

  /// Throws Error{unsupported} for the instruction, or for `what` in it.
  [[noreturn]] void unsupported(std::string_view what = {}) const;

 private:
  template <typename T>
  static std::uint32_t append(std::vector<T>& table, T entry) {
    table.push_back(std::move(entry));
    return static_cast<std::uint32_t>(table.size() - 1);
  }
  void emit_as(Handler handler, std::span<const ScalarType> types, std::uint32_t aux = 0);
  /// Finds the functions that the kernel can call, and which of them are recursive.
  void collect_callees(const ptx::Module& module, const ptx::FlatFunction& function);
  // decode/indirect.cpp
  /// Assigns addresses to the module's functions, and finds the functions whose address the program takes.
  void collect_functions(const ptx::Module& module);
  /// The functions that an indirect call with this prototype or list of targets can reach. Empty if the
  /// binding is neither.
  [[nodiscard]] std::vector<const ptx::Function*> targets(const ptx::Binding& binding) const;
  /// The functions with a body that `flat` can call.
  [[nodiscard]] std::vector<const ptx::Function*> called_by(const ptx::FlatFunction& flat) const;
  /// Writes the addresses of variables and functions into initial values, once all addresses are known.
  void write_relocations();
  /// Assigns addresses to all variables and parameters of the kernel and its functions.
  void lay_out(const ptx::Module& module, const ptx::FlatFunction& function);
  void lay_out_callee(Callee& callee);
  /// Assigns an address to a variable, after all variables that are in its space already.
  void place_variable(const ptx::Variable& variable);
  /// Writes a variable's initial bytes to its bank, from offset `at` on; `end` is the variable's end. Moves
  /// `at` past the bytes.
  void initialise(const ptx::Variable& variable, const ptx::Initializer& value, std::uint64_t& at,
                  std::uint64_t end);
  /// Throws Error{unsupported} if `bytes`, the size of `what`, exceeds `limit`.
  void check_limit(std::string_view what, std::uint64_t bytes, std::uint64_t limit) const;
  /// Assigns slots to the function's registers.
  void allocate_registers(const ptx::FlatFunction& function);
  void decode_function(const ptx::FlatFunction& function);
  /// Lists the registers of a recursive function in its Frame, for calls to save them.
  void list_frame_registers(Callee& callee);
  /// The operand that names a variable.
  [[nodiscard]] Arg variable_arg(const ptx::Variable& variable, std::int64_t offset);
  void decode_one(const ptx::FlatInstruction& flat);
  /// Emits the micro-operations of the instruction. Throws Error{unsupported} if the simulator lacks it.
  void select_one();
  /// Replaces the instruction's micro-operations from `first` on by one that throws Error{unsupported}.
  void refuse(std::uint32_t first, std::string why);
  // decode/flow.cpp
  void record_registers(std::uint32_t first, const std::vector<Arg>& args);
  void watch_registers();
  /// Records how the instruction whose first micro-operation is `first` propagates uninitialised values.
  void record_flow(std::uint32_t first);
  void append_fragments(Flow flow);
  /// Finds the function's registers that can be read before they are written.
  void find_unwritten(const ptx::FlatFunction& function);
  [[nodiscard]] Arg convert(const ptx::Operand& operand);
  [[nodiscard]] Arg convert_name(const ptx::Operand& operand);
  [[nodiscard]] Arg convert_special(std::string_view name, const std::string& component);
  /// Emits a read of a special register that changes while the kernel runs, such as %clock; nothing for other
  /// names.
  [[nodiscard]] std::optional<Arg> convert_clock(std::string_view name);
  /// Reserves bytes in a warp's register file.
  [[nodiscard]] Slot allocate(std::uint32_t bytes);
  [[nodiscard]] Arg new_register(bool wide);

  /// An address in the initial value of a variable. write_relocations() writes it.
  struct Relocation {
    const ptx::Variable* variable = nullptr;
    const ptx::Initializer* value = nullptr;
    std::uint64_t at = 0;  ///< offset in the variable's bank
    std::uint32_t bytes = 0;
    bool global = false;  ///< in Program::global_image, else in Program::constant_bank
  };

  Program& program_;
  const ptx::Module* module_ = nullptr;
  std::map<std::string, const ptx::Variable*> variables_;    ///< the module's variables, by name
  std::map<std::string, std::uint64_t> function_addresses_;  ///< by name
  std::vector<const ptx::Function*> addressed_;              ///< functions whose address the program takes
  std::vector<std::vector<const ptx::Function*>> target_lists_;
  std::vector<Relocation> relocations_;
  const ptx::FlatInstruction* flat_ = nullptr;  ///< the instruction that is being decoded
  std::size_t binding_ = 0;                     ///< index in flat_->bindings of the next name
  std::vector<Arg> args_;                       ///< operands of the instruction
  std::uint32_t guard_ = true_slot;
  RegisterNumber guard_number_ = 0;                          ///< of the guard's register
  std::vector<Arg> registers_;                               ///< of the current function
  std::map<const ptx::Variable*, std::uint64_t> addresses_;  ///< in the variable's space, bank or frame
  std::set<const ptx::Variable*> param_variables_;           ///< .param variables that are in local memory
  std::set<const ptx::Variable*> frame_variables_;  ///< variables of recursive functions, in their frames
  std::map<const ptx::Variable*, Arg> formal_registers_;  ///< .reg parameters and results of functions
  std::vector<std::unique_ptr<Callee>> callees_;  ///< without recursion: each function before its callers
  Callee* current_ = nullptr;
  std::vector<std::pair<std::uint32_t, const Callee*>> calls_;  ///< (micro-operation, callee) of each call
  std::map<std::pair<std::uint64_t, bool>, Slot> constants_;
  std::map<std::string, Slot> specials_;              ///< special registers, by name and component
  std::vector<MicroOp> after_;                        ///< micro-operations that convert results: see write()
  std::vector<std::uint32_t> first_;                  ///< by instruction: index of its first micro-operation
  std::vector<std::uint32_t> branches_;               ///< indices of the branches' micro-operations
  std::vector<std::pair<std::uint32_t, Slot>> uses_;  ///< (first micro-operation, register slot) of each use
  std::set<std::uint32_t> moves_;                     ///< the first micro-operation of each mov and setp
  std::size_t table_base_ = 0;  ///< index of the function's first table in Program::branch_tables
  Slot sink_[2] = {0, 0};       ///< slots for discarded results: 4 and 8 bytes a lane
  check::OwnFiles own_files_;
  std::uint32_t statements_ = 0;  ///< number of source frames in the functions decoded so far
  std::uint32_t segment_ = 0;     ///< see CodeLocation::segment
};

}  // namespace sim
TMAJIT_END
