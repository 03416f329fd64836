/// Moves between registers (PTX ISA 9.7.9, "mov").
#include "sim/select.hpp"

TMAJIT_BEGIN
namespace sim {
namespace {

using U32 = std::uint32_t;
using U16 = std::uint16_t;
using U64 = std::uint64_t;

// mov between a 64- or 32-bit register and its parts.

template <typename Whole>
constexpr auto join =
    [](auto low, auto high) { return static_cast<Whole>(Whole{high} << 4 * sizeof(Whole) | low); };
template <U32 shift>
constexpr auto part = [](auto whole) { return whole >> shift; };

Handler moves(ScalarType t) {
  return with_word(t, []<typename T>(T) { return uniform<keep, T, 1>; });
}

/// mov of 128 bits: two registers of 64, or the halves of one of 128, which are the same thing.
void emit_mov_128(Decoder& d, const Arg& to, const Arg& from) {
  const auto is_pair = [](const Arg& arg) {
    return arg.kind == Arg::Kind::group && arg.elements.size() == 2;
  };
  if (!is_pair(to) || !is_pair(from)) d.unsupported();
  constexpr Handler move = uniform<keep, U64, 1>;
  const Slot kept[] = {d.temporary(true), d.temporary(true)};
  for (std::size_t i = 0; i < 2; ++i) d.emit(move, kept[i], d.read(from.elements[i], ScalarType::b64));
  for (std::size_t i = 0; i < 2; ++i) d.emit(move, d.write(to.elements[i], ScalarType::b64), kept[i]);
}

/// mov of several registers into one.
void emit_join(Decoder& d, ScalarType t, const Arg& to, const std::vector<Arg>& parts) {
  constexpr Handler join16 = &apply<join<U32>, U32, U16, U16>;
  constexpr Handler join32 = &apply<join<U64>, U64, U32, U32>;
  const bool wide = is_wide(t);
  if (parts.size() == 2) {
    const ScalarType part = wide ? ScalarType::b32 : ScalarType::b16;
    const Slot low = d.read(parts[0], part);
    const Slot high = d.read(parts[1], part);
    d.emit(wide ? join32 : join16, d.write(to, t), low, high);
  } else if (parts.size() == 4 && wide) {
    const Slot half[] = {d.temporary(false), d.temporary(false)};
    for (std::size_t i = 0; i < 2; ++i) {
      const Slot low = d.read(parts[2 * i], ScalarType::b16);
      const Slot high = d.read(parts[2 * i + 1], ScalarType::b16);
      d.emit(join16, half[i], low, high);
    }
    d.emit(join32, d.write(to, t), half[0], half[1]);
  } else {
    d.unsupported();
  }
}

/// mov of one register into several.
void emit_split(Decoder& d, ScalarType t, const std::vector<Arg>& parts, const Arg& from) {
  // Copied first: a part may be written to the register that is taken apart.
  const Slot whole = d.temporary(is_wide(t));
  d.emit(moves(t), whole, d.read(from, t));
  constexpr Handler halves_of_64[] = {&apply<part<0>, U32, U64>, &apply<part<32>, U32, U64>};
  constexpr Handler halves_of_32[] = {&apply<part<0>, U16, U32>, &apply<part<16>, U16, U32>};
  constexpr Handler quarters_of_64[] = {&apply<part<0>, U16, U64>, &apply<part<16>, U16, U64>,
                                        &apply<part<32>, U16, U64>, &apply<part<48>, U16, U64>};
  const Handler* handlers = nullptr;
  if (parts.size() == 2) handlers = is_wide(t) ? halves_of_64 : halves_of_32;
  if (parts.size() == 4 && is_wide(t)) handlers = quarters_of_64;
  if (handlers == nullptr) d.unsupported();
  const ScalarType part = handlers == halves_of_64 ? ScalarType::b32 : ScalarType::b16;
  for (const Arg& to : parts) d.emit(*handlers++, d.write(to, part), whole);
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

constexpr Selector table[] = {{Opcode::mov, &select_mov}};

}  // namespace

constinit const Selectors move_selectors = table;

}  // namespace sim
TMAJIT_END
