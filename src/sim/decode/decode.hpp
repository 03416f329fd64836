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

/// Decodes kernel `entry` of a module's PTX text. An instruction that the simulator cannot run throws
/// Error{unsupported}, which shows its line, when a thread reaches it. Throws Error{invalid_argument} for
/// text that does not parse. The module's .global variables lie at `global_base`. `project`: see
/// SimOptions::project.
[[nodiscard]] Program decode(std::string_view ptx, const std::string& entry, std::uint64_t global_base = 0,
                             std::string_view project = {});

[[nodiscard]] inline bool is_wide(ScalarType type) noexcept {
  return ptx::bits_of(type) == 64;
}
[[nodiscard]] constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) noexcept {
  return (value + alignment - 1) / alignment * alignment;
}
/// The function with its names resolved. Throws Error{invalid_argument} that begins with `what` where that
/// fails.
[[nodiscard]] ptx::FlatFunction resolve(const ptx::Module& module, const ptx::Function& function,
                                        std::string_view what);
/// 0 for `[]`. Throws Error{unsupported} for what no memory holds.
[[nodiscard]] std::uint64_t bytes_of(const ptx::Variable& variable);
/// At least 1. Throws Error{unsupported} unless it is a power of two of at most 64 KiB.
[[nodiscard]] std::uint64_t alignment_of(const ptx::Variable& variable);

/// One operand, its name resolved.
struct Arg {
  enum class Kind : std::uint8_t {
    reg,
    predicate,
    constant,
    sink,
    label,
    table,
    group,
    memory,
    function,
    targets,  ///< of an indirect call: index into Decoder::target_list()
  };
  Kind kind = Kind::sink;
  Slot slot = 0;
  /// The number of a register, or of the register in an address; 0: none that PTX declares.
  RegisterNumber number = 0;
  bool wide = false;       ///< registers: 8 bytes a lane
  bool negated = false;    ///< predicates
  std::uint64_t bits = 0;  ///< constants; label: instruction index; table: index
  bool is_f64_literal = false;
  std::vector<Arg> elements{};  ///< of vectors, pairs and tensor coordinates
  MemoryAccess access{};        ///< memory: register and offset; the space is the instruction's
  /// A .param variable of a function or a call: it lies in local memory, where `access` says.
  const ptx::Variable* passed = nullptr;
  const ptx::Function* function = nullptr;
};

/// The elements of a vector or pair; of any other operand, itself.
[[nodiscard]] inline std::span<const Arg> elements(const Arg& arg) noexcept {
  if (arg.kind == Arg::Kind::group) return arg.elements;
  return {&arg, 1};
}

/// A function that is called: its code, and where its arguments and results are handed over.
struct Callee {
  /// One parameter or result. Where the function is recursive its variables are in the frame, so callers use
  /// a mailbox of its own; else that is the variable itself.
  struct Formal {
    const ptx::Variable* variable = nullptr;
    Arg mailbox;  ///< a register for .reg, else `passed` and `access`
    std::uint32_t bytes = 0;
  };
  ptx::FlatFunction flat;
  bool recursive = false;
  std::uint32_t first = 0;  ///< micro-operation
  std::uint32_t frame = 0;  ///< index into Program::frames if it is recursive
  std::vector<Formal> parameters;
  std::vector<Formal> results;
};

/// The interface for selectors (select.hpp): the operands of one instruction, and functions that emit
/// micro-operations.
class Decoder {
 public:
  Decoder(Program& program, std::string_view project) : program_(program), own_files_(project) {}

  void run(const ptx::Module& module, ptx::FlatFunction function);

  // Calls, see decode/layout.cpp.

  /// The function, if it has a body; else null.
  [[nodiscard]] const Callee* callee(const ptx::Function* function) const;
  /// The function whose code is being made; null in the kernel.
  [[nodiscard]] const Callee* current() const noexcept { return current_; }
  /// Hands the arguments of the current function over, or its results.
  void emit_transfers(bool enters);
  [[nodiscard]] const std::vector<const ptx::Function*>& target_list(const Arg& arg) const {
    return target_lists_[arg.bits];
  }
  [[nodiscard]] std::uint64_t function_address(const ptx::Function& function) const;
  /// The guard of what is emitted from here on, in place of the present one, which it gives.
  std::uint32_t exchange_guard(std::uint32_t guard) { return std::exchange(guard_, guard); }
  /// Emits a micro-operation whose aux becomes the function's first.
  void emit_call(Handler handler, const Callee& target);
  /// Copies a parameter or result from `own` to where it is handed over, or from there.
  void emit_transfer(const Callee::Formal& formal, const Arg& own, bool hands_over);

