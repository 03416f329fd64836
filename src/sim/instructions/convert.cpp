/// Conversions (PTX ISA 9.7.9, "cvt" and "cvt.pack"). The cases convert.* of the conformance suite compare
/// every form of cvt with the CPU.
#include "sim/instructions/select.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

TMAJIT_BEGIN
namespace sim {
namespace conversions {
namespace {

using U32 = std::uint32_t;
using U16 = std::uint16_t;
using U64 = std::uint64_t;

// Results for NaNs and subnormal numbers were measured on an H200: docs/tma.md, "What cvt does".

/// Quiets a NaN. f64 NaNs keep their sign and payload, f32 NaNs become the canonical one.
double quiet(double value) {
  return value != value ? std::bit_cast<double>(std::bit_cast<U64>(value) | U64{1} << 51) : value;
}
float quiet(float value) {
  return canonical(value);
}

template <typename To>
constexpr auto cast = []<typename From>(From value) -> To { return static_cast<To>(value); };
/// Converts f64 to f32 with .ftz. The result is zero if the number, rounded as if exponents were unbounded,
/// is less than the smallest normal f32. Some such numbers round to the smallest normal f32 under the wider
/// spacing of subnormal numbers; these are flushed, too.
constexpr auto narrowed_and_flushed = [](double value) -> float {
  const auto narrow = static_cast<float>(value);
  if (!(std::fabs(narrow) <= std::numeric_limits<float>::min())) return narrow;
  // Scaled by 2^64 the number is normal, so it is rounded to all bits; 2^-62 is the scaled smallest normal
  // f32.
  const bool is_tiny = std::fabs(static_cast<float>(value * 0x1p64)) < 0x1p-62F;
  return is_tiny ? std::copysign(0.0F, narrow) : narrow;
};
/// Converts an integer to an integer with .sat.
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
    []<typename T>(T value) { return quiet(static_cast<T>(round_integral(value, round))); };
/// .sat of a float result, applied to the operand before the conversion: see add_bounds().
constexpr auto saturated = []<typename T>(T value) { return value > 0 ? (value < 1 ? value : T{1}) : T{0}; };
constexpr auto flushed = [](float value) { return quiet(flush(value)); };
/// .relu of a float result, applied to the operand before the conversion. NaN stays NaN.
constexpr auto rectified = [](float value) { return value <= 0 ? 0.0F : value; };
template <SmallFormat format>
constexpr auto widen = [](U16 bits) { return decode_small<format>(bits); };
/// Converts to f64, which keeps the sign and the payload of a NaN.
template <SmallFormat format>
constexpr auto widen_to_f64 = [](U16 bits) -> double {
  const auto value = static_cast<double>(decode_small<format>(bits));
  if (value == value) return value;
  const U64 payload = U64{bits} << (52 - format.mantissa_bits);
  return quiet(std::copysign(std::bit_cast<double>(payload | U64{0x7ff} << 52), (bits >> 15) != 0 ? -1 : 1));
};
/// Converts bf16 to f32: bf16 is the upper half of an f32.
constexpr auto widen_bits = [](U16 bits) { return std::bit_cast<float>(U32{bits} << 16); };

/// A double that rounds to a float of at most 16 bits as `value` does.
template <typename From>
double for_narrow(From value) {
  if constexpr (std::is_integral_v<From> && sizeof(From) == 8) {
    // f64 cannot hold a magnitude of more than 53 bits. Replace its last 12 bits by one sticky bit.
    const bool negative = std::cmp_less(value, 0);
    U64 magnitude = negative ? U64{0} - static_cast<U64>(value) : static_cast<U64>(value);
    constexpr U64 last = 0xfff;
    if (magnitude >> 53 != 0) magnitude = (magnitude & ~last) | ((magnitude & last) != 0 ? last + 1 : 0);
    return negative ? -static_cast<double>(magnitude) : static_cast<double>(magnitude);
  } else {
    return static_cast<double>(value);
  }
}
template <SmallFormat format>
constexpr U32 bits_of_format = 1 + format.exponent_bits + format.mantissa_bits;
template <SmallFormat format, bool saturate, Round round>
constexpr auto encode = []<typename From>(From value) -> U16 {
  if constexpr (std::is_same_v<From, double>) {
    // Keep the sign and the upper payload bits of a NaN.
    constexpr U32 magnitude = (U32{1} << (bits_of_format<format> - 1)) - 1;
    constexpr U32 infinity = magnitude & ~((U32{1} << format.mantissa_bits) - 1);
    if (is_nan(value)) {
      const U64 payload =
          std::bit_cast<U64>(quiet(value)) >> (52 - format.mantissa_bits) & (magnitude ^ infinity);
      return static_cast<U16>((std::signbit(value) ? magnitude + 1 : 0) | infinity | payload);
    }
  }
  return encode_small<format>(for_narrow(value), saturate, round);
};
template <SmallFormat format, bool saturate, Round round>
constexpr auto encode_pair = [](float high, float low) {
  return static_cast<U32>(encode<format, saturate, round>(high)) << bits_of_format<format> |
         encode<format, saturate, round>(low);
};
/// Converts two halves to two values of 8 bits.
template <SmallFormat format, bool relu>
constexpr auto narrow_pair = [](U32 pair) {
  const auto narrow = [](U32 bits) {
    const float value = decode_small<f16_format>(bits);
    return U32{encode<format, true, Round::nearest>(relu ? rectified(value) : value)};
  };
  return static_cast<U16>(narrow(pair & 0xffff) | narrow(pair >> 16) << 8);
};
/// Converts two values of 8 bits to two halves.
template <SmallFormat format, bool relu>
constexpr auto widen_pair = [](U16 pair) {
  const auto half = [](U32 bits) {
    const float value = decode_small<format>(bits);
    return U32{encode<f16_format, false, Round::nearest>(relu ? rectified(value) : value)};
  };
  return half(pair & 0xff) | half(pair >> 8) << 16;
};
template <bool to_zero, bool away, bool saturate>
constexpr auto rounded_tf32 = [](U32 bits) {
  const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  const U32 rounded =
      is_nan ? (away ? bits & ~0x1fffU : tf32_nan) : (to_zero ? bits & ~0x1fffU : to_tf32(bits, away));
  // .satfinite subtracts one unit in the last place from an infinity, and also from a NaN, most of which stay
  // NaNs.
  return saturate && (rounded & 0x7f800000) == 0x7f800000 ? rounded - 0x2000 : rounded;
};

/// Returns visit.operator()<Round>() for the instruction's rounding to an integer (.rni …); null if it has
/// none.
template <typename Visit>
Handler with_round(const Decoder& d, const Visit& visit) {
  if (d.has("rni")) return visit.template operator()<Round::nearest>();
  if (d.has("rmi")) return visit.template operator()<Round::down>();
  if (d.has("rpi")) return visit.template operator()<Round::up>();
  return d.has("rzi") ? visit.template operator()<Round::zero>() : nullptr;
}

/// The handler of a conversion between integers, f32 and f64.
template <typename To, typename From>
Handler numeric(const Decoder& d) {
  if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    return d.has("sat") ? &apply<clamp<To>, To, From> : &apply<cast<To>, To, From>;
  } else if constexpr (std::is_integral_v<To>) {
    const Handler handler =
        with_round(d, []<Round round>() -> Handler { return &apply<to_whole<To, round>, To, From>; });
    return handler != nullptr ? handler : &apply<to_whole<To, Round::zero>, To, From>;
  } else {
    if constexpr (std::is_same_v<To, float> && std::is_same_v<From, double>) {
      if (d.has("ftz")) return rounded<&apply<narrowed_and_flushed, float, double>>(d);
    }
    return rounded<&apply<cast<To>, To, From>>(d);
  }
}

/// Returns visit.operator()<saturate, Round>() for the instruction's .satfinite and rounding.
template <typename Visit>
Handler with_narrowing(const Decoder& d, const Visit& visit) {
  return with_flags(
      [&](auto saturate) -> Handler {
        if (d.has("rz")) return visit.template operator()<saturate, Round::zero>();
        if (d.has("rm")) return visit.template operator()<saturate, Round::down>();
        if (d.has("rp")) return visit.template operator()<saturate, Round::up>();
        return visit.template operator()<saturate, Round::nearest>();
      },
      d.has("satfinite"));
}

template <SmallFormat format>
Handler to_half(const Decoder& d, ScalarType from) {
  return with_number(from, [&]<typename From>(From) {
    return with_narrowing(d, []<bool saturate, Round round>() -> Handler {
      return &apply<encode<format, saturate, round>, U16, From>;
    });
  });
}
template <SmallFormat format>
Handler to_pair(const Decoder& d) {
  return with_narrowing(d, []<bool saturate, Round round>() -> Handler {
    return &apply<encode_pair<format, saturate, round>, U32, float, float>;
  });
}
template <SmallFormat format>
Handler between_pairs(const Decoder& d, bool narrows) {
  return with_flags(
      [narrows](auto relu) -> Handler {
        return narrows ? &apply<narrow_pair<format, relu>, U16, U32>
                       : &apply<widen_pair<format, relu>, U32, U16>;
      },
      d.has("relu"));
}

Handler to_tf32_handler(const Decoder& d) {
  return with_flags(
      [](auto to_zero, auto away, auto saturate) -> Handler {
        return &apply<rounded_tf32<to_zero, away, saturate>, U32, U32>;
      },
      d.has("rz"), d.has("rna"), d.has("satfinite"));
}

/// The handler of a conversion from a type other than f16 and bf16.
Handler handler_of(const Decoder& d, ScalarType to, ScalarType from) {
  switch (to) {
    case ScalarType::f16: return to_half<f16_format>(d, from);
    case ScalarType::bf16: return to_half<bf16_format>(d, from);
    case ScalarType::tf32: return to_tf32_handler(d);
    default:
      return with_number(to, [&]<typename To>(To) {
        return with_number(from, [&]<typename From>(From) { return numeric<To, From>(d); });
      });
  }
}

/// A chain of conversions, each a handler and the type of its result.
class Steps {
 public:
  Steps(Decoder& d, ScalarType from) : d_(d), type_(from) {}

