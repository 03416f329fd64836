/// The stack of a thread (PTX ISA 9.7.17): a part of its local memory. The frames of recursive functions are
/// there, too.
#include "sim/instructions/select.hpp"

#include <bit>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

CallStack& stack_of(Warp& warp) {
  if (!warp.calls) warp.calls = std::make_unique<CallStack>();
  return *warp.calls;
}

/// alloca of b bytes. d: their address, a multiple of c. d and b have type T.
template <typename T>
void allocate(Warp& warp, const MicroOp& op, Mask mask) {
  CallStack& stack = stack_of(warp);
  const std::uint64_t begin = warp.program->stack_begin;
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint64_t bytes = get<T>(warp.registers + op.b, lane);
    const std::uint64_t at = align_up(begin + stack.top[lane], op.c) - begin;
    if (bytes > stack_bytes || at + bytes > stack_bytes)
      stop_at_full_stack(
          warp, lane,
          fmt::format("alloca of {} bytes, where {} of the stack are in use", bytes, stack.top[lane]));
    stack.top[lane] = static_cast<std::uint32_t>(at + bytes);
    put(warp.registers + op.d, lane, static_cast<T>(begin + at));
  });
}

/// stacksave. d: the address of the stack's top.
template <typename T>
void save(Warp& warp, const MicroOp& op, Mask mask) {
  const CallStack& stack = stack_of(warp);
  const std::uint64_t begin = warp.program->stack_begin;
  for_lanes(mask, [&](std::uint32_t lane) {
    put(warp.registers + op.d, lane, static_cast<T>(begin + stack.top[lane]));
  });
}

/// stackrestore. a: an address from stacksave.
template <typename T>
void restore(Warp& warp, const MicroOp& op, Mask mask) {
  CallStack& stack = stack_of(warp);
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint64_t top = get<T>(warp.registers + op.a, lane) - std::uint64_t{warp.program->stack_begin};
    if (top > stack.top[lane]) {
      warp.stop(lane, "call.depth", "stackrestore of an address that stacksave has not returned",
                "an address from a stacksave when no more of the stack was in use than now");
    }
    stack.top[lane] = static_cast<std::uint32_t>(top);
  });
}

void select_alloca(Decoder& d) {
  constexpr std::uint64_t default_alignment = 8;
  const ScalarType t = d.type();
  const std::uint64_t alignment = d.args().size() > 2 ? d.literal(d.arg(2)) : default_alignment;
  if (!std::has_single_bit(alignment) || alignment > stack_bytes) d.unsupported("this alignment");
  const Slot bytes = d.read(1, t);
  d.emit(is_wide(t) ? &allocate<std::uint64_t> : &allocate<std::uint32_t>, d.write(0, t), 0, bytes,
         static_cast<Slot>(alignment));
}

void select_save(Decoder& d) {
  const ScalarType t = d.type();
  d.emit(is_wide(t) ? &save<std::uint64_t> : &save<std::uint32_t>, d.write(0, t));
}

void select_restore(Decoder& d) {
  const ScalarType t = d.type();
  d.emit(is_wide(t) ? &restore<std::uint64_t> : &restore<std::uint32_t>, 0, d.read(0, t));
}

constexpr Selector stack_table[] = {
    {Opcode::alloca_, &select_alloca},
    {Opcode::stacksave, &select_save},
    {Opcode::stackrestore, &select_restore},
};

}  // namespace

constinit const Selectors stack_selectors = stack_table;

}  // namespace sim
TMAJIT_END
