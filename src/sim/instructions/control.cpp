/// Control flow: branches, calls, exit (PTX ISA 9.7.12).
#include "sim/cta/cta.hpp"
#include "sim/instructions/select.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <optional>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

void branch(Warp& warp, const MicroOp& op, Mask mask) {
  warp.jump(mask, op.aux);
}

void branch_table(Warp& warp, const MicroOp& op, Mask mask) {
  const auto& table = warp.program->branch_tables[op.aux];
  for_lanes(mask, [&](std::uint32_t lane) {
    const auto index = get<std::uint32_t>(warp.registers + op.a, lane);
    if (index >= table.size()) {
      warp.stop(lane, "branch.index", fmt::format("brx.idx with index {}", index),
                fmt::format("an index below {}", table.size()));
    }
    warp.groups.push_back({1U << lane, table[index], {}});
  });
  warp.active &= ~mask;
  (void)warp.choose();
}

void exit_lanes(Warp& warp, const MicroOp&, Mask mask) {
  if (warp.undefined) warp.undefined->forget(mask);
  warp.retire(mask);
  warp.cta->threads_exited(warp, mask);
}

void trap(Warp& warp, const MicroOp&, Mask mask) {
  warp.stop(first_lane(mask), "trap", "the kernel executed trap");
}

/// nanosleep: other threads run first.
void yield_turn(Warp& warp, const MicroOp&, Mask) {
  warp.park(warp.active, warp.pc, {Wait::Kind::yielded, 0, 0});
}

/// call. aux: index of the function's first micro-operation.
void call(Warp& warp, const MicroOp& op, Mask mask) {
  if (!warp.calls) warp.calls = std::make_unique<CallStack>();
  for_lanes(mask, [&](std::uint32_t lane) {
    auto& calls = warp.calls->calls[lane];
    if (calls.size() == max_open_calls)
      stop_at_full_stack(warp, lane, fmt::format("{} calls are open", calls.size()));
    calls.push_back({warp.pc, warp.calls->top[lane], {}, {}});
  });
  warp.jump(mask, op.aux);
}

/// Restores the registers that enter_frame() has saved.
void leave_frame(Warp& warp, const Frame& frame, Mask mask) {
  if (warp.undefined) warp.undefined->leave(warp, frame, mask);
  std::byte* const registers = warp.registers;
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint64_t* from = warp.calls->calls[lane].back().saved.data();
    for (const Slot slot : frame.narrow) put(registers + slot, lane, static_cast<std::uint32_t>(*from++));
    for (const Slot slot : frame.wide) put(registers + slot, lane, *from++);
    for (const Slot slot : frame.predicates) write_lane(warp, slot, lane, *from++ != 0);
    put(registers + frame.base, lane, *from);
  });
}

/// ret from a function. aux: for a recursive function 1 + its index into Program::frames, else 0. The
/// restored registers may include the guard, so this must be the last micro-operation of the return.
void return_from(Warp& warp, const MicroOp& op, Mask mask) {
  if (op.aux != 0) leave_frame(warp, warp.program->frames[op.aux - 1], mask);
  const auto target = [&](std::uint32_t lane) { return warp.calls->calls[lane].back().return_pc; };
  for_alike(mask, target, [&](std::uint32_t pc, Mask same) {
    for_lanes(same, [&](std::uint32_t lane) {
      warp.calls->top[lane] = warp.calls->calls[lane].back().top;
      warp.calls->calls[lane].pop_back();
    });
    warp.jump(same, pc);
  });
}

void select_bra(Decoder& d) {
  if (d.arg(0).kind != Arg::Kind::label) d.unsupported();
  d.emit_branch(&branch, d.arg(0).bits);
}

void select_brx_idx(Decoder& d) {
  if (d.arg(1).kind != Arg::Kind::table) d.unsupported();
  d.emit(&branch_table, 0, d.read(0, ScalarType::u32), 0, 0, static_cast<std::uint32_t>(d.arg(1).bits));
}

/// The operands of a call.
struct CallForm {
  std::vector<Arg> results;
  std::vector<Arg> arguments;
  const ptx::Function* function = nullptr;
  // An indirect call:
  std::optional<Arg> pointer;
  std::optional<Arg> targets;  ///< the functions that it can reach (Arg::Kind::targets)
};

CallForm call_form(Decoder& d) {
  CallForm form;
  for (const Arg& arg : d.args()) {
    const bool has_target = form.function != nullptr || form.pointer;
    if (arg.kind == Arg::Kind::function && !has_target) {
      form.function = arg.function;
    } else if (arg.kind == Arg::Kind::group) {
      (has_target ? form.arguments : form.results) = arg.elements;
    } else if (arg.kind == Arg::Kind::targets) {
      form.targets = arg;
    } else if (!has_target) {
      form.pointer = arg;
    } else {
      d.unsupported("this operand");
    }
  }
  if (form.function == nullptr && (!form.pointer || !form.targets)) d.unsupported("this function");
  return form;
}

/// Emits the caller's copies of arguments or results. `_` passes no argument, or discards a result.
void emit_transfers(Decoder& d, const std::vector<Callee::Formal>& formals, const std::vector<Arg>& given,
                    bool to_mailbox) {
  for (std::size_t i = 0; i < given.size(); ++i)
    if (given[i].kind != Arg::Kind::sink) d.emit_transfer(formals[i], given[i], to_mailbox);
}

void check_arguments(const Decoder& d, const Callee& target, const CallForm& form) {
  if (form.arguments.size() != target.parameters.size() || form.results.size() > target.results.size())
    d.unsupported("this number of arguments");
}

