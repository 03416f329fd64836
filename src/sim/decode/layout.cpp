/// The parts of the decoder that assign addresses to variables and parameters, and slots to registers, and
/// that prepare called functions.
#include "sim/decode/selector.hpp"
#include "sim/undefined/undefined.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <span>
#include <unordered_set>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// Limit of a variable's size: more than any memory has.
constexpr std::uint64_t max_variable_bytes = 1ULL << 40;

std::uint64_t element_bytes(const ptx::Variable& variable) {
  return std::max(ptx::bits_of(variable.type) / 8, 1U) * std::uint64_t{variable.vector_width};
}

bool uses_stack(const ptx::FlatFunction& flat) {
  return std::ranges::any_of(flat.instructions, [](const ptx::FlatInstruction& each) {
    const Opcode opcode = each.instruction->opcode;
    return opcode == Opcode::alloca_ || opcode == Opcode::stacksave;
  });
}

/// Adds the variables that the instructions of a function name.
void add_named(const ptx::FlatFunction& flat, std::unordered_set<const ptx::Variable*>& named) {
  for (const ptx::FlatInstruction& each : flat.instructions) {
    for (const ptx::Binding& binding : each.bindings) {
      if (const auto* variable = std::get_if<const ptx::Variable*>(&binding)) named.insert(*variable);
    }
  }
}

Arg mailbox_in_memory(const ptx::Variable& variable, std::uint64_t address) {
  return {.kind = Arg::Kind::memory,
          .access = {.space = Space::local, .offset = static_cast<std::int64_t>(address)},
          .passed = &variable};
}

/// The handler of a LocalCopy. aux: index into Program::copies.
void copy_local(Warp& warp, const MicroOp& op, Mask mask) {
  const LocalCopy& copy = warp.program->copies[op.aux];
  if (warp.undefined) warp.undefined->copy(warp, copy, mask);
  for_lanes(mask, [&](std::uint32_t lane) {
    std::byte* const memory = warp.local + std::size_t{lane} * warp.program->local_bytes;
    const auto at = [&](const MemoryAccess& access) {
      const std::uint64_t base =
          access.address_width == 8 ? get<std::uint64_t>(warp.registers + access.address, lane) : 0;
      return memory + base + static_cast<std::uint64_t>(access.offset);
    };
    std::memmove(at(copy.to), at(copy.from), copy.bytes);
  });
}

}  // namespace

ptx::FlatFunction resolve(const ptx::Module& module, const ptx::Function& function, std::string_view what) {
  ptx::ResolveResult resolved = ptx::resolve(module, function);
  if (resolved) return std::move(*resolved.function);
  const ptx::Diagnostic& first = resolved.diagnostics.front();
  throw Error(ErrorCode::invalid_argument, fmt::format("{} \"{}\", PTX line {}: {}", what, function.name,
                                                       first.location.line, first.message));
}

std::uint64_t bytes_of(const ptx::Variable& variable) {
  std::uint64_t bytes = element_bytes(variable);
  for (const auto& extent : variable.extents) {
    const std::uint64_t n = extent.value_or(0);
    if (bytes != 0 && n > max_variable_bytes / bytes) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("PTX line {}: {} has more than {} bytes", variable.location.line, variable.name,
                              max_variable_bytes));
    }
    bytes *= n;
  }
  return bytes;
}

std::uint64_t alignment_of(const ptx::Variable& variable) {
  const std::uint64_t alignment = variable.alignment.value_or(element_bytes(variable));
  if (!std::has_single_bit(alignment) || alignment > 1U << 16) {
    throw Error(ErrorCode::unsupported,
                fmt::format("PTX line {}: {} is aligned to {} bytes, a power of two up to 65536 is legal",
                            variable.location.line, variable.name, alignment));
  }
  return alignment;
}

void Decoder::check_room(std::string_view what, std::uint64_t bytes, std::uint64_t limit) const {
  if (bytes <= limit) return;
  throw Error(ErrorCode::unsupported, fmt::format("kernel \"{}\": {} of {} bytes, at most {} are legal",
                                                  program_.entry, what, bytes, limit));
}

