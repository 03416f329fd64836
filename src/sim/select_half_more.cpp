/// f16 and bf16 beyond plain arithmetic: .ftz, .sat, .relu, .NaN, .xorsign.abs, the approximate functions,
/// and comparisons (PTX ISA 9.7.4, 9.7.6). Lane by lane: these are rare.
#include "sim/compare.hpp"
#include "sim/decode.hpp"
#include "sim/numeric.hpp"
#include "sim/warp.hpp"

#include <array>

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::Opcode;
using ptx::ScalarType;

/// The modifiers that an instruction names.
enum Modifier : std::uint32_t { ftz = 1, saturates = 2, relu = 4, nan = 8, xorsign = 16 };

bool is_bfloat(ScalarType t) {
  return t == ScalarType::bf16 || t == ScalarType::bf16x2;
}
bool is_pair(ScalarType t) {
  return t == ScalarType::f16x2 || t == ScalarType::bf16x2;
}
bool is_half(ScalarType t) {
  return t == ScalarType::f16 || t == ScalarType::bf16 || is_pair(t);
}

template <SmallFormat format>
double read_half(std::uint32_t word, std::uint32_t i, bool flushes) {
  const double value = static_cast<double>(decode_small<format>(word >> 16 * i & 0xffff));
  const double least = std::ldexp(1.0, 2 - (1 << (format.exponent_bits - 1)));
  return flushes && std::fabs(value) < least ? std::copysign(0.0, value) : value;
}

double least_or_greatest(Opcode opcode, double a, double b, std::uint32_t modifiers) {
  if ((modifiers & nan) != 0 && (a != a || b != b)) return std::numeric_limits<double>::quiet_NaN();
  const bool negative = std::signbit(a) != std::signbit(b);
  if ((modifiers & xorsign) != 0) {
    a = std::fabs(a);
    b = std::fabs(b);
  }
  const double value = opcode == Opcode::min ? float_min(a, b) : float_max(a, b);
  return (modifiers & xorsign) != 0 && negative ? -value : value;
}

template <Opcode opcode>
double operate(const std::array<double, 3>& v, std::uint32_t modifiers) {
  switch (opcode) {
    case Opcode::add: return add_to_odd(v[0], v[1]);
    case Opcode::sub: return add_to_odd(v[0], -v[1]);
    case Opcode::mul: return v[0] * v[1];
    case Opcode::fma: return add_to_odd(v[0] * v[1], v[2]);
    case Opcode::neg: return -v[0];
    case Opcode::abs: return std::fabs(v[0]);
    case Opcode::ex2: return std::exp2(v[0]);
    case Opcode::tanh: return std::tanh(v[0]);
    default: return least_or_greatest(opcode, v[0], v[1], modifiers);
  }
}

/// aux: modifiers, and 256 for pairs.
template <Opcode opcode, SmallFormat format>
void modified(Warp& warp, const MicroOp& op, Mask mask) {
  const std::uint32_t parts = (op.aux & 256) != 0 ? 2 : 1;
  const bool flushes = (op.aux & ftz) != 0;
  for_lanes(mask, [&](std::uint32_t lane) {
    std::uint32_t result = 0;
    for (std::uint32_t i = 0; i < parts; ++i) {
      std::array<double, 3> values{};
      const Slot slots[] = {op.a, op.b, op.c};
      for (std::size_t n = 0; n < 3; ++n)
        values[n] = read_half<format>(get<std::uint32_t>(warp.registers + slots[n], lane), i, flushes);
      double value = operate<opcode>(values, op.aux);
      if ((op.aux & saturates) != 0) value = value > 0 ? std::min(value, 1.0) : 0.0;
      if ((op.aux & relu) != 0 && value < 0) value = 0;
      std::uint32_t bits = encode_small<format>(value, false);
      if (flushes && (bits & ((1U << format.exponent_bits) - 1) << format.mantissa_bits) == 0) bits &= 0x8000;
      result |= bits << 16 * i;
    }
    put(warp.registers + op.d, lane, result);
  });
}

template <Opcode opcode>
Handler handler_of(ScalarType t) {
  return is_bfloat(t) ? &modified<opcode, bf16_format> : &modified<opcode, f16_format>;
}

Handler select(Opcode opcode, ScalarType t) {
  switch (opcode) {
    case Opcode::add: return handler_of<Opcode::add>(t);
    case Opcode::sub: return handler_of<Opcode::sub>(t);
    case Opcode::mul: return handler_of<Opcode::mul>(t);
    case Opcode::fma: return handler_of<Opcode::fma>(t);
    case Opcode::neg: return handler_of<Opcode::neg>(t);
    case Opcode::abs: return handler_of<Opcode::abs>(t);
    case Opcode::min: return handler_of<Opcode::min>(t);
    case Opcode::max: return handler_of<Opcode::max>(t);
    case Opcode::ex2: return handler_of<Opcode::ex2>(t);
    case Opcode::tanh: return handler_of<Opcode::tanh>(t);
    default: return nullptr;
  }
}