  void add(Handler handler, ScalarType to) {
    steps_.push_back({handler, to});
    type_ = to;
  }
  /// The type of the last result.
  [[nodiscard]] ScalarType type() const { return type_; }
  [[nodiscard]] bool empty() const { return steps_.empty(); }

  /// Emits the chain from the slot `at` to the slot of operand 0.
  void emit(Slot at) {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const auto& [handler, to] = steps_[i];
      const Slot next = i + 1 < steps_.size() ? d_.temporary(is_wide(to)) : d_.write(0, to);
      d_.emit(handler, next, std::exchange(at, next));
    }
  }
  /// Emits the chain from the slot `at` to a temporary, and returns that; returns `at` if there are no steps.
  [[nodiscard]] Slot result(Slot at) {
    for (const auto& [handler, to] : steps_) {
      const Slot next = d_.temporary(is_wide(to));
      d_.emit(handler, next, std::exchange(at, next));
    }
    return at;
  }

 private:
  Decoder& d_;
  ScalarType type_;
  std::vector<std::pair<Handler, ScalarType>> steps_;
};

/// Applies .sat and .relu of a float result to the source. The result is the same, because conversions are
/// monotonic and every type has zero and one.
void add_bounds(const Decoder& d, ScalarType to, Steps& steps) {
  const ScalarType type = steps.type();
  if (d.has("sat") && ptx::is_float(to)) {
    steps.add(with_number(type, []<typename T>(T) -> Handler { return uniform<saturated, T, 1>; }), type);
  }
  if (d.has("relu")) steps.add(&apply<rectified, float, float>, type);
}

/// Converts f16 and bf16 to f32 first, or to f64 if that is the destination, to keep the bits of NaNs.
void add_widening(const Decoder& d, ScalarType to, ScalarType from, Steps& steps) {
  const bool is_bf16 = from == ScalarType::bf16;
  if (!is_bf16 && from != ScalarType::f16) return;
  if (to == ScalarType::f64) {
    return steps.add(is_bf16 ? &apply<widen_to_f64<bf16_format>, double, U16>
                             : &apply<widen_to_f64<f16_format>, double, U16>,
                     to);
  }
  const Handler to_f32 = to == ScalarType::f32 && !d.has("ftz") ? &apply<widen_bits, float, U16>
                                                                : &apply<widen<bf16_format>, float, U16>;
  steps.add(is_bf16 ? to_f32 : &apply<widen<f16_format>, float, U16>, ScalarType::f32);
}

void emit_one(Decoder& d, ScalarType to, ScalarType from) {
  const Slot source = d.read(1, from);
  Steps steps(d, from);
  add_widening(d, to, from, steps);
  if (d.has("ftz") && from == ScalarType::f32 && to != ScalarType::f16)
    steps.add(&apply<flushed, float, float>, from);
  add_bounds(d, to, steps);
  if (ptx::is_float(to) && ptx::is_float(steps.type())) {
    const ScalarType type = steps.type();
    const Handler whole = with_round(d, [type]<Round round>() -> Handler {
      return type == ScalarType::f64 ? uniform<integral<round>, double, 1>
                                     : uniform<integral<round>, float, 1>;
    });
    if (whole != nullptr) steps.add(whole, type);
  }
  if (steps.empty() || steps.type() != to) steps.add(handler_of(d, to, steps.type()), to);
  if (d.has("ftz") && to == ScalarType::f32 && ptx::bits_of(from) == 16)
    steps.add(&apply<flushed, float, float>, to);
  steps.emit(source);
}

/// Selects a conversion of two f32 to one register.
void emit_pair(Decoder& d, ScalarType to) {
  Handler handler = nullptr;
  switch (to) {
    case ScalarType::f16x2: handler = to_pair<f16_format>(d); break;
    case ScalarType::bf16x2: handler = to_pair<bf16_format>(d); break;
    case ScalarType::e4m3x2: handler = to_pair<e4m3_format>(d); break;
    case ScalarType::e5m2x2: handler = to_pair<e5m2_format>(d); break;
    default: d.unsupported();
  }
  const auto source = [&](std::size_t i) {
    Steps steps(d, ScalarType::f32);
    add_bounds(d, to, steps);
    return steps.result(d.read(i, ScalarType::f32));
  };
  const Slot high = source(1);
  const Slot low = source(2);
  d.emit(handler, d.write(0, to), high, low);
}

void select_cvt(Decoder& d) {
  const auto types = d.instruction().types();
  if (types.size() != 2 || d.has("rs")) d.unsupported();
  const ScalarType to = types[0];
  const ScalarType from = types[1];
  if (d.args().size() == 3) return emit_pair(d, to);
  const bool narrows = is_half_pair(from);
  const ScalarType narrow = narrows ? to : from;
  if (narrow == ScalarType::e4m3x2 || narrow == ScalarType::e5m2x2) {
    if ((narrows ? from : to) != ScalarType::f16x2) d.unsupported();
    const Handler handler = narrow == ScalarType::e4m3x2 ? between_pairs<e4m3_format>(d, narrows)
                                                         : between_pairs<e5m2_format>(d, narrows);
    return d.emit(handler, d.write(0, to), d.read(1, from));
  }
  emit_one(d, to, from);
}

/// cvt.pack of two integers, which are clamped to `bits` bits each: b is in the lowest bits, a above it.
template <U32 bits, bool is_signed>
constexpr auto packed = [](std::int32_t a, std::int32_t b) {
  constexpr std::int32_t low = is_signed ? -(1 << (bits - 1)) : 0;
  constexpr std::int32_t high = (1 << (is_signed ? bits - 1 : bits)) - 1;
  const auto part = [&](std::int32_t value) {
    return static_cast<U32>(std::clamp(value, low, high)) & ((U32{1} << bits) - 1);
  };
  return part(a) << bits | part(b);
};
/// cvt.pack with a third operand: the lowest bits of c are above a and b.
template <U32 bits, bool is_signed>
constexpr auto packed_onto =
    [](std::int32_t a, std::int32_t b, U32 c) { return c << 2 * bits | packed<bits, is_signed>(a, b); };

void select_cvt_pack(Decoder& d) {
  constexpr std::pair<const char*, Handler> pairs[] = {
      {"u16", &apply<packed<16, false>, U32, std::int32_t, std::int32_t>},
      {"s16", &apply<packed<16, true>, U32, std::int32_t, std::int32_t>}};
  constexpr std::pair<const char*, Handler> parts[] = {
      {"u8", &apply<packed_onto<8, false>, U32, std::int32_t, std::int32_t, U32>},
      {"s8", &apply<packed_onto<8, true>, U32, std::int32_t, std::int32_t, U32>},
      {"u4", &apply<packed_onto<4, false>, U32, std::int32_t, std::int32_t, U32>},
      {"s4", &apply<packed_onto<4, true>, U32, std::int32_t, std::int32_t, U32>},
      {"u2", &apply<packed_onto<2, false>, U32, std::int32_t, std::int32_t, U32>},
      {"s2", &apply<packed_onto<2, true>, U32, std::int32_t, std::int32_t, U32>}};
  const Slot result = d.write(0, ScalarType::u32);
  const Slot a = d.read(1, ScalarType::s32);
  const Slot b = d.read(2, ScalarType::s32);
  for (const auto& [type, handler] : pairs) {
    if (d.has(type)) d.emit(handler, result, a, b);
  }
  for (const auto& [type, handler] : parts) {
    if (d.has(type)) d.emit(handler, result, a, b, d.read(3, ScalarType::b32));
  }
}

constexpr Selector convert_table[] = {{Opcode::cvt, &select_cvt}, {Opcode::cvt_pack, &select_cvt_pack}};

}  // namespace
}  // namespace conversions

constinit const Selectors convert_selectors = conversions::convert_table;

}  // namespace sim
TMAJIT_END
