/// cvt (PTX ISA 9.7.9, "cvt").
#include "sim/decode.hpp"
#include "sim/numeric.hpp"
#include "sim/warp.hpp"

#include <cfenv>
#include <utility>

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::Opcode;
using ptx::ScalarType;

template <typename To>
struct Cast {
  template <typename From>
  To operator()(From value) const {
    if constexpr (std::is_same_v<To, float> && std::is_same_v<From, double>) {
      return static_cast<float>(
          value);  // a NaN keeps its sign and the upper bits of its payload, as on an H200
    } else if constexpr (std::is_floating_point_v<To> && std::is_floating_point_v<From>) {
      return canonical(static_cast<To>(value));
    } else {
      return static_cast<To>(value);
    }
  }
};
/// Integer to integer with .sat.
template <typename To>
struct Clamp {
  template <typename From>
  To operator()(From value) const {
    if (std::cmp_less(value, std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (std::cmp_greater(value, std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(value);
  }
};
template <typename To, Round round>
struct ToInteger {
  template <typename From>
  To operator()(From value) const {
    return to_integer<To>(value, round);
  }
};
template <Round round>
struct Integral {
  template <typename T>
  T operator()(T value) const {
    return canonical(static_cast<T>(round_integral(value, round)));
  }
};
struct Saturate {
  template <typename T>
  T operator()(T value) const {
    return value > 0 ? (value < 1 ? value : T{1}) : T{0};
  }
};
struct Flush {
  float operator()(float value) const { return flush(value); }
};
template <SmallFormat format>
struct Decode {
  float operator()(std::uint16_t bits) const { return decode_small<format>(bits); }
};
template <SmallFormat format, bool saturate, Round round>
struct Encode {
  template <typename From>
  std::uint16_t operator()(From value) const {
    return encode_small<format>(static_cast<double>(value), saturate, round);
  }
};
template <SmallFormat format, bool saturate, Round round>
struct EncodePair {
  std::uint32_t operator()(float high, float low) const {
    const Encode<format, saturate, round> encode;
    const std::uint32_t bits = format.exponent_bits + format.mantissa_bits == 7 ? 8 : 16;
    return static_cast<std::uint32_t>(encode(high)) << bits | encode(low);
  }
};
template <SmallFormat format>
struct WidenPair {
  std::uint32_t operator()(std::uint16_t bits) const {
    const auto half = [](std::uint32_t b) {
      return encode_small<f16_format>(static_cast<double>(decode_small<format>(b)), false);
    };
    return half(bits & 0xff) | static_cast<std::uint32_t>(half(bits >> 8)) << 16;
  }
};
template <bool away>
struct Tf32 {
  std::uint32_t operator()(std::uint32_t bits) const { return to_tf32(bits, away); }
};

template <Handler handler, int mode>
void rounded(Warp& warp, const MicroOp& op, Mask mask) {
  std::fesetround(mode);
  handler(warp, op, mask);
  std::fesetround(FE_TONEAREST);
}

/// Calls visit(T{}) with the C++ type of an integer, f32 or f64.
template <typename Visit>
Handler with_type(ScalarType t, const Visit& visit) {
  switch (t) {
    case ScalarType::u8: return visit(std::uint8_t{});
    case ScalarType::s8: return visit(std::int8_t{});
    case ScalarType::u16: return visit(std::uint16_t{});
    case ScalarType::s16: return visit(std::int16_t{});
    case ScalarType::u32: return visit(std::uint32_t{});
    case ScalarType::s32: return visit(std::int32_t{});
    case ScalarType::u64: return visit(std::uint64_t{});
    case ScalarType::s64: return visit(std::int64_t{});
    case ScalarType::f32: return visit(float{});
    case ScalarType::f64: return visit(double{});
    default: return nullptr;
  }
}

template <typename To, typename From>
Handler to_integer_handler(Decoder& d) {
  if (d.has("rni")) return &apply<ToInteger<To, Round::nearest>, To, From>;
  if (d.has("rmi")) return &apply<ToInteger<To, Round::down>, To, From>;
  if (d.has("rpi")) return &apply<ToInteger<To, Round::up>, To, From>;
  return &apply<ToInteger<To, Round::zero>, To, From>;
}

template <typename T>
Handler integral_handler(Decoder& d) {
  if (d.has("rni")) return &apply<Integral<Round::nearest>, T, T>;
  if (d.has("rmi")) return &apply<Integral<Round::down>, T, T>;
  if (d.has("rpi")) return &apply<Integral<Round::up>, T, T>;
  if (d.has("rzi")) return &apply<Integral<Round::zero>, T, T>;
  return nullptr;
}

template <typename To, typename From>
Handler numeric(Decoder& d) {
  if constexpr (std::is_integral_v<To> && std::is_integral_v<From>) {
    return d.has("sat") ? &apply<Clamp<To>, To, From> : &apply<Cast<To>, To, From>;
  } else if constexpr (std::is_integral_v<To>) {
    return to_integer_handler<To, From>(d);
  } else {
    if constexpr (std::is_same_v<To, From>) {
      if (const Handler handler = integral_handler<To>(d); handler != nullptr) return handler;
      if (d.has("sat")) return &apply<Saturate, To, From>;
      if constexpr (std::is_same_v<To, float>) {
        if (d.has("ftz")) return &apply<Flush, float, float>;
      }
    } else if (d.has("sat") || d.has("ftz")) {
      return nullptr;
    }
    constexpr Handler cast = &apply<Cast<To>, To, From>;
    if (d.has("rz")) return &rounded<cast, FE_TOWARDZERO>;
    if (d.has("rm")) return &rounded<cast, FE_DOWNWARD>;
    if (d.has("rp")) return &rounded<cast, FE_UPWARD>;
    return cast;
  }
}

template <SmallFormat format, bool pair>
Handler encode_handler(Decoder& d) {
  const bool zero = d.has("rz");
  if (d.has("rm") || d.has("rp") || d.has("relu") || d.has("ftz") || d.has("sat")) return nullptr;
  const auto make = []<typename Op>(Op) -> Handler {
    if constexpr (pair) {
      return &apply<Op, std::uint32_t, float, float>;
    } else {
      return &apply<Op, std::uint16_t, float>;
    }
  };
  if constexpr (pair) {
    if (d.has("satfinite"))
      return zero ? make(EncodePair<format, true, Round::zero>{})
                  : make(EncodePair<format, true, Round::nearest>{});
    return zero ? make(EncodePair<format, false, Round::zero>{})
                : make(EncodePair<format, false, Round::nearest>{});
  } else {
    if (d.has("satfinite"))
      return zero ? make(Encode<format, true, Round::zero>{}) : make(Encode<format, true, Round::nearest>{});
    return zero ? make(Encode<format, false, Round::zero>{}) : make(Encode<format, false, Round::nearest>{});
  }
}

Handler select(Decoder& d, ScalarType to, ScalarType from) {
  if (from == ScalarType::f32) {
    switch (to) {
      case ScalarType::f16: return encode_handler<f16_format, false>(d);
      case ScalarType::bf16: return encode_handler<bf16_format, false>(d);
      case ScalarType::f16x2: return encode_handler<f16_format, true>(d);
      case ScalarType::bf16x2: return encode_handler<bf16_format, true>(d);
      case ScalarType::e4m3x2: return encode_handler<e4m3_format, true>(d);
      case ScalarType::e5m2x2: return encode_handler<e5m2_format, true>(d);
      case ScalarType::tf32:
        return d.has("rna") ? &apply<Tf32<true>, std::uint32_t, std::uint32_t>
                            : &apply<Tf32<false>, std::uint32_t, std::uint32_t>;
      default: break;
    }
  }
  if (to == ScalarType::f16x2) {
    if (from == ScalarType::e4m3x2) return &apply<WidenPair<e4m3_format>, std::uint32_t, std::uint16_t>;
    if (from == ScalarType::e5m2x2) return &apply<WidenPair<e5m2_format>, std::uint32_t, std::uint16_t>;
  }
  if (from == ScalarType::f16 && to == ScalarType::f32)
    return &apply<Decode<f16_format>, float, std::uint16_t>;
  if (from == ScalarType::bf16 && to == ScalarType::f32)
    return &apply<Decode<bf16_format>, float, std::uint16_t>;
  return with_type(to, [&]<typename To>(To) {
    return with_type(from, [&]<typename From>(From) { return numeric<To, From>(d); });
  });
}

}  // namespace

bool select_convert(Decoder& d) {
  if (d.in().opcode != Opcode::cvt) return false;
  const auto types = d.in().types();
  if (types.size() != 2) return false;
  const ScalarType to = types[0];
  const ScalarType from = types[1];
  const Slot a = d.read(d.arg(1), from);
  const Slot b = d.args().size() > 2 ? d.read(d.arg(2), from) : 0;
  // Halves meet the other types in f32, which holds every one of them.
  const auto is_half = [](ScalarType t) { return t == ScalarType::f16 || t == ScalarType::bf16; };
  if (is_half(from) && to != ScalarType::f32) {
    const Slot middle = d.temporary(false);
    d.emit(select(d, ScalarType::f32, from), middle, a);
    const Handler handler = select(d, to, ScalarType::f32);
    if (handler == nullptr) d.unsupported();
    d.emit(handler, d.write(d.arg(0), to), middle);
    return true;
  }
  const Handler handler = select(d, to, from);
  if (handler == nullptr) return false;
  d.emit(handler, d.write(d.arg(0), to), a, b);
  return true;
}

}  // namespace sim
TMAJIT_END