void Decoder::initialise(const ptx::Variable& variable, const ptx::Initializer& value, std::uint64_t& at,
                         std::uint64_t end) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::unsupported,
                fmt::format("PTX line {}: the simulator does not take the initial value of {}: {}",
                            variable.location.line, variable.name, what));
  };
  if (value.kind == ptx::Initializer::Kind::list) {
    for (const ptx::Initializer& inner : value.elements) initialise(variable, inner, at, end);
    return;
  }
  const std::uint32_t element = ptx::bits_of(variable.type) / 8;
  const auto next = [&] {
    if (element == 0 || element > 8) refuse("a type that is not 8 to 64 bits wide");
    if (end - at < element) refuse("more values than the variable has elements");
    return std::exchange(at, at + element);
  };
  const bool global = variable.space == StateSpace::global;
  const auto store = [&](const ptx::Immediate& literal) {
    auto& bank = global ? program_.global_image : program_.constant_bank;
    std::memcpy(bank.data() + next(), &literal.bits, element);
  };
  switch (value.kind) {
    case ptx::Initializer::Kind::value: return store(value.value);
    case ptx::Initializer::Kind::literals:
      for (const ptx::Immediate& literal : value.literals) store(literal);
      return;
    default: relocations_.push_back({&variable, &value, next(), element, global});
  }
}

void Decoder::place_variable(const ptx::Variable& variable) {
  const std::uint64_t bytes = bytes_of(variable);
  const std::uint64_t alignment = std::max<std::uint64_t>(alignment_of(variable), 1);
  const auto reserve = [&](std::uint32_t& end, std::string_view what, std::uint64_t limit) {
    const std::uint64_t at = align_up(end, alignment);
    check_room(what, at + bytes, limit);
    end = static_cast<std::uint32_t>(at + bytes);
    return at;
  };
  switch (variable.space) {
    case StateSpace::shared:
    case StateSpace::shared_cta:
      // These variables have a size. lay_out() puts dynamic shared memory after them.
      addresses_[&variable] =
          shared_base + reserve(program_.static_shared_bytes, "static shared memory", max_shared_bytes);
      break;
    case StateSpace::param: passed_.insert(&variable); [[fallthrough]];
    case StateSpace::local:
      if (current_ != nullptr && current_->recursive) {
        framed_.insert(&variable);
        addresses_[&variable] =
            reserve(program_.frames[current_->frame].bytes, "the frame of a function", stack_bytes);
      } else {
        addresses_[&variable] = reserve(program_.local_bytes, "local memory", max_local_bytes);
      }
      break;
    case StateSpace::constant:
    case StateSpace::global: {
      auto& bank = variable.space == StateSpace::global ? program_.global_image : program_.constant_bank;
      const std::uint64_t at = align_up(bank.size(), alignment);
      const bool global = variable.space == StateSpace::global;
      check_room(global ? "global variables" : "constant memory", at + bytes,
                 global ? max_global_bytes : max_constant_bytes);
      bank.resize(at + bytes);
      addresses_[&variable] = at;
      if (variable.initializer) {
        std::uint64_t next = at;
        initialise(variable, *variable.initializer, next, at + bytes);
      }
      break;
    }
    default: addresses_[&variable] = 0;
  }
}

