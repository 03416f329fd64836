#include "ptx/resolve.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/Twine.h>

TMAJIT_BEGIN
namespace ptx {
namespace {

std::string quoted(const std::string& name) {
  return ("'" + llvm::Twine(name) + "'").str();
}

/// The special registers (PTX ISA 10) that have no number, without the %.
constexpr llvm::StringRef special_registers[] = {"tid",
                                                 "ntid",
                                                 "laneid",
                                                 "warpid",
                                                 "nwarpid",
                                                 "ctaid",
                                                 "nctaid",
                                                 "smid",
                                                 "nsmid",
                                                 "gridid",
                                                 "is_explicit_cluster",
                                                 "clusterid",
                                                 "nclusterid",
                                                 "cluster_ctaid",
                                                 "cluster_nctaid",
                                                 "cluster_ctarank",
                                                 "cluster_nctarank",
                                                 "lanemask_eq",
                                                 "lanemask_le",
                                                 "lanemask_lt",
                                                 "lanemask_ge",
                                                 "lanemask_gt",
                                                 "clock",
                                                 "clock_hi",
                                                 "clock64",
                                                 "globaltimer",
                                                 "globaltimer_lo",
                                                 "globaltimer_hi",
                                                 "reserved_smem_offset_begin",
                                                 "reserved_smem_offset_end",
                                                 "reserved_smem_offset_cap",
                                                 "reserved_smem_offset_0",
                                                 "reserved_smem_offset_1",
                                                 "total_smem_size",
                                                 "aggr_smem_size",
                                                 "dynamic_smem_size",
                                                 "current_graph_exec"};

}  // namespace

struct ModuleNames::Found {
  /// The meaning of a name: `binding`, or registers of a declaration such as `%r<6>`, which are created when
  /// an instruction names them.
  struct Meaning {
    Binding binding;
    const RegisterDeclaration* registers = nullptr;
    const RegisterDeclaration::Name* declared = nullptr;  ///< the name among those of `registers`
  };

  struct Scope {
    llvm::StringMap<Meaning> names;
    llvm::StringMap<Meaning> numbered;  ///< by the stem, which may be a name as well: `.reg .b32 a, a<2>;`
    const Scope* outer = nullptr;
  };

  Scope scope;
  std::map<std::uint64_t, std::string_view> files;
};

ModuleNames::ModuleNames(const Module& module) {
  auto found = std::make_shared<Found>();
  llvm::StringMap<Found::Meaning>& names = found->scope.names;
  llvm::StringMap<const Function*> functions;
  for (const Directive& directive : module.directives) {
    // A function may be declared, then defined: its name then means the definition.
    if (const auto* each = std::get_if<Function>(&directive)) {
      const Function*& known = functions[each->name];
      if (known == nullptr || !known->body) known = each;
      names[each->name].binding = known;
    }
    if (const auto* each = std::get_if<Variable>(&directive)) names[each->name].binding = each;
    if (const auto* each = std::get_if<File>(&directive)) found->files[each->index] = each->name;
  }
  for (const Directive& directive : module.directives) {
    const auto* each = std::get_if<Alias>(&directive);
    if (each == nullptr) continue;
    if (const auto target = functions.find(each->target); target != functions.end())
      names[each->name].binding = target->second;
  }
  found_ = std::move(found);
}

namespace {

using Meaning = ModuleNames::Found::Meaning;
using Scope = ModuleNames::Found::Scope;

class Resolver {
  using Place = std::array<std::uint64_t, 3>;  ///< file, line, column

 public:
  Resolver(const ModuleNames::Found& module, const Function& function)
      : function_(function), module_(module.scope), files_(module.files) {
    flat_.function = &function;
  }

  ResolveResult run() {
    Scope parameters;
    parameters.outer = &module_;
    for (const Variable& each : function_.results) declare(parameters, each.name, {&each}, each.location);
    for (const Variable& each : function_.parameters) declare(parameters, each.name, {&each}, each.location);
    index_labels(*function_.body);
    flat_.instructions.reserve(next_index_);
    walk(*function_.body, &parameters);
    ResolveResult result;
    result.diagnostics = std::move(diagnostics_);
    if (result.diagnostics.empty()) result.function = std::move(flat_);
    return result;
  }

 private:
  void error(Location location, std::string message) {
    diagnostics_.push_back({location, std::move(message)});
  }

  void declare(Scope& scope, const std::string& name, Meaning meaning, Location location) {
    if (name == "_" && meaning.registers == nullptr) return;
    auto& names = meaning.declared != nullptr && meaning.declared->count ? scope.numbered : scope.names;
    if (!names.try_emplace(name, meaning).second)
      error(location, quoted(name) + " is declared twice in one scope");
  }

  /// The instruction index of every label, counted before any branch is bound.
  void index_labels(const Block& block) {
    for (const Statement& statement : block.statements) {
      if (const auto* label = std::get_if<Label>(&statement.node)) label_index_[label] = next_index_;
      if (std::holds_alternative<Instruction>(statement.node)) ++next_index_;
      if (const auto* inner = std::get_if<Block>(&statement.node)) index_labels(*inner);
    }
  }

