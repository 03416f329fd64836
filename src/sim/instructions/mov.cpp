/// Moves between registers (PTX ISA 9.7.9, "mov").
#include "sim/instructions/select.hpp"

TMAJIT_BEGIN
namespace sim {
namespace {

using U32 = std::uint32_t;
using U16 = std::uint16_t;
using U8 = std::uint8_t;
using U64 = std::uint64_t;

// mov between a register and its halves or quarters.

template <typename Whole>
constexpr auto join =
    [](auto low, auto high) { return static_cast<Whole>(Whole{high} << 4 * sizeof(Whole) | low); };
template <U32 shift>
constexpr auto part = [](auto whole) { return whole >> shift; };

Handler moves(ScalarType t) {
  return with_word(t, []<typename T>(T) { return uniform<identity, T, 1>; });
}

/// The type with half as many bits as `t`; .pred if there is none.
ScalarType half_of(ScalarType t) {
  switch (ptx::bits_of(t)) {
    case 64: return ScalarType::b32;
    case 32: return ScalarType::b16;
    case 16: return ScalarType::b8;
    default: return ScalarType::pred;
  }
}

/// The handler that joins two halves into a register.
Handler joins(ScalarType t) {
  switch (ptx::bits_of(t)) {
    case 64: return &apply<join<U64>, U64, U32, U32>;
    case 32: return &apply<join<U32>, U32, U16, U16>;
    default: return &apply<join<U16>, U16, U8, U8>;
  }
}

/// Emits a mov of two or four registers into one.
void emit_join(Decoder& d, ScalarType t, const Arg& to, std::span<const Arg> parts) {
  const ScalarType half = half_of(t);
  if (half == ScalarType::pred) d.unsupported();
  if (parts.size() == 2) {
    const Slot low = d.read(parts[0], half);
    const Slot high = d.read(parts[1], half);
    return d.emit(joins(t), d.write(to, t), low, high);
  }
  if (parts.size() != 4) d.unsupported();
  Slot halves[] = {d.temporary(false), d.temporary(false)};
  for (std::size_t i = 0; i < 2; ++i)
    emit_join(d, half, {.kind = Arg::Kind::reg, .slot = halves[i]}, parts.subspan(2 * i, 2));
  d.emit(joins(t), d.write(to, t), halves[0], halves[1]);
}

/// Emits a mov of one register into two or four.
void emit_split(Decoder& d, ScalarType t, std::span<const Arg> parts, const Arg& from) {
  // Copy the register first: one of the parts may overwrite it.
  const Slot whole = d.temporary(is_wide(t));
  d.emit(moves(t), whole, d.read(from, t));
  constexpr Handler halves_of_64[] = {&apply<part<0>, U32, U64>, &apply<part<32>, U32, U64>};
  constexpr Handler halves_of_32[] = {&apply<part<0>, U16, U32>, &apply<part<16>, U16, U32>};
  constexpr Handler halves_of_16[] = {&apply<part<0>, U8, U16>, &apply<part<8>, U8, U16>};
  constexpr Handler quarters_of_64[] = {&apply<part<0>, U16, U64>, &apply<part<16>, U16, U64>,
                                        &apply<part<32>, U16, U64>, &apply<part<48>, U16, U64>};
  constexpr Handler quarters_of_32[] = {&apply<part<0>, U8, U32>, &apply<part<8>, U8, U32>,
                                        &apply<part<16>, U8, U32>, &apply<part<24>, U8, U32>};
  const std::uint32_t bits = ptx::bits_of(t);
  std::span<const Handler> handlers;
  if (parts.size() == 2 && bits == 64) handlers = halves_of_64;
  if (parts.size() == 2 && bits == 32) handlers = halves_of_32;
  if (parts.size() == 2 && bits == 16) handlers = halves_of_16;
  if (parts.size() == 4 && bits == 64) handlers = quarters_of_64;
  if (parts.size() == 4 && bits == 32) handlers = quarters_of_32;
  if (handlers.empty()) d.unsupported();
  const ScalarType half = half_of(t);
  const ScalarType piece = parts.size() == 2 ? half : half_of(half);
  for (std::size_t i = 0; i < parts.size(); ++i) d.emit(handlers[i], d.write(parts[i], piece), whole);
}

/// Emits a mov of 128 bits. Each operand is a 128-bit register, which counts as two 64-bit registers, or a
/// vector of two 64-bit or four 32-bit registers.
void emit_mov_128(Decoder& d, const Arg& to, const Arg& from) {
  const std::span<const Arg> sources = elements(from);
  const std::span<const Arg> targets = elements(to);
  const auto supported = [](std::span<const Arg> parts) { return parts.size() == 2 || parts.size() == 4; };
  if (!supported(sources) || !supported(targets)) d.unsupported();
  Arg copies[2];
  for (std::size_t i = 0; i < 2; ++i) {
    copies[i] = {.kind = Arg::Kind::reg, .slot = d.temporary(true), .wide = true};
    if (sources.size() == 2) {
      d.emit(moves(ScalarType::b64), copies[i].slot, d.read(sources[i], ScalarType::b64));
    } else {
      emit_join(d, ScalarType::b64, copies[i], sources.subspan(2 * i, 2));
    }
  }
  for (std::size_t i = 0; i < 2; ++i) {
    if (targets.size() == 2) {
      d.emit(moves(ScalarType::b64), d.write(targets[i], ScalarType::b64), copies[i].slot);
    } else {
      emit_split(d, ScalarType::b64, targets.subspan(2 * i, 2), copies[i]);
    }
  }
}

void select_mov(Decoder& d) {
  const ScalarType t = d.type();
  const Arg& to = d.arg(0);
  const Arg& from = d.arg(1);
  if (t == ScalarType::b128) return emit_mov_128(d, to, from);
  if (from.kind == Arg::Kind::group) return emit_join(d, t, to, from.elements);
  if (to.kind == Arg::Kind::group) return emit_split(d, t, to.elements, from);
  d.emit_uniform(t == ScalarType::pred ? &move_predicate : moves(t), t);
}

constexpr Selector move_table[] = {{Opcode::mov, &select_mov}};

}  // namespace

constinit const Selectors move_selectors = move_table;

}  // namespace sim
TMAJIT_END