/// A predicate a half: d of the low ones, and of pairs aux of the high ones. c: the comparison, plus 256 for
/// ftz.
template <SmallFormat format>
void compare_halves(Warp& warp, const MicroOp& op, Mask mask) {
  const bool flushes = (op.c & 256) != 0;
  const auto compare = static_cast<Compare>(op.c & 255);
  for (std::uint32_t i = 0; i < (op.aux != 0 ? 2U : 1U); ++i) {
    Mask said = 0;
    for_lanes(mask, [&](std::uint32_t lane) {
      const double a = read_half<format>(get<std::uint32_t>(warp.registers + op.a, lane), i, flushes);
      const double b = read_half<format>(get<std::uint32_t>(warp.registers + op.b, lane), i, flushes);
      said |= static_cast<Mask>(holds(compare, a, b)) << lane;
    });
    Mask& p = predicate(warp, i == 0 ? op.d : op.aux);
    p = (p & ~mask) | said;
  }
}

/// What set gives where predicate a, and of pairs b, holds: aux, in both halves; op.c: whether there are
/// pairs.
void predicates_to_lanes(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    std::uint32_t word = (predicate(warp, op.a) >> lane & 1) != 0 ? op.aux : 0;
    if (op.c != 0) {
      word = (word & 0xffff) | ((predicate(warp, op.b) >> lane & 1) != 0 ? op.aux & 0xffff0000 : 0);
    }
    put(warp.registers + op.d, lane, word);
  });
}

/// set.CMP.dtype.stype d, a, b and setp.CMP.stype p|q, a, b.
bool emit_compare(Decoder& d, bool to_predicate) {
  const auto types = d.in().types();
  const ScalarType from = types.back();
  std::optional<Compare> compare;
  for (const std::string& word : d.in().words) {
    if (!compare) compare = parse_compare(word);
  }
  // With a combined predicate, or a result of another width, it is rare beyond reason.
  if (!compare || d.args().size() != 3) return false;
  const bool pair = is_pair(from);
  const Handler handler = is_bfloat(from) ? &compare_halves<bf16_format> : &compare_halves<f16_format>;
  const Slot code = static_cast<Slot>(*compare) | (d.has("ftz") ? 256U : 0U);
  const Slot a = d.read(d.arg(1), from);
  const Slot b = d.read(d.arg(2), from);
  if (to_predicate) {
    const Arg& target = d.arg(0);
    const bool two = target.kind == Arg::Kind::group;
    if (two != pair) return false;
    const Slot p = d.write_predicate(two ? target.elements[0] : target);
    d.emit(handler, p, a, b, code, two ? d.write_predicate(target.elements[1]) : 0);
    return true;
  }
  const ScalarType to = types.front();
  std::uint32_t yes = ~0U;
  if (is_half(to)) {
    yes = is_bfloat(to) ? 0x3f803f80 : 0x3c003c00;
    if (is_pair(to) != pair || is_bfloat(to) != is_bfloat(from)) return false;
  } else if (to == ScalarType::f32) {
    yes = 0x3f800000;
  } else if (ptx::bits_of(to) > 32) {
    return false;
  }
  if (pair && !is_pair(to) && to != ScalarType::u32 && to != ScalarType::s32) return false;
  const Slot low = d.temporary(false);
  const Slot high = pair ? d.temporary(false) : 0;
  d.emit(handler, low, a, b, code, high);
  d.emit(&predicates_to_lanes, d.write(d.arg(0), to), low, high, pair ? 1 : 0, yes);
  return true;
}

}  // namespace

bool select_half_more(Decoder& d) {
  const auto types = d.in().types();
  if (types.empty() || !is_half(types.back())) return false;
  const Opcode opcode = d.in().opcode;
  if (opcode == Opcode::setp) return emit_compare(d, true);
  if (opcode == Opcode::set) return emit_compare(d, false);
  std::uint32_t modifiers = is_pair(types.back()) ? 256 : 0;
  for (const auto& [word, bit] :
       {std::pair{"ftz", ftz}, {"sat", saturates}, {"relu", relu}, {"NaN", nan}, {"xorsign", xorsign}}) {
    if (d.has(word)) modifiers |= bit;
  }
  const bool function = opcode == Opcode::ex2 || opcode == Opcode::tanh;
  // The plain forms are select_half's; f32 with a half operand, and .oob, are none of Hopper's.
  if ((!function && (modifiers & 255) == 0) || d.has("oob") || types.size() != 1) return false;
  const ScalarType t = types.back();
  const Handler handler = select(opcode, t);
  if (handler == nullptr) return false;
  Slot slots[3] = {0, 0, 0};
  for (std::size_t i = 0; i < 3; ++i)
    slots[i] = i + 1 < d.args().size() ? d.read(d.arg(i + 1), t) : d.constant(0, false);
  d.emit(handler, d.write(d.arg(0), t), slots[0], slots[1], slots[2], modifiers);
  return true;
}

}  // namespace sim
TMAJIT_END