  [[nodiscard]] const ptx::Instruction& in() const noexcept { return *flat_->instruction; }
  [[nodiscard]] bool has(std::string_view word) const noexcept { return in().has(word); }
  [[nodiscard]] const std::vector<Arg>& args() const noexcept { return args_; }
  [[nodiscard]] const Arg& arg(std::size_t i) const;
  [[nodiscard]] Program& program() noexcept { return program_; }
  /// The type named last: what most instructions work on.
  [[nodiscard]] ScalarType type() const;

  /// A slot to read the operand from, its lanes as wide as `type` needs; of a predicate with 1 added if it is
  /// negated.
  [[nodiscard]] Slot read(const Arg& arg, ScalarType type);
  [[nodiscard]] Slot read(std::size_t i, ScalarType type) { return read(arg(i), type); }
  /// A slot to write the result to; where the register is wider than `type` it is extended after.
  [[nodiscard]] Slot write(const Arg& arg, ScalarType type);
  [[nodiscard]] Slot write(std::size_t i, ScalarType type) { return write(arg(i), type); }
  /// The operand as a literal; an error if it is none.
  [[nodiscard]] std::uint64_t literal(const Arg& arg) const;
  /// The address of a memory operand in `space`.
  [[nodiscard]] MemoryAccess address(const Arg& arg, Space space) const;
  /// The state space that the instruction names; generic without one.
  [[nodiscard]] Space space() const;

  [[nodiscard]] Slot constant(std::uint64_t bits, bool wide);
  [[nodiscard]] Slot temporary(bool wide);
  /// The slots of an operand's elements, to read or to write.
  [[nodiscard]] std::vector<Slot> slots(const Arg& arg, ScalarType type, bool written);
  [[nodiscard]] std::uint32_t add(WarpgroupProduct product) {
    return append(program_.products, std::move(product));
  }
  /// Adds to the program's tables; the index is what a micro-operation's aux names.
  [[nodiscard]] std::uint32_t add(MemoryAccess access) {
    return append(program_.accesses, std::move(access));
  }
  [[nodiscard]] std::uint32_t add(BulkOperands operands) {
    return append(program_.bulks, std::move(operands));
  }
  [[nodiscard]] std::uint32_t add(const Video& video) { return append(program_.videos, video); }
  /// Error{unsupported} where there is no handler.
  void emit(Handler handler, Slot d = 0, Slot a = 0, Slot b = 0, Slot c = 0, std::uint32_t aux = 0);
  /// The same with operand 0 as d and those after it as a, b and c, operand i of types[i].
  void emit_as(Handler handler, std::initializer_list<ScalarType> types) {
    emit_as(handler, std::span(types.begin(), types.size()));
  }
  /// The same with as many operands as there are, all of one type.
  void emit_uniform(Handler handler, ScalarType type, std::uint32_t aux = 0);
  /// Branches name instructions; they become micro-operations when all are known.
  void emit_branch(Handler handler, std::uint64_t target);

  [[noreturn]] void unsupported(std::string_view what = {}) const;

