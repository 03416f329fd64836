/// Moves and conversions (PTX ISA 9.7.9, "mov", "cvt").
#include "sim/select.hpp"

#include <utility>

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

template <typename To>
constexpr auto cast = []<typename From>(From value) -> To {
  // From f64 to f32 a NaN keeps its sign and the upper bits of its payload, as on an H200.
  if constexpr (std::is_floating_point_v<To>) {
    if constexpr (std::is_floating_point_v<From> && sizeof(From) <= sizeof(To))
      return canonical(static_cast<To>(value));
  }
  return static_cast<To>(value);
};
/// Integer to integer with .sat.
template <typename To>
constexpr auto clamp = []<typename From>(From value) -> To {
  if (std::cmp_less(value, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  if (std::cmp_greater(value, std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
  return static_cast<To>(value);
};
template <typename To, Round round>
constexpr auto to_whole = []<typename From>(From value) { return to_integer<To>(value, round); };
template <Round round>
constexpr auto integral =
    []<typename T>(T value) { return canonical(static_cast<T>(round_integral(value, round))); };
constexpr auto saturated = []<typename T>(T value) { return value > 0 ? (value < 1 ? value : T{1}) : T{0}; };
constexpr auto flushed = [](float value) { return flush(value); };
template <SmallFormat format>
constexpr auto widen = [](U16 bits) { return decode_small<format>(bits); };
template <SmallFormat format, bool saturate, Round round>
constexpr auto encode = []<typename From>(From value) {
  return encode_small<format>(static_cast<double>(value), saturate, round);
};
template <SmallFormat format, bool saturate, Round round>
constexpr auto encode_pair = [](float high, float low) {
  const U32 bits = format.exponent_bits + format.mantissa_bits == 7 ? 8 : 16;
  return static_cast<U32>(encode<format, saturate, round>(high)) << bits |
         encode<format, saturate, round>(low);
};
template <SmallFormat format>
constexpr auto widen_pair = [](U16 bits) {
  const auto half = [](U32 b) {
    return encode_small<f16_format>(static_cast<double>(decode_small<format>(b)), false);
  };
  return half(bits & 0xff) | static_cast<U32>(half(bits >> 8)) << 16;
};
template <bool away>
constexpr auto rounded_tf32 = [](U32 bits) { return to_tf32(bits, away); };

/// What visit.operator()<Round>() gives for the rounding to an integer that the instruction names; null
/// without one.
template <typename Visit>
Handler with_round(const Decoder& d, const Visit& visit) {
  if (d.has("rni")) return visit.template operator()<Round::nearest>();
  if (d.has("rmi")) return visit.template operator()<Round::down>();
  if (d.has("rpi")) return visit.template operator()<Round::up>();
  return d.has("rzi") ? visit.template operator()<Round::zero>() : nullptr;
}

template <typename To, typename From>
Handler numeric(const Decoder& d) {
  if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    return d.has("sat") ? &apply<clamp<To>, To, From> : &apply<cast<To>, To, From>;
  } else if constexpr (std::is_integral_v<To>) {
    const Handler handler =
        with_round(d, []<Round round>() -> Handler { return &apply<to_whole<To, round>, To, From>; });
    return handler != nullptr ? handler : &apply<to_whole<To, Round::zero>, To, From>;
  } else {
    if constexpr (std::is_same_v<To, From>) {
      const auto pick = []<Round round>() -> Handler { return uniform<integral<round>, To, 1>; };
      if (const Handler handler = with_round(d, pick); handler != nullptr) return handler;
      if (d.has("sat")) return &apply<saturated, To, From>;
      if constexpr (std::is_same_v<To, float>) {
        if (d.has("ftz")) return &apply<flushed, float, float>;
      }
    } else if (d.has("sat") || d.has("ftz")) {
      return nullptr;
    }
    return rounded<&apply<cast<To>, To, From>>(d);
  }
}

/// From one f32, or a pair of them.
template <SmallFormat format, bool pair>
Handler encode_handler(const Decoder& d) {
  if (d.has("rm") || d.has("rp") || d.has("relu") || d.has("ftz") || d.has("sat")) return nullptr;
  return with_flags(
      [](auto saturate, auto to_zero) -> Handler {
        constexpr Round round = to_zero ? Round::zero : Round::nearest;
        if constexpr (pair) return &apply<encode_pair<format, saturate, round>, U32, float, float>;
        return &apply<encode<format, saturate, round>, U16, float>;
      },
      d.has("satfinite"), d.has("rz"));
}

Handler handler_of(const Decoder& d, ScalarType to, ScalarType from) {
  if (from == ScalarType::f32) {
    switch (to) {
      case ScalarType::f16: return encode_handler<f16_format, false>(d);
      case ScalarType::bf16: return encode_handler<bf16_format, false>(d);
      case ScalarType::f16x2: return encode_handler<f16_format, true>(d);
      case ScalarType::bf16x2: return encode_handler<bf16_format, true>(d);
      case ScalarType::e4m3x2: return encode_handler<e4m3_format, true>(d);
      case ScalarType::e5m2x2: return encode_handler<e5m2_format, true>(d);
      case ScalarType::tf32:
        return d.has("rna") ? &apply<rounded_tf32<true>, U32, U32> : &apply<rounded_tf32<false>, U32, U32>;
      default: break;
    }
  }
  if (to == ScalarType::f16x2) {
    if (from == ScalarType::e4m3x2) return &apply<widen_pair<e4m3_format>, U32, U16>;
    if (from == ScalarType::e5m2x2) return &apply<widen_pair<e5m2_format>, U32, U16>;
  }
  if (from == ScalarType::f16 && to == ScalarType::f32) return &apply<widen<f16_format>, float, U16>;
  if (from == ScalarType::bf16 && to == ScalarType::f32) return &apply<widen<bf16_format>, float, U16>;
  return with_number(to, [&]<typename To>(To) {
    return with_number(from, [&]<typename From>(From) { return numeric<To, From>(d); });
  });
}

void select_cvt(Decoder& d) {
  const auto types = d.in().types();
  if (types.size() != 2) d.unsupported();
  const ScalarType to = types[0];
  const ScalarType from = types[1];
  const Slot a = d.read(1, from);
  const Slot b = d.args().size() > 2 ? d.read(2, from) : 0;
  // Halves meet the other types in f32, which holds every one of them.
  if (is_half(from) && !is_half_pair(from) && to != ScalarType::f32) {
    const Slot middle = d.temporary(false);
    d.emit(handler_of(d, ScalarType::f32, from), middle, a);
    d.emit(handler_of(d, to, ScalarType::f32), d.write(0, to), middle);
  } else {
    d.emit(handler_of(d, to, from), d.write(0, to), a, b);
  }
}

constexpr Selector table[] = {{Opcode::mov, &select_mov}, {Opcode::cvt, &select_cvt}};

}  // namespace

constinit const Selectors move_selectors = table;

}  // namespace sim
TMAJIT_END
