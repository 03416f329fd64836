/// Calls of functions (PTX ISA 9.7.12, "call", "ret").
#include "sim/call.hpp"
#include "sim/cta.hpp"
#include "sim/decode.hpp"

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::Opcode;
using ptx::ScalarType;

[[noreturn]] void too_deep(Warp& warp, std::uint32_t lane, std::string found) {
  warp.cta->fail(warp, lane, "call.depth", std::move(found),
                 fmt::format("at most {} open calls, and {} bytes of frames of recursive functions",
                             most_calls, stack_bytes),
                 "look for a recursion that never ends");
}

void call(Warp& warp, const MicroOp& op, Mask mask) {
  if (!warp.calls) warp.calls = std::make_unique<CallStack>();
  for_lanes(mask, [&](std::uint32_t lane) {
    auto& calls = warp.calls->calls[lane];
    if (calls.size() == most_calls) too_deep(warp, lane, fmt::format("{} calls are open", calls.size()));
    calls.push_back({warp.pc, {}});
  });
  if (mask == warp.active) {
    warp.pc = op.aux;
    return;
  }
  warp.groups.push_back({mask, op.aux, {}});
  warp.active &= ~mask;
  warp.update_join();
}

void leave_frame(Warp& warp, const Frame& frame, Mask mask) {
  std::byte* const r = warp.registers;
  for_lanes(mask, [&](std::uint32_t lane) {
    warp.calls->top[lane] -= frame.bytes;
    const std::uint64_t* from = warp.calls->calls[lane].back().saved.data();
    for (const Slot slot : frame.narrow) put(r + slot, lane, static_cast<std::uint32_t>(*from++));
    for (const Slot slot : frame.wide) put(r + slot, lane, *from++);
    for (const Slot slot : frame.predicates) {
      Mask& p = predicate(warp, slot);
      p = (p & ~(1U << lane)) | static_cast<Mask>(*from++) << lane;
    }
    put(r + frame.base, lane, *from);
  });
}

/// aux: index into Program::frames plus 1 for a recursive function, whose registers are restored; among them
/// may be the guard, so nothing of the function comes after this.
void return_from(Warp& warp, const MicroOp& op, Mask mask) {
  if (op.aux != 0) leave_frame(warp, warp.program->frames[op.aux - 1], mask);
  Mask left = mask;
  while (left != 0) {
    const std::uint32_t pc =
        warp.calls->calls[static_cast<std::uint32_t>(std::countr_zero(left))].back().return_pc;
    Mask same = 0;
    for_lanes(left, [&](std::uint32_t lane) {
      if (warp.calls->calls[lane].back().return_pc == pc) same |= 1U << lane;
    });
    for_lanes(same, [&](std::uint32_t lane) { warp.calls->calls[lane].pop_back(); });
    left &= ~same;
    if (same == warp.active) {
      warp.pc = pc;
      return;
    }
    warp.groups.push_back({same, pc, {}});
    warp.active &= ~same;
  }
  (void)warp.choose();
}

void emit_transfer(Decoder& d, const Callee::Formal& formal, const Arg& given, bool to_formal) {
  // `_` leaves a result where it is.
  if (given.kind == Arg::Kind::sink) return;
  d.emit_copy(to_formal ? formal.mailbox : given, to_formal ? given : formal.mailbox, formal.bytes,
              formal.variable->type);
}

bool emit_runtime_call(Decoder& d, const ptx::Function& function, const std::vector<Arg>& results,
                       const std::vector<Arg>& arguments) {
  Handler handler = nullptr;
  std::size_t count = 0;
  if (function.name == "vprintf") {
    handler = &print_formatted;
    count = 2;
  } else if (function.name == "__assertfail") {
    handler = &fail_assertion;
    count = 5;
  }
  if (handler == nullptr)
    d.unsupported(fmt::format("a call of {}, which has no body in this module,", function.name));
  if (arguments.size() != count) d.unsupported("this number of arguments");
  const auto first = static_cast<std::uint32_t>(d.program().accesses.size());
  for (const auto* list : {&arguments, &results}) {
    for (const Arg& arg : *list) {
      if (arg.passed == nullptr) d.unsupported("an argument that is no .param");
      d.program().accesses.push_back(arg.access);
    }
  }
  d.emit(handler, 0, static_cast<Slot>(results.size()), 0, 0, first);
  return true;
}

bool emit_call(Decoder& d) {
  std::vector<Arg> results;
  std::vector<Arg> arguments;
  const ptx::Function* function = nullptr;
  for (const Arg& arg : d.args()) {
    if (arg.kind == Arg::Kind::function) {
      function = arg.function;
    } else if (arg.kind == Arg::Kind::group) {
      (function == nullptr ? results : arguments) = arg.elements;
    } else {
      d.unsupported("an indirect call");
    }
  }
  if (function == nullptr) d.unsupported("an indirect call");
  const Callee* const target = d.callee(function);
  if (target == nullptr) return emit_runtime_call(d, *function, results, arguments);
  if (arguments.size() != target->parameters.size() || results.size() > target->results.size())
    d.unsupported("this number of arguments");
  for (std::size_t i = 0; i < arguments.size(); ++i)
    emit_transfer(d, target->parameters[i], arguments[i], true);
  d.emit_call(&call, *target);
  for (std::size_t i = 0; i < results.size(); ++i) emit_transfer(d, target->results[i], results[i], false);
  return true;
}

}  // namespace

void enter_frame(Warp& warp, const MicroOp& op, Mask mask) {
  const Frame& frame = warp.program->frames[op.aux];
  std::byte* const r = warp.registers;
  for_lanes(mask, [&](std::uint32_t lane) {
    std::uint32_t& top = warp.calls->top[lane];
    if (frame.bytes > stack_bytes - top)
      too_deep(warp, lane, fmt::format("{} bytes of frames of recursive functions are in use", top));
    auto& saved = warp.calls->calls[lane].back().saved;
    saved.reserve(frame.narrow.size() + frame.wide.size() + frame.predicates.size() + 1);
    for (const Slot slot : frame.narrow) saved.push_back(get<std::uint32_t>(r + slot, lane));
    for (const Slot slot : frame.wide) saved.push_back(get<std::uint64_t>(r + slot, lane));
    for (const Slot slot : frame.predicates) saved.push_back(predicate(warp, slot) >> lane & 1);
    saved.push_back(get<std::uint64_t>(r + frame.base, lane));
    put<std::uint64_t>(r + frame.base, lane, warp.program->stack_begin + top);
    top += frame.bytes;
  });
}

bool select_call(Decoder& d) {
  switch (d.in().opcode) {
    case Opcode::call: return emit_call(d);
    case Opcode::ret:
      if (d.current() == nullptr) return false;
      d.emit_results();
      d.emit(&return_from, 0, 0, 0, 0, d.current()->recursive ? d.current()->frame + 1 : 0);
      return true;
    default: return false;
  }
}

}  // namespace sim
TMAJIT_END