void Decoder::lay_out(const ptx::Module& module, const ptx::FlatFunction& function) {
  std::vector<const ptx::Variable*> variables;
  std::unordered_set<const ptx::Variable*> named;
  add_named(function, named);
  for (const auto& callee : callees_) add_named(callee->flat, named);
  for (const ptx::Directive& directive : module.directives) {
    const auto* variable = std::get_if<ptx::Variable>(&directive);
    // A shared variable of the module that only other kernels use takes no memory in this kernel, as with
    // ptxas.
    if (variable != nullptr && (variable->space != StateSpace::shared || named.count(variable) != 0)) {
      variables.push_back(variable);
    }
  }
  const std::size_t module_variables = variables.size();
  variables.insert(variables.end(), function.variables.begin(), function.variables.end());
  // lay_out_callee() places the local variables and parameters of functions; their other variables come here.
  for (const auto& callee : callees_) {
    lay_out_callee(*callee);
    for (const ptx::Variable* variable : callee->flat.variables) {
      if (addresses_.count(variable) == 0) variables.push_back(variable);
    }
  }
  current_ = nullptr;
  std::vector<const ptx::Variable*> dynamic;
  std::uint64_t alignment = 16;
  for (const ptx::Variable* variable : variables) {
    const bool shared = variable->space == StateSpace::shared || variable->space == StateSpace::shared_cta;
    if (shared && bytes_of(*variable) == 0) {
      dynamic.push_back(variable);
      alignment = std::max(alignment, alignment_of(*variable));
    } else {
      place_variable(*variable);
    }
  }
  if (!dynamic.empty()) {
    program_.static_shared_bytes =
        static_cast<std::uint32_t>(align_up(program_.static_shared_bytes, alignment));
  }
  for (const ptx::Variable* variable : std::span(variables).first(module_variables)) {
    const bool constant = variable->space == StateSpace::constant;
    if (constant || variable->space == StateSpace::global) {
      program_.variables.push_back({variable->name, constant, addresses_.at(variable), bytes_of(*variable)});
    }
  }
  for (const ptx::Variable* variable : dynamic)
    addresses_[variable] = shared_base + program_.static_shared_bytes;
  write_relocations();
  bool has_stack = !program_.frames.empty() || uses_stack(function);
  for (const auto& callee : callees_) has_stack = has_stack || uses_stack(callee->flat);
  if (has_stack) {
    program_.stack_begin = static_cast<std::uint32_t>(align_up(program_.local_bytes, 16));
    program_.local_bytes = program_.stack_begin + stack_bytes;
  }
  for (const ptx::Variable& parameter : function.function->parameters) {
    const std::uint64_t at =
        align_up(program_.parameter_bytes, std::max<std::uint64_t>(alignment_of(parameter), 1));
    const auto bytes = static_cast<std::uint32_t>(bytes_of(parameter));
    addresses_[&parameter] = at;
    program_.parameters.push_back({static_cast<std::uint32_t>(at), bytes});
    program_.parameter_bytes = static_cast<std::uint32_t>(at) + bytes;
    check_room("parameters", program_.parameter_bytes, max_parameter_bytes);
  }
  for (const ptx::Tuning& tuning : function.function->tuning) {
    if (tuning.name == "maxntid" || tuning.name == "reqntid") {
      std::uint64_t threads = 1;
      for (const std::uint64_t n : tuning.values) threads *= n;
      program_.bounds_threads = true;
      program_.max_threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(threads, 1024));
    }
    if (tuning.name == "reqnctapercluster") {
      auto& cluster = program_.cluster.emplace(std::array<std::uint32_t, 3>{1, 1, 1});
      for (std::size_t i = 0; i < std::min<std::size_t>(tuning.values.size(), 3); ++i)
        cluster[i] = static_cast<std::uint32_t>(std::min<std::uint64_t>(tuning.values[i], ~0U));
    }
    const auto first = static_cast<std::uint32_t>(tuning.values.empty() ? 0 : tuning.values.front());
    if (tuning.name == "maxnreg") program_.max_registers = first;
    if (tuning.name == "minnctapersm") program_.min_ctas = first;
    if (tuning.name == "explicitcluster") program_.explicit_cluster = true;
  }
}

Arg Decoder::new_register(bool wide) {
  return {.kind = Arg::Kind::reg, .slot = temporary(wide), .wide = wide};
}

Slot Decoder::allocate(std::uint32_t bytes) {
  const Slot slot = program_.register_bytes;
  program_.register_bytes += bytes;
  return slot;
}

