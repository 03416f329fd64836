/// Parts of the decoder. They assign addresses to variables and parameters, and slots (offsets in the warp's
/// register file) to registers. They also prepare calls: a caller and the called function pass each argument
/// and result through a mailbox, a register or local memory that belongs to the function (Callee::Formal).
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

/// Limit of a variable's size, which keeps sums of sizes from overflowing. It is larger than every memory;
/// check_limit() compares with the memory's own limit.
constexpr std::uint64_t max_variable_bytes = 1ULL << 40;

std::uint64_t element_bytes(const ptx::Variable& variable) {
  return std::max(ptx::bits_of(variable.type) / 8, 1U) * std::uint64_t{variable.vector_width};
}

/// Whether a function needs a stack in local memory even if it is not recursive.
bool uses_stack(const ptx::FlatFunction& flat) {
  return std::ranges::any_of(flat.instructions, [](const ptx::FlatInstruction& each) {
    const Opcode opcode = each.instruction->opcode;
    return opcode == Opcode::alloca_ || opcode == Opcode::stacksave;
  });
}

/// Adds the variables that a function's instructions refer to.
void add_used_variables(const ptx::FlatFunction& flat, std::unordered_set<const ptx::Variable*>& used) {
  for (const ptx::FlatInstruction& each : flat.instructions) {
    for (const ptx::Binding& binding : each.bindings) {
      if (const auto* variable = std::get_if<const ptx::Variable*>(&binding)) used.insert(*variable);
    }
  }
}

/// The mailbox of a .param parameter or result: `address` in local memory.
Arg mailbox_in_memory(const ptx::Variable& variable, std::uint64_t address) {
  return {.kind = Arg::Kind::memory,
          .access = {.space = Space::local, .offset = static_cast<std::int64_t>(address)},
          .param_variable = &variable};
}

/// The handler that executes a LocalCopy in each lane. aux: index into Program::copies.
void copy_local(Warp& warp, const MicroOp& op, Mask mask) {
  const LocalCopy& copy = warp.program->copies[op.aux];
  if (warp.undefined) warp.undefined->copy(warp, copy, mask);
  for_lanes(mask, [&](std::uint32_t lane) {
    std::byte* const local_memory = warp.local + std::size_t{lane} * warp.program->local_bytes;
    const auto pointer_to = [&](const MemoryAccess& access) {
      const std::uint64_t base =
          access.address_width == 8 ? get<std::uint64_t>(warp.registers + access.address, lane) : 0;
      return local_memory + base + static_cast<std::uint64_t>(access.offset);
    };
    std::memmove(pointer_to(copy.to), pointer_to(copy.from), copy.bytes);
  });
}

}  // namespace

