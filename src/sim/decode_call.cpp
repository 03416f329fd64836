/// The part of decode that is about functions which are called.
#include "sim/call.hpp"
#include "sim/decode.hpp"
#include "sim/variable_size.hpp"
#include "sim/warp.hpp"

#include <tmajit/error.hpp>

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::ScalarType;
using ptx::StateSpace;

/// Functions with a body that the instructions of `flat` call.
std::vector<const ptx::Function*> called_by(const ptx::FlatFunction& flat) {
  std::vector<const ptx::Function*> all;
  for (const ptx::FlatInstruction& instruction : flat.instructions) {
    for (const ptx::Binding& binding : instruction.bindings) {
      const auto* function = std::get_if<const ptx::Function*>(&binding);
      if (function != nullptr && (*function)->body && std::ranges::find(all, *function) == all.end())
        all.push_back(*function);
    }
  }
  return all;
}

Arg mailbox_in_memory(const ptx::Variable& variable, std::uint64_t address) {
  Arg arg;
  arg.kind = Arg::Kind::memory;
  arg.passed = &variable;
  arg.access.space = Space::local;
  arg.access.offset = static_cast<std::int64_t>(address);
  return arg;
}

/// aux: index into Program::copies.
void copy_local(Warp& warp, const MicroOp& op, Mask mask) {
  const LocalCopy& copy = warp.program->copies[op.aux];
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

struct AddAddress {
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a + b; }
};
struct Keep {
  template <typename T>
  T operator()(T value) const {
    return value;
  }
};

}  // namespace

void Decoder::collect_callees(const ptx::Module& module, const ptx::FlatFunction& function) {
  std::map<const ptx::Function*, std::vector<const ptx::Function*>> graph;
  std::vector<const ptx::Function*> open;
  // Depth first; a function is added when all it calls has been.
  const auto visit = [&](const auto& self, const ptx::Function* each) -> void {
    if (graph.count(each) != 0) return;
    if (open.size() > most_calls) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("kernel \"{}\": functions call each other more than {} deep", program_.entry,
                              most_calls));
    }
    ptx::ResolveResult resolved = ptx::resolve(module, *each);
    if (!resolved) {
      const ptx::Diagnostic& first = resolved.diagnostics.front();
      throw Error(ErrorCode::invalid_argument, fmt::format("function \"{}\", PTX line {}: {}", each->name,
                                                           first.location.line, first.message));
    }
    open.push_back(each);
    const auto inner = called_by(*resolved.function);
    graph[each] = inner;
    for (const ptx::Function* other : inner) self(self, other);
    open.pop_back();
    auto& callee = *callees_.emplace_back(std::make_unique<Callee>());
    callee.flat = std::move(*resolved.function);
  };
  for (const ptx::Function* each : called_by(function)) visit(visit, each);
  for (const auto& callee : callees_) {
    // Recursive is who reaches itself.
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
    Callee::Formal result;
    result.variable = &variable;
    result.bytes = static_cast<std::uint32_t>(bytes_of(variable));
    if (variable.space == StateSpace::reg) {
      const bool wide = ptx::bits_of(variable.type) == 64;
      if (variable.type == ScalarType::pred || ptx::bits_of(variable.type) > 64) {
        throw Error(ErrorCode::unsupported,
                    fmt::format("function \"{}\": the simulator does not pass {} in a register",
                                callee.flat.function->name, variable.name));
      }
      Arg& own = formal_registers_[&variable];
      own.kind = Arg::Kind::reg;
      own.wide = wide;
      own.slot = temporary(wide);
      result.mailbox = own;
      result.mailbox.slot = temporary(wide);
      return result;
    }
    if (callee.recursive) {
      // The mailbox first, outside the frame.
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
    bytes = (bytes + 15) / 16 * 16;
  }
}

Arg Decoder::variable_arg(const ptx::Variable& variable, std::int64_t offset) {
  Arg arg;
  if (const auto found = formal_registers_.find(&variable); found != formal_registers_.end()) {
    if (offset != 0) unsupported("a register plus an offset");
    return found->second;
  }
  const auto found = addresses_.find(&variable);
  if (found == addresses_.end()) unsupported("this variable");
  const bool framed = framed_.count(&variable) != 0;
  arg.kind = Arg::Kind::constant;
  arg.bits = found->second + static_cast<std::uint64_t>(offset);
  if (variable.space == StateSpace::global) {
    arg.bits += program_.global_base;
    program_.uses_globals = true;
  }
  if (passed_.count(&variable) != 0) {
    arg.passed = &variable;
    arg.access.space = Space::local;
    arg.access.offset = static_cast<std::int64_t>(arg.bits);
    if (framed) {
      arg.access.address = program_.frames[current_->frame].base;
      arg.access.address_width = 8;
    }
  } else if (framed) {
    arg.kind = Arg::Kind::reg;
    arg.wide = true;
    arg.slot = temporary(true);
    emit(&apply<AddAddress, std::uint64_t, std::uint64_t, std::uint64_t>, arg.slot,
         program_.frames[current_->frame].base, constant(arg.bits, true));
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

void Decoder::emit_copy(const Arg& to, const Arg& from, std::uint32_t bytes, ScalarType type) {
  if (to.passed != nullptr && from.passed != nullptr) {
    program_.copies.push_back({to.access, from.access, bytes});
    emit(&copy_local, 0, 0, 0, 0, static_cast<std::uint32_t>(program_.copies.size() - 1));
    return;
  }
  if (to.passed != nullptr || from.passed != nullptr) unsupported("a .param where a .reg is passed");
  const bool wide = ptx::bits_of(type) == 64;
  const Slot a = read(from, type);
  emit(wide ? &apply<Keep, std::uint64_t, std::uint64_t> : &apply<Keep, std::uint32_t, std::uint32_t>,
       write(to, type), a);
}

void Decoder::describe_frame(Callee& callee) {
  Frame& frame = program_.frames[callee.frame];
  for (const Arg& reg : registers_) {
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

void Decoder::emit_transfers(const Callee& callee, bool enters) {
  if (enters && callee.recursive) emit(&enter_frame, 0, 0, 0, 0, callee.frame);
  for (const Callee::Formal& formal : enters ? callee.parameters : callee.results) {
    const bool in_register = formal.variable->space == StateSpace::reg;
    if (!in_register && !callee.recursive) continue;  // the variable is the mailbox
    const Arg own = variable_arg(*formal.variable, 0);
    emit_copy(enters ? own : formal.mailbox, enters ? formal.mailbox : own, formal.bytes,
              formal.variable->type);
  }
}

void Decoder::emit_results() {
  emit_transfers(*current_, false);
}

void Decoder::decode_callee(Callee& callee) {
  current_ = &callee;
  callee.first = static_cast<std::uint32_t>(program_.code.size());
  decode_function(callee.flat);
}

}  // namespace sim
TMAJIT_END