void Decoder::allocate_registers(const ptx::FlatFunction& function) {
  // Registers with a value per lane come first, so that they stay aligned; a predicate takes 4 bytes per
  // warp.
  registers_.clear();
  for (const ptx::Register& reg : function.registers) {
    Arg& arg = registers_.emplace_back();
    if (reg.vector_width != 1) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("the simulator has no vector registers ({})", reg.name));
    }
    if (ptx::bits_of(reg.type) == 128) {
      // Two registers of 64 bits, the low half first.
      arg.kind = Arg::Kind::group;
      for (int half = 0; half < 2; ++half) {
        arg.elements.push_back(new_register(true));
        arg.elements.back().number = ++program_.register_count;
      }
    } else if (reg.type == ScalarType::pred) {
      arg.kind = Arg::Kind::predicate;
    } else {
      arg = new_register(is_wide(reg.type));
    }
    if (arg.kind != Arg::Kind::group) arg.number = ++program_.register_count;
  }
  std::uint32_t predicates = 0;
  for (Arg& arg : registers_) {
    if (arg.kind == Arg::Kind::predicate) arg.slot = program_.register_bytes + 4 * predicates++;
  }
  program_.register_bytes += static_cast<std::uint32_t>(align_up(4 * std::uint64_t{predicates} + 4, 64));
}

// Called functions.

void Decoder::collect_callees(const ptx::Module& module, const ptx::FlatFunction& function) {
  std::map<const ptx::Function*, std::vector<const ptx::Function*>> graph;
  std::vector<const ptx::Function*> open;
  // Depth first: a function is added after all functions that it calls.
  const auto visit = [&](const auto& self, const ptx::Function* each) -> void {
    if (graph.count(each) != 0) return;
    if (open.size() > max_open_calls) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("kernel \"{}\": functions call each other more than {} deep", program_.entry,
                              max_open_calls));
    }
    ptx::FlatFunction flat = resolve(module, *each, "function");
    open.push_back(each);
    const auto inner = graph[each] = called_by(flat);
    for (const ptx::Function* other : inner) self(self, other);
    open.pop_back();
    callees_.emplace_back(std::make_unique<Callee>())->flat = std::move(flat);
  };
  for (const ptx::Function* each : called_by(function)) visit(visit, each);
  for (const auto& callee : callees_) {
    // A function is recursive if it can call itself, directly or through other functions.
    std::set<const ptx::Function*> reached;
    std::vector<const ptx::Function*> next = graph[callee->flat.function];
    while (!next.empty()) {
      const ptx::Function* each = next.back();
      next.pop_back();
      if (reached.insert(each).second) next.insert(next.end(), graph[each].begin(), graph[each].end());
    }
    callee->recursive = reached.count(callee->flat.function) != 0;
    if (callee->recursive) {
      callee->frame = static_cast<std::uint32_t>(program_.frames.size());
      program_.frames.emplace_back().base = allocate(8 * lanes);
    }
  }
}

void Decoder::lay_out_callee(Callee& callee) {
  const auto formal = [&](const ptx::Variable& variable) {
    Callee::Formal result{&variable, {}, static_cast<std::uint32_t>(bytes_of(variable))};
    if (variable.space == StateSpace::reg) {
      if (variable.type == ScalarType::pred || ptx::bits_of(variable.type) > 64) {
        throw Error(ErrorCode::unsupported,
                    fmt::format("function \"{}\": the simulator does not pass {} in a register",
                                callee.flat.function->name, variable.name));
      }
      formal_registers_[&variable] = new_register(is_wide(variable.type));
      result.mailbox = new_register(is_wide(variable.type));
      return result;
    }
    if (callee.recursive) {
      // The mailbox is placed first, outside the frame.
      current_ = nullptr;
      place_variable(variable);
      result.mailbox = mailbox_in_memory(variable, addresses_[&variable]);
    }
    current_ = &callee;
    place_variable(variable);
    if (!callee.recursive) result.mailbox = mailbox_in_memory(variable, addresses_[&variable]);
    return result;
  };
  for (const ptx::Variable& variable : callee.flat.function->parameters)
    callee.parameters.push_back(formal(variable));
  for (const ptx::Variable& variable : callee.flat.function->results)
    callee.results.push_back(formal(variable));
  current_ = &callee;
  for (const ptx::Variable* variable : callee.flat.variables) {
    if (variable->space == StateSpace::local || variable->space == StateSpace::param)
      place_variable(*variable);
  }
  if (callee.recursive) {
    std::uint32_t& bytes = program_.frames[callee.frame].bytes;
    bytes = static_cast<std::uint32_t>(align_up(bytes, 16));
  }
}