ptx::FlatFunction resolve(const ptx::Module& module, const ptx::Function& function, std::string_view kind) {
  ptx::ResolveResult resolved = ptx::resolve(module, function);
  if (resolved) return std::move(*resolved.function);
  const ptx::Diagnostic& first = resolved.diagnostics.front();
  throw Error(ErrorCode::invalid_argument, fmt::format("{} \"{}\", PTX line {}: {}", kind, function.name,
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

void Decoder::check_limit(std::string_view what, std::uint64_t bytes, std::uint64_t limit) const {
  if (bytes <= limit) return;
  throw Error(ErrorCode::unsupported, fmt::format("kernel \"{}\": {} of {} bytes, at most {} are legal",
                                                  program_.entry, what, bytes, limit));
}

void Decoder::initialise(const ptx::Variable& variable, const ptx::Initializer& value, std::uint64_t& at,
                         std::uint64_t end) {
  const auto reject = [&](const std::string& reason) {
    throw Error(ErrorCode::unsupported,
                fmt::format("PTX line {}: the simulator does not support the initial value of {}: {}",
                            variable.location.line, variable.name, reason));
  };
  if (value.kind == ptx::Initializer::Kind::list) {
    for (const ptx::Initializer& inner : value.elements) initialise(variable, inner, at, end);
    return;
  }
  const std::uint32_t bytes = ptx::bits_of(variable.type) / 8;
  // Returns the offset of the next element, and moves `at` past it.
  const auto take_element = [&] {
    if (bytes == 0 || bytes > 8) reject("a type that is not 8 to 64 bits wide");
    if (end - at < bytes) reject("more values than the variable has elements");
    return std::exchange(at, at + bytes);
  };
  const bool global = variable.space == StateSpace::global;
  const auto store = [&](const ptx::Immediate& literal) {
    auto& bank = global ? program_.global_image : program_.constant_bank;
    std::memcpy(bank.data() + take_element(), &literal.bits, bytes);
  };
  switch (value.kind) {
    case ptx::Initializer::Kind::value: return store(value.value);
    case ptx::Initializer::Kind::literals:
      for (const ptx::Immediate& literal : value.literals) store(literal);
      return;
    default: relocations_.push_back({&variable, &value, take_element(), bytes, global});  // an address
  }
}

void Decoder::place_variable(const ptx::Variable& variable) {
  const std::uint64_t bytes = bytes_of(variable);
  const std::uint64_t alignment = std::max<std::uint64_t>(alignment_of(variable), 1);
  // Appends the variable to a memory that has `size` bytes so far. Returns its offset there.
  const auto append_to = [&](std::uint32_t& size, std::string_view memory, std::uint64_t limit) {
    const std::uint64_t offset = align_up(size, alignment);
    check_limit(memory, offset + bytes, limit);
    size = static_cast<std::uint32_t>(offset + bytes);
    return offset;
  };
  switch (variable.space) {
    case StateSpace::shared:
    case StateSpace::shared_cta:
      // lay_out() places the shared arrays without a size, the dynamic shared memory, after all others.
      addresses_[&variable] =
          shared_base + append_to(program_.static_shared_bytes, "static shared memory", max_shared_bytes);
      break;
    case StateSpace::param: param_variables_.insert(&variable); [[fallthrough]];
    case StateSpace::local:
      if (current_ != nullptr && current_->recursive) {
        frame_variables_.insert(&variable);
        addresses_[&variable] =
            append_to(program_.frames[current_->frame].bytes, "the frame of a function", stack_bytes);
      } else {
        addresses_[&variable] = append_to(program_.local_bytes, "local memory", max_local_bytes);
      }
      break;
    case StateSpace::constant:
    case StateSpace::global: {
      const bool global = variable.space == StateSpace::global;
      auto& bank = global ? program_.global_image : program_.constant_bank;
      const std::uint64_t offset = align_up(bank.size(), alignment);
      check_limit(global ? "global variables" : "constant memory", offset + bytes,
                  global ? max_global_bytes : max_constant_bytes);
      bank.resize(offset + bytes);
      addresses_[&variable] = offset;
      if (variable.initializer) {
        std::uint64_t next = offset;
        initialise(variable, *variable.initializer, next, offset + bytes);
      }
      break;
    }
    default: addresses_[&variable] = 0;  // in a space without memory, such as .tex
  }
}

void Decoder::lay_out(const ptx::Module& module, const ptx::FlatFunction& function) {
  std::vector<const ptx::Variable*> variables;
  std::unordered_set<const ptx::Variable*> used;
  add_used_variables(function, used);
  for (const auto& callee : callees_) add_used_variables(callee->flat, used);
  for (const ptx::Directive& directive : module.directives) {
    const auto* variable = std::get_if<ptx::Variable>(&directive);
    // As with ptxas, a shared variable of the module takes memory only in kernels that use it.
    if (variable != nullptr && (variable->space != StateSpace::shared || used.count(variable) != 0)) {
      variables.push_back(variable);
    }
  }
  const std::size_t module_variable_count = variables.size();
  variables.insert(variables.end(), function.variables.begin(), function.variables.end());
  // lay_out_callee() places the .local and .param variables of a called function. The loop further below
  // places the function's remaining variables.
  for (const auto& callee : callees_) {
    lay_out_callee(*callee);
    for (const ptx::Variable* variable : callee->flat.variables) {
      if (addresses_.count(variable) == 0) variables.push_back(variable);
    }
  }
  current_ = nullptr;
  std::vector<const ptx::Variable*> dynamic_shared;
  std::uint64_t dynamic_alignment = 16;
  for (const ptx::Variable* variable : variables) {
    const bool shared = variable->space == StateSpace::shared || variable->space == StateSpace::shared_cta;
    if (shared && bytes_of(*variable) == 0) {
      dynamic_shared.push_back(variable);
      dynamic_alignment = std::max(dynamic_alignment, alignment_of(*variable));
    } else {
      place_variable(*variable);
    }
  }
  // All shared arrays without a size begin at the same address, the end of static shared memory.
  if (!dynamic_shared.empty()) {
    program_.static_shared_bytes =
        static_cast<std::uint32_t>(align_up(program_.static_shared_bytes, dynamic_alignment));
  }
  for (const ptx::Variable* variable : dynamic_shared)
    addresses_[variable] = shared_base + program_.static_shared_bytes;
  for (const ptx::Variable* variable : std::span(variables).first(module_variable_count)) {
    const bool constant = variable->space == StateSpace::constant;
    if (constant || variable->space == StateSpace::global) {
      program_.variables.push_back({variable->name, constant, addresses_.at(variable), bytes_of(*variable)});
    }
  }
  write_relocations();
  bool has_stack = !program_.frames.empty() || uses_stack(function);
  for (const auto& callee : callees_) has_stack = has_stack || uses_stack(callee->flat);
  if (has_stack) {
    program_.stack_begin = static_cast<std::uint32_t>(align_up(program_.local_bytes, 16));
    program_.local_bytes = program_.stack_begin + stack_bytes;
  }
  for (const ptx::Variable& parameter : function.function->parameters) {
    const std::uint64_t offset =
        align_up(program_.parameter_bytes, std::max<std::uint64_t>(alignment_of(parameter), 1));
    const auto bytes = static_cast<std::uint32_t>(bytes_of(parameter));
    addresses_[&parameter] = offset;
    program_.parameters.push_back({static_cast<std::uint32_t>(offset), bytes});
    program_.parameter_bytes = static_cast<std::uint32_t>(offset) + bytes;
    check_limit("parameters", program_.parameter_bytes, max_parameter_bytes);
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
    const auto value = static_cast<std::uint32_t>(tuning.values.empty() ? 0 : tuning.values.front());
    if (tuning.name == "maxnreg") program_.max_registers = value;
    if (tuning.name == "minnctapersm") program_.min_ctas = value;
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
  // Predicates get their slots last, because the other registers need a larger alignment. A predicate takes 4
  // bytes for all lanes of a warp; any other register takes 4 or 8 bytes a lane.
  registers_.clear();
  for (const ptx::Register& reg : function.registers) {
    Arg& arg = registers_.emplace_back();
    if (reg.vector_width != 1) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("the simulator has no vector registers ({})", reg.name));
    }
    if (ptx::bits_of(reg.type) == 128) {
      // A register of 128 bits is a group of two 64-bit registers, the low half first.
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
  std::size_t depth = 0;
  // Depth first: without recursion, a function is added after all functions that it calls.
  const auto visit = [&](const auto& self, const ptx::Function* caller) -> void {
    if (graph.count(caller) != 0) return;
    if (depth > max_open_calls) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("kernel \"{}\": functions call each other more than {} deep", program_.entry,
                              max_open_calls));
    }
    ptx::FlatFunction flat = resolve(module, *caller, "function");
    const std::vector<const ptx::Function*> called = called_by(flat);
    graph[caller] = called;
    ++depth;
    for (const ptx::Function* each : called) self(self, each);
    --depth;
    callees_.emplace_back(std::make_unique<Callee>())->flat = std::move(flat);
  };
  for (const ptx::Function* each : called_by(function)) visit(visit, each);
  for (const auto& callee : callees_) {
    // A function is recursive if it can call itself, directly or through other functions.
    std::set<const ptx::Function*> reached;
    std::vector<const ptx::Function*> open = graph[callee->flat.function];
    while (!open.empty()) {
      const ptx::Function* each = open.back();
      open.pop_back();
      if (reached.insert(each).second) open.insert(open.end(), graph[each].begin(), graph[each].end());
    }
    callee->recursive = reached.count(callee->flat.function) != 0;
    if (callee->recursive) {
      callee->frame = static_cast<std::uint32_t>(program_.frames.size());
      program_.frames.emplace_back().base = allocate(8 * lanes);
    }
  }
}

void Decoder::lay_out_callee(Callee& callee) {
  // place_variable() places into the frame of *current_ if that function is recursive, else into local
  // memory.
  const auto place_formal = [&](const ptx::Variable& variable) {
    Callee::Formal formal{&variable, {}, static_cast<std::uint32_t>(bytes_of(variable))};
    if (variable.space == StateSpace::reg) {
      if (variable.type == ScalarType::pred || ptx::bits_of(variable.type) > 64) {
        throw Error(ErrorCode::unsupported,
                    fmt::format("function \"{}\": the simulator does not pass {} in a register",
                                callee.flat.function->name, variable.name));
      }
      formal_registers_[&variable] = new_register(is_wide(variable.type));
      formal.mailbox = new_register(is_wide(variable.type));
      return formal;
    }
    if (callee.recursive) {
      // The mailbox is outside the frame. The variable itself gets a second place, in the frame.
      current_ = nullptr;
      place_variable(variable);
      formal.mailbox = mailbox_in_memory(variable, addresses_[&variable]);
    }
    current_ = &callee;
    place_variable(variable);
    if (!callee.recursive) formal.mailbox = mailbox_in_memory(variable, addresses_[&variable]);
    return formal;
  };
  for (const ptx::Variable& variable : callee.flat.function->parameters)
    callee.parameters.push_back(place_formal(variable));
  for (const ptx::Variable& variable : callee.flat.function->results)
    callee.results.push_back(place_formal(variable));
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
  // `address` of a variable in a frame is an offset from the frame's base.
  const bool in_frame = frame_variables_.count(&variable) != 0;
  Arg arg{.kind = Arg::Kind::constant, .bits = address};
  if (param_variables_.count(&variable) != 0) {
    arg.param_variable = &variable;
    arg.access.space = Space::local;
    arg.access.offset = static_cast<std::int64_t>(address);
    if (in_frame) {
      arg.access.address = program_.frames[current_->frame].base;
      arg.access.address_width = 8;
    }
  } else if (in_frame) {
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

void Decoder::emit_transfer(const Callee::Formal& formal, const Arg& operand, bool to_mailbox) {
  const Arg& to = to_mailbox ? formal.mailbox : operand;
  const Arg& from = to_mailbox ? operand : formal.mailbox;
  if (to.param_variable != nullptr && from.param_variable != nullptr) {
    emit(&copy_local, 0, 0, 0, 0, append(program_.copies, {to.access, from.access, formal.bytes}));
    return;
  }
  if (to.param_variable != nullptr || from.param_variable != nullptr)
    unsupported("a copy between a .param and a .reg");
  const ScalarType type = formal.variable->type;
  const Slot source = read(from, type);
  emit(is_wide(type) ? uniform<identity, std::uint64_t, 1> : uniform<identity, std::uint32_t, 1>,
       write(to, type), source);
}

void Decoder::list_frame_registers(Callee& callee) {
  Frame& frame = program_.frames[callee.frame];
  // The registers that the function declares. A register of 128 bits (a group) has two halves.
  for (const Arg& reg : registers_) {
    for (const Arg& each : elements(reg)) frame.numbers.push_back(each.number);
    for (const Arg& half : reg.elements) frame.wide.push_back(half.slot);
    if (reg.kind == Arg::Kind::group) continue;
    (reg.kind == Arg::Kind::predicate ? frame.predicates
     : reg.wide                       ? frame.wide
                                      : frame.narrow)
        .push_back(reg.slot);
  }
  // The registers of its .reg parameters and results.
  for (const auto* formals : {&callee.parameters, &callee.results}) {
    for (const Callee::Formal& formal : *formals) {
      const auto found = formal_registers_.find(formal.variable);
      if (found == formal_registers_.end()) continue;
      (found->second.wide ? frame.wide : frame.narrow).push_back(found->second.slot);
    }
  }
}

void Decoder::emit_transfers(bool at_entry) {
  const Callee& callee = *current_;
  if (at_entry && callee.recursive) emit(&enter_frame, 0, 0, 0, 0, callee.frame);
  for (const Callee::Formal& formal : at_entry ? callee.parameters : callee.results) {
    const bool in_register = formal.variable->space == StateSpace::reg;
    if (!in_register && !callee.recursive) continue;  // the variable is the mailbox
    emit_transfer(formal, variable_arg(*formal.variable, 0), !at_entry);
  }
}

}  // namespace sim
TMAJIT_END
