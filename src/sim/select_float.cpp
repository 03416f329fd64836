/// f32 and f64 arithmetic (PTX ISA 9.7.3).
#include "sim/decode.hpp"
#include "sim/numeric.hpp"
#include "sim/warp.hpp"

#include <cfenv>

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::Opcode;
using ptx::ScalarType;

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct Sub {
  template <typename T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct Mul {
  template <typename T>
  T operator()(T a, T b) const {
    return a * b;
  }
};
struct Div {
  template <typename T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
struct Fma {
  template <typename T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
  }
};
struct Min {
  template <typename T>
  T operator()(T a, T b) const {
    return float_min(a, b);
  }
};
struct Max {
  template <typename T>
  T operator()(T a, T b) const {
    return float_max(a, b);
  }
};
/// .NaN: a NaN wins; .xorsign.abs: of magnitudes, with the signs' exclusive or.
template <typename Op, bool nan, bool xorsign>
struct Modified {
  template <typename T>
  T operator()(T a, T b) const {
    if (nan && (a != a || b != b)) return std::numeric_limits<T>::quiet_NaN();
    if (!xorsign) return Op{}(a, b);
    const T value = Op{}(std::fabs(a), std::fabs(b));
    return std::signbit(a) != std::signbit(b) ? -value : value;
  }
};
struct Neg {
  template <typename T>
  T operator()(T a) const {
    return -a;
  }
};
struct Abs {
  template <typename T>
  T operator()(T a) const {
    return std::fabs(a);
  }
};
struct Sqrt {
  template <typename T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};
struct Rcp {
  template <typename T>
  T operator()(T a) const {
    return T{1} / a;
  }
};
struct CopySign {
  template <typename T>
  T operator()(T a, T b) const {
    return std::copysign(b, a);
  }
};
// The approximate functions, as near as the host computes them: the ISA bounds their error only.
struct Rsqrt {
  template <typename T>
  T operator()(T a) const {
    return static_cast<T>(1 / std::sqrt(static_cast<double>(a)));
  }
};
struct Sin {
  float operator()(float a) const { return static_cast<float>(std::sin(static_cast<double>(a))); }
};
struct Cos {
  float operator()(float a) const { return static_cast<float>(std::cos(static_cast<double>(a))); }
};
struct Lg2 {
  float operator()(float a) const { return static_cast<float>(std::log2(static_cast<double>(a))); }
};
struct Ex2 {
  float operator()(float a) const { return static_cast<float>(std::exp2(static_cast<double>(a))); }
};
struct Tanh {
  float operator()(float a) const { return static_cast<float>(std::tanh(static_cast<double>(a))); }
};

template <typename Op>
struct Plain {
  template <typename... T>
  auto operator()(T... a) const {
    return canonical(Op{}(a...));
  }
};
template <typename Op>
struct Flushed {
  template <typename... T>
  float operator()(T... a) const {
    return flush(canonical(Op{}(flush(a)...)));
  }
};
/// .sat: to [0, 1], NaN to 0.
template <typename Op>
struct Saturated {
  template <typename... T>
  float operator()(T... a) const {
    const float value = Op{}(a...);
    return value > 0 ? (value < 1 ? value : 1.0F) : 0.0F;
  }
};

/// Under another rounding mode of the host. The handler is called through a pointer between two calls that
/// change the mode, so no compiler moves arithmetic across them.
template <Handler handler, int mode>
void rounded(Warp& warp, const MicroOp& op, Mask mask) {
  std::fesetround(mode);
  handler(warp, op, mask);
  std::fesetround(FE_TONEAREST);
}

template <typename Op, typename T, std::size_t... I>
constexpr Handler handler_of(std::index_sequence<I...>) {
  return &apply<Op, T, std::enable_if_t<(I >= 0), T>...>;
}

template <typename Op, std::size_t operands>
Handler pick(Decoder& d, bool rounds) {
  using Indices = std::make_index_sequence<operands>;
  const bool f64 = d.type() == ScalarType::f64;
  const bool ftz = d.has("ftz");
  const bool sat = d.has("sat");
  if (rounds) {
    const int mode = d.has("rz")   ? FE_TOWARDZERO
                     : d.has("rm") ? FE_DOWNWARD
                     : d.has("rp") ? FE_UPWARD
                                   : FE_TONEAREST;
    if (mode != FE_TONEAREST) {
      if (sat) d.unsupported();
      if (ftz) {
        constexpr Handler flushed = handler_of<Flushed<Op>, float>(Indices{});
        if (mode == FE_TOWARDZERO) return &rounded<flushed, FE_TOWARDZERO>;
        return mode == FE_DOWNWARD ? &rounded<flushed, FE_DOWNWARD> : &rounded<flushed, FE_UPWARD>;
      }
      constexpr Handler single = handler_of<Plain<Op>, float>(Indices{});
      constexpr Handler twice = handler_of<Plain<Op>, double>(Indices{});
      if (mode == FE_TOWARDZERO)
        return f64 ? &rounded<twice, FE_TOWARDZERO> : &rounded<single, FE_TOWARDZERO>;
      if (mode == FE_DOWNWARD) return f64 ? &rounded<twice, FE_DOWNWARD> : &rounded<single, FE_DOWNWARD>;
      return f64 ? &rounded<twice, FE_UPWARD> : &rounded<single, FE_UPWARD>;
    }
  }
  if (f64) return handler_of<Plain<Op>, double>(Indices{});
  if (sat)
    return ftz ? handler_of<Saturated<Flushed<Op>>, float>(Indices{})
               : handler_of<Saturated<Plain<Op>>, float>(Indices{});
  return ftz ? handler_of<Flushed<Op>, float>(Indices{}) : handler_of<Plain<Op>, float>(Indices{});
}

template <typename Op>
Handler approximate(Decoder& d) {
  if (d.type() != ScalarType::f32) d.unsupported();
  return d.has("ftz") ? &apply<Flushed<Op>, float, float> : &apply<Plain<Op>, float, float>;
}

template <typename Op>
Handler least_or_greatest(Decoder& d) {
  const bool xorsign = d.has("xorsign");
  if (d.args().size() != 3) return nullptr;
  if (!d.has("NaN")) return xorsign ? pick<Modified<Op, false, true>, 2>(d, false) : pick<Op, 2>(d, false);
  return xorsign ? pick<Modified<Op, true, true>, 2>(d, false) : pick<Modified<Op, true, false>, 2>(d, false);
}

Handler select(Decoder& d, Opcode opcode) {
  switch (opcode) {
    case Opcode::add: return pick<Add, 2>(d, true);
    case Opcode::sub: return pick<Sub, 2>(d, true);
    case Opcode::mul: return pick<Mul, 2>(d, true);
    case Opcode::fma:
    case Opcode::mad: return pick<Fma, 3>(d, true);
    case Opcode::div: return pick<Div, 2>(d, true);
    case Opcode::sqrt: return pick<Sqrt, 1>(d, true);
    case Opcode::rcp: return pick<Rcp, 1>(d, true);
    case Opcode::min: return least_or_greatest<Min>(d);
    case Opcode::max: return least_or_greatest<Max>(d);
    // Signs only: NaNs keep their bits.
    case Opcode::neg:
      if (d.has("ftz")) return &apply<Flushed<Neg>, float, float>;
      return d.type() == ScalarType::f64 ? &apply<Neg, double, double> : &apply<Neg, float, float>;
    case Opcode::abs:
      if (d.has("ftz")) return &apply<Flushed<Abs>, float, float>;
      return d.type() == ScalarType::f64 ? &apply<Abs, double, double> : &apply<Abs, float, float>;
    case Opcode::copysign:
      return d.type() == ScalarType::f64 ? &apply<CopySign, double, double, double>
                                         : &apply<CopySign, float, float, float>;
    case Opcode::rsqrt: return pick<Rsqrt, 1>(d, false);
    case Opcode::sin: return approximate<Sin>(d);
    case Opcode::cos: return approximate<Cos>(d);
    case Opcode::lg2: return approximate<Lg2>(d);
    case Opcode::ex2: return approximate<Ex2>(d);
    case Opcode::tanh: return approximate<Tanh>(d);
    default: return nullptr;
  }
}

}  // namespace

bool select_float(Decoder& d) {
  const auto types = d.in().types();
  if (types.empty() || (types.back() != ScalarType::f32 && types.back() != ScalarType::f64)) return false;
  const Handler handler = select(d, d.in().opcode);
  if (handler == nullptr) return false;
  Slot slots[3] = {0, 0, 0};
  for (std::size_t i = 1; i < d.args().size() && i < 4; ++i) slots[i - 1] = d.read(d.arg(i), types.back());
  d.emit(handler, d.write(d.arg(0), types.back()), slots[0], slots[1], slots[2]);
  return true;
}

}  // namespace sim
TMAJIT_END