Arg Decoder::variable_arg(const ptx::Variable& variable, std::int64_t offset) {
  if (const auto found = formal_registers_.find(&variable); found != formal_registers_.end()) {
    if (offset != 0) unsupported("a register plus an offset");
    return found->second;
  }
  const auto found = addresses_.find(&variable);
  if (found == addresses_.end()) unsupported("this variable");
  std::uint64_t address = found->second + static_cast<std::uint64_t>(offset);
  if (variable.space == StateSpace::global) {
    address += program_.global_base;
    program_.uses_globals = true;
  }
  const bool framed = framed_.count(&variable) != 0;
  Arg arg{.kind = Arg::Kind::constant, .bits = address};
  if (passed_.count(&variable) != 0) {
    arg.passed = &variable;
    arg.access.space = Space::local;
    arg.access.offset = static_cast<std::int64_t>(address);
    if (framed) {
      arg.access.address = program_.frames[current_->frame].base;
      arg.access.address_width = 8;
    }
  } else if (framed) {
    arg = new_register(true);
    emit(uniform<std::plus<>{}, std::uint64_t, 2>, arg.slot, program_.frames[current_->frame].base,
         constant(address, true));
  }
  return arg;
}

const Callee* Decoder::callee(const ptx::Function* function) const {
  const auto found =
      std::ranges::find_if(callees_, [&](const auto& callee) { return callee->flat.function == function; });
  return found == callees_.end() ? nullptr : found->get();
}

void Decoder::emit_call(Handler handler, const Callee& target) {
  calls_.emplace_back(static_cast<std::uint32_t>(program_.code.size()), &target);
  emit(handler);
}

void Decoder::emit_transfer(const Callee::Formal& formal, const Arg& own, bool to_mailbox) {
  const Arg& to = to_mailbox ? formal.mailbox : own;
  const Arg& from = to_mailbox ? own : formal.mailbox;
  if (to.passed != nullptr && from.passed != nullptr) {
    emit(&copy_local, 0, 0, 0, 0, append(program_.copies, {to.access, from.access, formal.bytes}));
    return;
  }
  if (to.passed != nullptr || from.passed != nullptr) unsupported("a .param where a .reg is passed");
  const ScalarType type = formal.variable->type;
  const Slot a = read(from, type);
  emit(is_wide(type) ? uniform<identity, std::uint64_t, 1> : uniform<identity, std::uint32_t, 1>,
       write(to, type), a);
}

void Decoder::describe_frame(Callee& callee) {
  Frame& frame = program_.frames[callee.frame];
  for (const Arg& reg : registers_) {
    for (const Arg& each : elements(reg)) frame.numbers.push_back(each.number);
    for (const Arg& half : reg.elements) frame.wide.push_back(half.slot);
    if (reg.kind == Arg::Kind::group) continue;
    (reg.kind == Arg::Kind::predicate ? frame.predicates
     : reg.wide                       ? frame.wide
                                      : frame.narrow)
        .push_back(reg.slot);
  }
  for (const auto* formals : {&callee.parameters, &callee.results}) {
    for (const Callee::Formal& formal : *formals) {
      const auto found = formal_registers_.find(formal.variable);
      if (found == formal_registers_.end()) continue;
      (found->second.wide ? frame.wide : frame.narrow).push_back(found->second.slot);
    }
  }
}

void Decoder::emit_transfers(bool enters) {
  const Callee& callee = *current_;
  if (enters && callee.recursive) emit(&enter_frame, 0, 0, 0, 0, callee.frame);
  for (const Callee::Formal& formal : enters ? callee.parameters : callee.results) {
    const bool in_register = formal.variable->space == StateSpace::reg;
    if (!in_register && !callee.recursive) continue;  // the variable is the mailbox
    emit_transfer(formal, variable_arg(*formal.variable, 0), !enters);
  }
}

}  // namespace sim
TMAJIT_END
