/// Floating-point arithmetic on f32 and f64 (PTX ISA 9.7.3), and on f16, bf16 and pairs of them (9.7.4).
#include "sim/instructions/select.hpp"

TMAJIT_BEGIN
namespace sim {
namespace float_arithmetic {
namespace {

constexpr auto add = [](auto a, auto b) { return a + b; };
constexpr auto subtract = [](auto a, auto b) { return a - b; };
constexpr auto multiply = [](auto a, auto b) { return a * b; };
constexpr auto divide = [](auto a, auto b) { return a / b; };
constexpr auto multiply_add = [](auto a, auto b, auto c) { return std::fma(a, b, c); };
constexpr auto least = [](auto a, auto b) { return float_extreme<false>(a, b); };
constexpr auto greatest = [](auto a, auto b) { return float_extreme<true>(a, b); };
/// min and max with modifiers. .NaN: NaN propagates. .xorsign.abs: min or max of the magnitudes; its sign is
/// the exclusive or of the operands' signs.
template <auto operation, bool nan, bool xorsign>
constexpr auto modified = []<typename T>(T a, T b) {
  if (nan && (is_nan(a) || is_nan(b))) return std::numeric_limits<T>::quiet_NaN();
  if (!xorsign) return operation(a, b);
  const T value = operation(std::fabs(a), std::fabs(b));
  return std::signbit(a) != std::signbit(b) ? -value : value;
};
constexpr auto negate = [](auto a) { return -a; };
constexpr auto magnitude = [](auto a) { return std::fabs(a); };
constexpr auto root = [](auto a) { return std::sqrt(a); };
constexpr auto reciprocal = []<typename T>(T a) { return T{1} / a; };
constexpr auto copy_sign = [](auto a, auto b) { return std::copysign(b, a); };
// The approximate functions, computed by the host's exact ones: the ISA only bounds their error.
constexpr auto reciprocal_root = []<typename T>(T a) {
  return static_cast<T>(1 / std::sqrt(static_cast<double>(a)));
};
constexpr auto sine = [](float a) { return static_cast<float>(std::sin(static_cast<double>(a))); };
constexpr auto cosine = [](float a) { return static_cast<float>(std::cos(static_cast<double>(a))); };
constexpr auto logarithm = [](float a) { return static_cast<float>(std::log2(static_cast<double>(a))); };
constexpr auto power = []<typename T>(T a) { return static_cast<T>(std::exp2(static_cast<double>(a))); };
constexpr auto tangent = []<typename T>(T a) { return static_cast<T>(std::tanh(static_cast<double>(a))); };

template <auto operation>
constexpr auto plain = [](auto... a) { return canonical(operation(a...)); };
template <auto operation>
constexpr auto flushed = [](auto... a) { return flush(canonical(operation(flush(a)...))); };
/// .sat: clamps to [0, 1]; NaN becomes 0.
template <auto operation>
constexpr auto saturated = [](auto... a) {
  const float value = operation(a...);
  return value > 0 ? (value < 1 ? value : 1.0F) : 0.0F;
};

/// The handler for f32 or f64, with .ftz and .sat for f32. `rounds`: the instruction can have .rz, .rm or
/// .rp.
template <auto operation, std::size_t operands>
Handler handler_for(const Decoder& d, bool rounds) {
  const bool f64 = d.type() == ScalarType::f64;
  const bool ftz = d.has("ftz");
  const bool sat = d.has("sat");
  constexpr Handler twice = uniform<plain<operation>, double, operands>;
  constexpr Handler single = uniform<plain<operation>, float, operands>;
  constexpr Handler zeroed = uniform<flushed<operation>, float, operands>;
  if (sat && !f64) {
    if (rounds && rounding_mode(d) != FE_TONEAREST) d.unsupported();
    return ftz ? uniform<saturated<flushed<operation>>, float, operands>
               : uniform<saturated<plain<operation>>, float, operands>;
  }
  if (!rounds) return f64 ? twice : ftz ? zeroed : single;
  return f64 ? rounded<twice>(d) : ftz ? rounded<zeroed>(d) : rounded<single>(d);
}

template <auto operation>
Handler approximate(const Decoder& d) {
  if (d.type() != ScalarType::f32) d.unsupported();
  return d.has("ftz") ? uniform<flushed<operation>, float, 1> : uniform<plain<operation>, float, 1>;
}

/// The handler of an operation on the sign alone. NaNs keep their bits.
template <auto operation, std::size_t operands>
Handler sign(const Decoder& d) {
  if (d.has("ftz")) return uniform<flushed<operation>, float, operands>;
  return d.type() == ScalarType::f64 ? uniform<operation, double, operands>
                                     : uniform<operation, float, operands>;
}

template <auto operation>
Handler least_or_greatest(const Decoder& d) {
  if (d.args().size() != 3) return nullptr;
  return with_flags(
      [&](auto nan, auto xorsign) { return handler_for<modified<operation, nan, xorsign>, 2>(d, false); },
      d.has("NaN"), d.has("xorsign"));
}

#if defined(__x86_64__)
// fma of f32 with rounding to nearest uses the host's instruction, because the call of the library's fma is
// slow. The target attribute affects this function alone.

[[gnu::target("avx2,fma")]] void fuse_all(std::byte* d, const std::byte* a, const std::byte* b,
                                          const std::byte* c) {
  TMAJIT_SIM_LANES
  for (std::uint32_t i = 0; i < lanes; ++i) {
    const float value =
        __builtin_fmaf(reinterpret_cast<const float*>(a)[i], reinterpret_cast<const float*>(b)[i],
                       reinterpret_cast<const float*>(c)[i]);
    const auto bits = __builtin_bit_cast(std::uint32_t, value);
    reinterpret_cast<std::uint32_t*>(d)[i] = value != value ? 0x7fffffffU : bits;  // as canonical()
  }
}

void fuse(Warp& warp, const MicroOp& op, Mask mask) {
  std::byte* const registers = warp.registers;
  if (mask == all_lanes)
    return fuse_all(registers + op.d, registers + op.a, registers + op.b, registers + op.c);
  uniform<plain<multiply_add>, float, 3>(warp, op, mask);
}

Handler fused(const Decoder& d) {
  static const bool supported = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool has_no_modifier =
      d.type() == ScalarType::f32 && !d.has("ftz") && !d.has("sat") && rounding_mode(d) == FE_TONEAREST;
  return supported && has_no_modifier ? &fuse : handler_for<multiply_add, 3>(d, true);
}
#else
Handler fused(const Decoder& d) {
  return handler_for<multiply_add, 3>(d, true);
}
#endif

Handler handler_of(const Decoder& d) {
  switch (d.instruction().opcode) {
    case Opcode::add: return handler_for<add, 2>(d, true);
    case Opcode::sub: return handler_for<subtract, 2>(d, true);
    case Opcode::mul: return handler_for<multiply, 2>(d, true);
    case Opcode::fma:
    case Opcode::mad: return fused(d);
    case Opcode::div: return handler_for<divide, 2>(d, true);
    case Opcode::sqrt: return handler_for<root, 1>(d, true);
    case Opcode::rcp: return handler_for<reciprocal, 1>(d, true);
    case Opcode::min: return least_or_greatest<least>(d);
    case Opcode::max: return least_or_greatest<greatest>(d);
    case Opcode::neg: return sign<negate, 1>(d);
    case Opcode::abs: return sign<magnitude, 1>(d);
    case Opcode::copysign: return sign<copy_sign, 2>(d);
    case Opcode::rsqrt: return handler_for<reciprocal_root, 1>(d, false);
    case Opcode::sin: return approximate<sine>(d);
    case Opcode::cos: return approximate<cosine>(d);
    case Opcode::lg2: return approximate<logarithm>(d);
    case Opcode::ex2: return approximate<power>(d);
    case Opcode::tanh: return approximate<tangent>(d);
    default: return nullptr;
  }
}

// Halves (f16 and bf16): each operation is exact or rounded to odd in f64, and then rounded to the format.

constexpr auto add_halves = [](double a, double b) { return add_to_odd(a, b); };
constexpr auto subtract_halves = [](double a, double b) { return add_to_odd(a, -b); };
constexpr auto multiply_add_halves = [](double a, double b, double c) { return add_to_odd(a * b, c); };

/// The modifiers of an instruction on halves. `pair`: it operates on f16x2 or bf16x2. `oob`: see below.
enum Modifier : std::uint32_t { ftz = 1, saturates = 2, relu = 4, pair = 8, oob = 16 };

/// Whether half i of a or b is the NaN that a tensor map with NaN fill writes outside its tensor
/// (docs/tma.md), of either sign. Then fma with .oob returns +0, whatever c is. Measured on an H100 for all
/// values of each operand; the PTX ISA names no value.
constexpr auto has_fill = [](std::uint32_t i, std::uint32_t a, std::uint32_t b, std::uint32_t /*c*/) {
  constexpr std::uint32_t fill = 0x7ff7;
  return (a >> 16 * i & 0x7fff) == fill || (b >> 16 * i & 0x7fff) == fill;
};

/// Applies the operation to the low half of each word, or with `pair` to both halves.
template <auto operation, SmallFormat format>
std::uint32_t compute(std::uint32_t modifiers, auto... words) {
  const bool flushes = (modifiers & ftz) != 0;
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < ((modifiers & pair) != 0 ? 2U : 1U); ++i) {
    double value = operation(read_half<format>(words, i, flushes)...);
    if constexpr (sizeof...(words) == 3) {
      if ((modifiers & oob) != 0 && has_fill(i, words...)) value = 0;
    }
    if ((modifiers & saturates) != 0) value = value > 0 ? std::min(value, 1.0) : 0.0;
    if ((modifiers & relu) != 0 && value < 0) value = 0;
    std::uint32_t bits = encode_small<format>(value, false);
    if (flushes && (bits & ((1U << format.exponent_bits) - 1) << format.mantissa_bits) == 0) bits &= 0x8000;
    result |= bits << 16 * i;
  }
  return result;
}

/// The operation with modifiers known at compile time, for the most frequent cases.
template <auto operation, SmallFormat format, std::uint32_t modifiers>
constexpr auto half = [](auto... words) { return compute<operation, format>(modifiers, words...); };

/// The operation with any modifiers. aux: the modifiers.
template <auto operation, SmallFormat format, std::size_t... operand>
void modified_half(Warp& warp, const MicroOp& op, Mask mask) {
  const Slot slots[] = {op.a, op.b, op.c};
  for_lanes(mask, [&](std::uint32_t lane) {
    put(warp.registers + op.d, lane,
        compute<operation, format>(op.aux, get<std::uint32_t>(warp.registers + slots[operand], lane)...));
  });
}

/// The handler of an operation on halves. `operand`: indices of its operands, 0, 1 …
template <auto operation, std::size_t... operand>
Handler halves(ScalarType t, std::uint32_t modifiers) {
  const auto handler_of = [&]<SmallFormat format>() -> Handler {
    constexpr std::size_t n = sizeof...(operand);
    if (modifiers == 0) return uniform<half<operation, format, 0>, std::uint32_t, n>;
    if (modifiers == pair) return uniform<half<operation, format, pair>, std::uint32_t, n>;
    return &modified_half<operation, format, operand...>;
  };
  return is_bfloat(t) ? handler_of.template operator()<bf16_format>()
                      : handler_of.template operator()<f16_format>();
}

template <auto operation>
Handler least_or_greatest_half(const Decoder& d, ScalarType t, std::uint32_t modifiers) {
  return with_flags(
      [&](auto nan, auto xorsign) { return halves<modified<operation, nan, xorsign>, 0, 1>(t, modifiers); },
      d.has("NaN"), d.has("xorsign"));
}

Handler handler_of_half(const Decoder& d, ScalarType t, std::uint32_t modifiers) {
  switch (d.instruction().opcode) {
    case Opcode::add: return halves<add_halves, 0, 1>(t, modifiers);
    case Opcode::sub: return halves<subtract_halves, 0, 1>(t, modifiers);
    case Opcode::mul: return halves<multiply, 0, 1>(t, modifiers);
    case Opcode::fma: return halves<multiply_add_halves, 0, 1, 2>(t, modifiers);
    case Opcode::neg: return halves<negate, 0>(t, modifiers);
    case Opcode::abs: return halves<magnitude, 0>(t, modifiers);
    case Opcode::min: return least_or_greatest_half<least>(d, t, modifiers);
    case Opcode::max: return least_or_greatest_half<greatest>(d, t, modifiers);
    case Opcode::ex2: return halves<power, 0>(t, modifiers);
    case Opcode::tanh: return halves<tangent, 0>(t, modifiers);
    default: return nullptr;
  }
}

constexpr Selector float_table[] = {
    {Opcode::copysign, &select_float}, {Opcode::rcp, &select_float}, {Opcode::sqrt, &select_float},
    {Opcode::rsqrt, &select_float},    {Opcode::sin, &select_float}, {Opcode::cos, &select_float},
    {Opcode::lg2, &select_float},
};

}  // namespace
}  // namespace float_arithmetic

void select_float(Decoder& d) {
  d.emit_uniform(float_arithmetic::handler_of(d), d.type());
}

void select_half(Decoder& d) {
  const auto types = d.instruction().types();
  const ScalarType t = types.back();
  // Hopper has no f32 with a half operand.
  if (types.size() != 1) d.unsupported();
  std::uint32_t modifiers = is_half_pair(t) ? std::uint32_t{float_arithmetic::pair} : 0;
  for (const auto& [word, bit] : {std::pair{"ftz", float_arithmetic::ftz},
                                  {"sat", float_arithmetic::saturates},
                                  {"relu", float_arithmetic::relu},
                                  {"oob", float_arithmetic::oob}}) {
    if (d.has(word)) modifiers |= bit;
  }
  d.emit_uniform(float_arithmetic::handler_of_half(d, t, modifiers), t, modifiers);
}

constinit const Selectors float_selectors = float_arithmetic::float_table;

}  // namespace sim
TMAJIT_END