/// Calls Warp::stop() if address a is not in Program::call_targets[aux].
void check_target(Warp& warp, const MicroOp& op, Mask mask) {
  const auto& targets = warp.program->call_targets[op.aux];
  for_lanes(mask, [&](std::uint32_t lane) {
    const auto address = get<std::uint64_t>(warp.registers + op.a, lane);
    if (std::ranges::find(targets, address) == targets.end()) {
      warp.stop(
          lane, "call.target",
          fmt::format("an indirect call of {:#x}, where there is no function that it can call", address));
    }
  });
}

/// Predicate d = (address a == address b).
void is_address(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::byte* const registers = warp.registers;
    write_lane(warp, op.d, lane,
               get<std::uint64_t>(registers + op.a, lane) == get<std::uint64_t>(registers + op.b, lane));
  });
}

/// Emits an indirect call: one direct call for each function that it can reach, executed by the lanes whose
/// pointer is that function's address.
void emit_indirect(Decoder& d, const CallForm& form) {
  const auto in_memory = [](const Arg& arg) {
    return arg.param_variable != nullptr || arg.kind == Arg::Kind::sink;
  };
  // A result in a register might overwrite the pointer, which later comparisons need.
  if (!std::ranges::all_of(form.results, in_memory)) d.unsupported("a result in a register");
  const auto& functions = d.target_list(*form.targets);
  const Slot pointer = d.read(*form.pointer, ScalarType::b64);
  std::vector<std::uint64_t> addresses;
  addresses.reserve(functions.size());
  for (const ptx::Function* function : functions) addresses.push_back(d.function_address(*function));
  d.program().call_targets.push_back(addresses);
  d.emit(&check_target, 0, pointer, 0, 0, static_cast<std::uint32_t>(d.program().call_targets.size() - 1));
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const Callee* const target = d.callee(functions[i]);
    if (target == nullptr) d.unsupported("this function");
    check_arguments(d, *target, form);
    const Slot chosen = d.temporary(false);
    const Slot address = d.constant(addresses[i], true);
    // First clear the predicate in all lanes: lanes with a false guard would keep an old value.
    const auto choose = [&] {
      const std::uint32_t guard = d.exchange_guard(true_slot);
      d.emit(&move_predicate, chosen, true_slot + 1);
      d.exchange_guard(guard);
      d.emit(&is_address, chosen, pointer, address);
      return d.exchange_guard(chosen);
    };
    std::uint32_t guard = choose();
    emit_transfers(d, target->parameters, form.arguments, true);
    d.emit_call(&call, *target);
    d.exchange_guard(guard);
    if (form.results.empty()) continue;
    // Compute the predicate again: the called function may have executed this call recursively.
    guard = choose();
    emit_transfers(d, target->results, form.results, false);
    d.exchange_guard(guard);
  }
}

void select_call(Decoder& d) {
  const CallForm form = call_form(d);
  if (form.function == nullptr) return emit_indirect(d, form);
  const Callee* const target = d.callee(form.function);
  if (target == nullptr) return select_runtime_call(d, *form.function, form.results, form.arguments);
  check_arguments(d, *target, form);
  emit_transfers(d, target->parameters, form.arguments, true);
  d.emit_call(&call, *target);
  emit_transfers(d, target->results, form.results, false);
}

void select_ret(Decoder& d) {
  const Callee* const function = d.current();
  if (function == nullptr) return d.emit(&exit_lanes);
  d.emit_transfers(false);
  d.emit(&return_from, 0, 0, 0, 0, function->recursive ? function->frame + 1 : 0);
}

constexpr Selector control_table[] = {
    {Opcode::bra, &select_bra},
    {Opcode::brx_idx, &select_brx_idx},
    {Opcode::call, &select_call},
    {Opcode::ret, &select_ret},
    {Opcode::exit, [](Decoder& d) { d.emit(&exit_lanes); }},
    {Opcode::trap, [](Decoder& d) { d.emit(&trap); }},
    {Opcode::brkpt, [](Decoder& d) { d.emit(&trap); }},
    {Opcode::nanosleep, [](Decoder& d) { d.emit(&yield_turn); }},
};

}  // namespace

void stop_at_full_stack(Warp& warp, std::uint32_t lane, std::string found) {
  warp.stop(lane, "call.depth", std::move(found),
            fmt::format("at most {} open calls, and {} bytes of frames of recursive functions and alloca",
                        max_open_calls, stack_bytes));
}

void enter_frame(Warp& warp, const MicroOp& op, Mask mask) {
  const Frame& frame = warp.program->frames[op.aux];
  track_call(warp, frame, mask);
  std::byte* const registers = warp.registers;
  for_lanes(mask, [&](std::uint32_t lane) {
    std::uint32_t& top = warp.calls->top[lane];
    if (frame.bytes > stack_bytes - top)
      stop_at_full_stack(warp, lane, fmt::format("{} bytes of the stack are in use", top));
    auto& saved = warp.calls->calls[lane].back().saved;
    saved.reserve(frame.narrow.size() + frame.wide.size() + frame.predicates.size() + 1);
    for (const Slot slot : frame.narrow) saved.push_back(get<std::uint32_t>(registers + slot, lane));
    for (const Slot slot : frame.wide) saved.push_back(get<std::uint64_t>(registers + slot, lane));
    for (const Slot slot : frame.predicates) saved.push_back(predicate(warp, slot) >> lane & 1);
    saved.push_back(get<std::uint64_t>(registers + frame.base, lane));
    put<std::uint64_t>(registers + frame.base, lane, warp.program->stack_begin + top);
    top += frame.bytes;
  });
}

constinit const Selectors control_selectors = control_table;

}  // namespace sim
TMAJIT_END