 private:
  template <typename T>
  static std::uint32_t append(std::vector<T>& table, T entry) {
    table.push_back(std::move(entry));
    return static_cast<std::uint32_t>(table.size() - 1);
  }
  void emit_as(Handler handler, std::span<const ScalarType> types, std::uint32_t aux = 0);
  void collect_callees(const ptx::Module& module, const ptx::FlatFunction& function);
  // decode/indirect.cpp
  /// Gives the module's functions addresses, and finds those whose address the program takes.
  void collect_functions(const ptx::Module& module);
  /// The functions that an indirect call by this prototype, or list of targets, can reach; none for others.
  [[nodiscard]] std::vector<const ptx::Function*> targets(const ptx::Binding& binding) const;
  /// Functions with a body that the instructions of `flat` call.
  [[nodiscard]] std::vector<const ptx::Function*> called_by(const ptx::FlatFunction& flat) const;
  /// Puts the addresses of variables and functions into initial values, when all are known.
  void place_addresses();
  void lay_out(const ptx::Module& module, const ptx::FlatFunction& function);
  void lay_out_callee(Callee& callee);
  void place_variable(const ptx::Variable& variable);
  /// Initial bytes of a variable, from `at` on in its bank, and no more than up to `end`.
  void initialise(const ptx::Variable& variable, const ptx::Initializer& value, std::uint64_t& at,
                  std::uint64_t end);
  void check_room(std::string_view what, std::uint64_t bytes, std::uint64_t most) const;
  void allocate_registers(const ptx::FlatFunction& function);
  void decode_function(const ptx::FlatFunction& function);
  void describe_frame(Callee& callee);
  [[nodiscard]] Arg variable_arg(const ptx::Variable& variable, std::int64_t offset);
  void decode_one(const ptx::FlatInstruction& flat);
  void select_one();
  /// In place of the instruction's micro-operations from `first` on: one that throws Error{unsupported}.
  void refuse(std::uint32_t first, std::string why);
  // decode/flow.cpp
  void note_registers(std::uint32_t first, const std::vector<Arg>& args);
  void watch_registers();
  /// Records how the instruction whose first micro-operation is `first` propagates uninitialised values.
  void note_flow(std::uint32_t first);
  void append_fragments(Flow flow);
  /// The function's registers that can be read before they are written.
  void find_unwritten(const ptx::FlatFunction& function);
  [[nodiscard]] Arg convert(const ptx::Operand& operand);
  [[nodiscard]] Arg convert_name(const ptx::Operand& operand);
  [[nodiscard]] Arg convert_special(const std::string& name, const std::string& component);
  /// %clock and its like, read where the instruction stands; nothing for other names.
  [[nodiscard]] std::optional<Arg> convert_clock(std::string_view name);
  [[nodiscard]] Slot allocate(std::uint32_t bytes);
  [[nodiscard]] Arg new_register(bool wide);

  /// An address in the initial value of a variable.
  struct Relocation {
    const ptx::Variable* variable = nullptr;
    const ptx::Initializer* value = nullptr;
    std::uint64_t at = 0;  ///< in its bank
    std::uint32_t bytes = 0;
    bool global = false;
  };

  Program& program_;
  const ptx::Module* module_ = nullptr;
  std::map<std::string, const ptx::Variable*> variables_;    ///< of the module
  std::map<std::string, std::uint64_t> function_addresses_;  ///< of all
  std::vector<const ptx::Function*> addressed_;              ///< whose address the program takes
  std::vector<std::vector<const ptx::Function*>> target_lists_;
  std::vector<Relocation> relocations_;
  const ptx::FlatInstruction* flat_ = nullptr;
  std::size_t binding_ = 0;
  std::vector<Arg> args_;
  std::uint32_t guard_ = true_slot;
  RegisterNumber guard_number_ = 0;
  std::vector<Arg> registers_;
  std::map<const ptx::Variable*, std::uint64_t> addresses_;
  std::set<const ptx::Variable*> passed_;  ///< .param variables that lie in local memory
  std::set<const ptx::Variable*> framed_;  ///< those of recursive functions: addresses from the frame
  std::map<const ptx::Variable*, Arg> formal_registers_;
  std::vector<std::unique_ptr<Callee>> callees_;  ///< a function before those that call it
  Callee* current_ = nullptr;
  std::vector<std::pair<std::uint32_t, const Callee*>> calls_;  ///< micro-operations to be given their target
  std::map<std::pair<std::uint64_t, bool>, Slot> constants_;
  std::map<std::string, Slot> specials_;
  std::vector<MicroOp> after_;        ///< to follow the instruction: extensions of results
  std::vector<std::uint32_t> first_;  ///< micro-operation that each instruction begins with
  std::vector<std::uint32_t> branches_;
  std::vector<std::pair<std::uint32_t, Slot>> uses_;  ///< registers by the first micro-operation of a user
  std::set<std::uint32_t> moves_;                     ///< the first micro-operation of each mov and setp
  std::size_t table_base_ = 0;                        ///< of the function's branch tables in Program's
  Slot sink_[2] = {0, 0};
  check::OwnFiles own_files_;
  std::uint32_t statements_ = 0;  ///< of the functions before
  std::uint32_t segment_ = 0;
};

}  // namespace sim
TMAJIT_END