  /// Labels, target lists and prototypes may be used before their declaration.
  void declare_places(Scope& scope, const Block& block) {
    for (const Statement& statement : block.statements) {
      if (const auto* label = std::get_if<Label>(&statement.node)) {
        declare(scope, label->name, {LabelRef{label_index_.find(label)->second}}, label->location);
      } else if (const auto* prototype = std::get_if<CallPrototype>(&statement.node)) {
        declare(scope, prototype->label, {prototype}, prototype->location);
      } else if (const auto* targets = std::get_if<TargetList>(&statement.node)) {
        const BranchTableRef table{static_cast<std::uint32_t>(flat_.branch_tables.size())};
        declare(scope, targets->label, {targets->calls ? Binding(targets) : Binding(table)},
                targets->location);
        if (!targets->calls) flat_.branch_tables.emplace_back();
      }
    }
    for (const Statement& statement : block.statements) {
      const auto* targets = std::get_if<TargetList>(&statement.node);
      if (targets != nullptr && !targets->calls) fill_branch_table(scope, *targets);
    }
  }

  void fill_branch_table(const Scope& scope, const TargetList& targets) {
    const auto* table = std::get_if<BranchTableRef>(&scope.names.find(targets.label)->second.binding);
    if (table == nullptr) return;  // declared twice: reported already
    for (const std::string& target : targets.targets) {
      const Meaning* meaning = find(scope, target).meaning;
      const auto* label = meaning != nullptr ? std::get_if<LabelRef>(&meaning->binding) : nullptr;
      if (label == nullptr) {
        error(targets.location, quoted(target) + " is no label that this list can reach");
      } else {
        flat_.branch_tables[table->index].push_back(label->index);
      }
    }
  }

  void walk(const Block& block, const Scope* outer) {
    Scope scope;
    scope.outer = outer;
    declare_places(scope, block);
    for (const Statement& statement : block.statements) {
      if (const auto* registers = std::get_if<RegisterDeclaration>(&statement.node)) {
        for (const RegisterDeclaration::Name& each : registers->names)
          declare(scope, each.name, {{}, registers, &each}, registers->location);
      } else if (const auto* variable = std::get_if<Variable>(&statement.node)) {
        declare(scope, variable->name, {variable}, variable->location);
        flat_.variables.push_back(variable);
      } else if (const auto* mark = std::get_if<LineMark>(&statement.node)) {
        apply_mark(*mark);
      } else if (const auto* inner = std::get_if<Block>(&statement.node)) {
        walk(*inner, &scope);
      } else if (const auto* instruction = std::get_if<Instruction>(&statement.node)) {
        bind(scope, *instruction);
      }
    }
  }

  /// Sets the source of the instructions that follow the mark. The call of an inlined function has its own
  /// mark, before the marks of the function's instructions: the last frame at that place is the caller.
  void apply_mark(const LineMark& mark) {
    std::uint32_t caller = SourceFrame::none;
    if (mark.inlined) {
      const Place at{mark.inlined->file, mark.inlined->line, mark.inlined->column};
      const auto known = latest_.find(at);
      caller = known != latest_.end() ? known->second : frame_of(at, SourceFrame::none);
    }
    const Place at{mark.file, mark.line, mark.column};
    frame_ = latest_[at] = frame_of(at, caller);
    std::uint32_t outermost = frame_;
    while (flat_.frames[outermost].caller != SourceFrame::none) outermost = flat_.frames[outermost].caller;
    source_ = flat_.frames[outermost].at;
  }

  /// A caller's frame is made before its callee's, so chains end. A chain that is too long, such as a place
  /// inlined into itself, loses its callers.
  std::uint32_t frame_of(const Place& at, std::uint32_t caller) {
    constexpr std::uint32_t max_callers = 64;
    std::uint32_t callers = 0;
    for (std::uint32_t each = caller; each != SourceFrame::none; each = flat_.frames[each].caller) ++callers;
    if (callers >= max_callers) caller = SourceFrame::none;
    const auto [found, fresh] = frames_.try_emplace({at, caller}, flat_.frames.size());
    if (fresh) {
      const auto file = files_.find(at[0]);
      const std::string_view path = file == files_.end() ? std::string_view() : file->second;
      flat_.frames.push_back({{path, at[1]}, at[2], caller});
    }
    return found->second;
  }

  void bind(Scope& scope, const Instruction& instruction) {
    FlatInstruction flat{&instruction, {}, source_, frame_};
    if (instruction.guard) bind_name(scope, instruction.guard->predicate, instruction.location, flat);
    if (instruction.opcode != Opcode::unknown) {
      for (const Operand& operand : instruction.operands) bind_operand(scope, operand, flat);
    }
    flat_.instructions.push_back(std::move(flat));
  }

  void bind_operand(Scope& scope, const Operand& operand, FlatInstruction& flat) {
    if (operand.kind == Operand::Kind::symbol || operand.kind == Operand::Kind::negated) {
      bind_name(scope, operand.name, operand.location, flat);
    }
    for (const Operand& element : operand.elements) bind_operand(scope, element, flat);
  }

