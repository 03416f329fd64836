#pragma once

/// A function ready to be decoded or analysed: a flat list of instructions, with every name bound.
#include "ptx/parser.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <variant>

TMAJIT_BEGIN
namespace ptx {

/// A register that some instruction names. Its index in FlatFunction::registers identifies it.
struct Register {
  std::string name;
  ScalarType type = ScalarType::b32;
  std::uint32_t vector_width = 1;
};

/// `index` into FlatFunction::registers.
struct RegisterRef {
  std::uint32_t index = 0;
  friend bool operator==(const RegisterRef&, const RegisterRef&) = default;
};
/// A read-only register such as %tid, and the constant WARP_SZ; the operand's component says which part.
struct SpecialRef {
  std::string_view name;  ///< points into the module
  friend bool operator==(const SpecialRef&, const SpecialRef&) = default;
};
/// `index` into FlatFunction::instructions; for a label at the end, the number of instructions.
struct LabelRef {
  std::uint32_t index = 0;
  friend bool operator==(const LabelRef&, const LabelRef&) = default;
};
/// `index` into FlatFunction::branch_tables.
struct BranchTableRef {
  std::uint32_t index = 0;
  friend bool operator==(const BranchTableRef&, const BranchTableRef&) = default;
};

/// The entity that a name refers to in its scope. Pointers are into the module.
using Binding = std::variant<RegisterRef, SpecialRef, LabelRef, BranchTableRef, const Variable*,
                             const Function*, const TargetList*, const CallPrototype*>;

/// A line of the source that PTX comes from.
struct SourceLine {
  std::string_view path;   ///< as in `.file`, points into the module; empty if no `.file` has this index
  std::uint64_t line = 0;  ///< 0: none is known
  /// The path without folders.
  [[nodiscard]] std::string_view file() const noexcept { return path.substr(path.rfind('/') + 1); }
};

/// A line of the source, and the call by which its function was inlined.
struct SourceFrame {
  static constexpr std::uint32_t none = ~0U;
  SourceLine at;
  std::uint64_t column = 0;
  std::uint32_t caller = none;  ///< index of the call's frame; none: the function was not inlined
};

struct FlatInstruction {
  const Instruction* instruction = nullptr;
  /// The bindings of the guard's predicate, if there is a guard, and of all names in the operands in the
  /// order of the text, also inside addresses, vectors, pairs and lists. Sinks have no binding. An unknown
  /// instruction has only the guard's.
  llvm::SmallVector<Binding, 4> bindings;
  /// The source line by the last .loc before the instruction: the line of the outermost caller, or the one
  /// that choose_sources() has chosen.
  SourceLine source;
  std::uint32_t frame = SourceFrame::none;  ///< the innermost frame, an index into FlatFunction::frames
};

struct FlatFunction {
  const Function* function = nullptr;
  std::vector<Register> registers;
  std::vector<FlatInstruction> instructions;
  std::vector<std::vector<std::uint32_t>> branch_tables;  ///< instruction indices of each .branchtargets
  std::vector<const Variable*> variables;                 ///< declared in the body: .shared, .local, .param
  std::vector<SourceFrame> frames;                        ///< frames of all instructions, each once
};

struct ResolveResult {
  std::optional<FlatFunction> function;  ///< empty if a name is undeclared or declared twice
  std::vector<Diagnostic> diagnostics;
  explicit operator bool() const noexcept { return function.has_value(); }
};

/// The meanings of a module's names, resolved once for all its functions. The module must outlive it.
class ModuleNames {
 public:
  explicit ModuleNames(const Module& module);
  struct Found;
  [[nodiscard]] const Found& found() const noexcept { return *found_; }

 private:
  std::shared_ptr<const Found> found_;
};

/// Binds the names of `function`, a function of the module of `names`; both must outlive the result. A
/// function without a body is an error.
[[nodiscard]] ResolveResult resolve(const ModuleNames& names, const Function& function);
/// Binds the names of `function`, a function of `module`; both must outlive the result. A function without a
/// body is an error.
[[nodiscard]] ResolveResult resolve(const Module& module, const Function& function);

/// Chooses the source line of each instruction: choose(paths) returns an index into `paths`, the paths of its
/// frames, innermost first.
void choose_sources(FlatFunction& function,
                    const std::function<std::size_t(std::span<const std::string_view> paths)>& choose);

/// Whether `name` is a special register (PTX ISA 10) or WARP_SZ.
[[nodiscard]] bool is_special_register(std::string_view name) noexcept;

}  // namespace ptx
TMAJIT_END