  void bind_name(Scope& scope, const std::string& name, Location location, FlatInstruction& flat) {
    if (const auto [meaning, number] = find(scope, name); meaning != nullptr) {
      flat.bindings.push_back(meaning->registers == nullptr ? meaning->binding
                                                            : register_of(*meaning, number, name));
    } else if (is_special_register(name)) {
      flat.bindings.emplace_back(SpecialRef{name});
    } else {
      error(location, quoted(name) + " is not declared here");
    }
  }

  /// A meaning, and the number of the register if the declaration makes several.
  struct Named {
    const Meaning* meaning = nullptr;
    std::uint32_t number = 0;
  };

  /// The meaning of `name` in the innermost scope that declares it so far, or null.
  static Named find(const Scope& innermost, llvm::StringRef name) {
    for (const Scope* scope = &innermost; scope != nullptr; scope = scope->outer) {
      const auto found = scope->names.find(name);
      if (found != scope->names.end()) return {&found->second};
      if (const Named named = find_numbered(*scope, name); named.meaning != nullptr) return named;
    }
    return {};
  }

  /// The declaration in this very scope that makes `name` one of several registers: `%r<6>` for %r0 … %r5.
  static Named find_numbered(const Scope& scope, llvm::StringRef name) {
    if (scope.numbered.empty()) return {};
    // A stem may itself end in digits, so every split is tried; a number has at most ten. %r007 is not %r7.
    constexpr std::size_t max_digits = 10;
    std::size_t shortest = name.size();
    while (shortest > 0 && llvm::isDigit(name[shortest - 1]) && name.size() - shortest < max_digits)
      --shortest;
    for (std::size_t length = shortest; length < name.size(); ++length) {
      if (name[length] == '0' && length + 1 < name.size()) continue;
      const auto found = scope.numbered.find(name.take_front(length));
      if (found == scope.numbered.end()) continue;
      std::uint32_t number = 0;
      const auto fault = std::from_chars(name.begin() + length, name.end(), number).ec;
      if (fault == std::errc() && number < *found->second.declared->count) return {&found->second, number};
    }
    return {};
  }

  RegisterRef register_of(const Meaning& meaning, std::uint32_t number, const std::string& name) {
    const auto next = static_cast<std::uint32_t>(flat_.registers.size());
    const auto [found, fresh] = made_.try_emplace({meaning.declared, number}, next);
    if (fresh) flat_.registers.push_back({name, meaning.registers->type, meaning.registers->vector_width});
    return {found->second};
  }

  const Function& function_;
  FlatFunction flat_;
  const Scope& module_;
  const std::map<std::uint64_t, std::string_view>& files_;
  std::map<Place, std::uint32_t> latest_;                            ///< frame of the last mark at each place
  std::map<std::pair<Place, std::uint32_t>, std::uint32_t> frames_;  ///< by place and caller
  SourceLine source_;                        ///< FlatInstruction::source by the last mark
  std::uint32_t frame_ = SourceFrame::none;  ///< FlatInstruction::frame by the last mark
  std::uint32_t next_index_ = 0;
  llvm::DenseMap<const Label*, std::uint32_t> label_index_;
  /// Index of each register that an instruction has named.
  llvm::DenseMap<std::pair<const RegisterDeclaration::Name*, std::uint32_t>, std::uint32_t> made_;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace

ResolveResult resolve(const ModuleNames& names, const Function& function) {
  if (!function.body) return {std::nullopt, {{function.location, quoted(function.name) + " has no body"}}};
  return Resolver(names.found(), function).run();
}

ResolveResult resolve(const Module& module, const Function& function) {
  return resolve(ModuleNames(module), function);
}

void choose_sources(FlatFunction& function,
                    const std::function<std::size_t(std::span<const std::string_view> paths)>& choose) {
  std::vector<SourceLine> chosen;
  std::vector<std::uint32_t> chain;
  std::vector<std::string_view> paths;
  for (std::uint32_t innermost = 0; innermost < function.frames.size(); ++innermost) {
    chain.clear();
    paths.clear();
    for (std::uint32_t at = innermost; at != SourceFrame::none; at = function.frames[at].caller) {
      chain.push_back(at);
      paths.push_back(function.frames[at].at.path);
    }
    chosen.push_back(function.frames[chain[std::min(choose(paths), chain.size() - 1)]].at);
  }
  for (FlatInstruction& each : function.instructions) {
    if (each.frame != SourceFrame::none) each.source = chosen[each.frame];
  }
}

bool is_special_register(std::string_view text) noexcept {
  llvm::StringRef name(text);
  if (name == "WARP_SZ") return true;
  if (!name.consume_front("%")) return false;
  if (llvm::is_contained(special_registers, name)) return true;
  const auto numbered = [&](llvm::StringRef stem, unsigned count) {
    llvm::StringRef digits = name;
    unsigned number = 0;
    return digits.consume_front(stem) && !digits.getAsInteger(10, number) && number < count;
  };
  llvm::StringRef wide = name;
  if (wide.consume_back("_64") && wide.take_front(2) == "pm") name = wide;
  return numbered("pm", 8) || numbered("envreg", 32);
}

}  // namespace ptx
TMAJIT_END
