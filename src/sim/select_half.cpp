/// f16 and bf16 arithmetic, also in pairs (PTX ISA 9.7.4). Each operation is exact, or rounded to odd, in
/// f64, and rounded once to its format.
#include "sim/decode.hpp"
#include "sim/numeric.hpp"
#include "sim/warp.hpp"

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::Opcode;
using ptx::ScalarType;

struct Add {
  double operator()(double a, double b) const { return add_to_odd(a, b); }
};
struct Sub {
  double operator()(double a, double b) const { return add_to_odd(a, -b); }
};
struct Mul {
  double operator()(double a, double b) const { return a * b; }
};
struct Fma {
  double operator()(double a, double b, double c) const { return add_to_odd(a * b, c); }
};
struct Min {
  double operator()(double a, double b) const { return float_min(a, b); }
};
struct Max {
  double operator()(double a, double b) const { return float_max(a, b); }
};
struct Neg {
  double operator()(double a) const { return -a; }
};
struct Abs {
  double operator()(double a) const { return std::fabs(a); }
};

template <typename Op, SmallFormat format>
struct Half {
  template <typename... T>
  std::uint16_t operator()(T... a) const {
    return encode_small<format>(Op{}(static_cast<double>(decode_small<format>(a))...), false);
  }
};
template <typename Op, SmallFormat format>
struct Pair {
  template <typename... T>
  std::uint32_t operator()(T... a) const {
    const Half<Op, format> half;
    return half((a & 0xffff)...) | static_cast<std::uint32_t>(half((a >> 16)...)) << 16;
  }
};

template <typename Op, std::size_t... I>
Handler pick(ScalarType t, std::index_sequence<I...>) {
  const auto single = []<typename H>(H) -> Handler {
    return &apply<H, std::uint16_t, std::enable_if_t<(I >= 0), std::uint16_t>...>;
  };
  const auto pair = []<typename P>(P) -> Handler {
    return &apply<P, std::uint32_t, std::enable_if_t<(I >= 0), std::uint32_t>...>;
  };
  switch (t) {
    case ScalarType::f16: return single(Half<Op, f16_format>{});
    case ScalarType::bf16: return single(Half<Op, bf16_format>{});
    case ScalarType::f16x2: return pair(Pair<Op, f16_format>{});
    case ScalarType::bf16x2: return pair(Pair<Op, bf16_format>{});
    default: return nullptr;
  }
}

}  // namespace

bool select_half(Decoder& d) {
  const Opcode opcode = d.in().opcode;
  const auto types = d.in().types();
  if (types.empty()) return false;
  const ScalarType t = types.back();
  const auto one = std::make_index_sequence<1>{};
  const auto two = std::make_index_sequence<2>{};
  const auto three = std::make_index_sequence<3>{};
  Handler handler = nullptr;
  switch (opcode) {
    case Opcode::add: handler = pick<Add>(t, two); break;
    case Opcode::sub: handler = pick<Sub>(t, two); break;
    case Opcode::mul: handler = pick<Mul>(t, two); break;
    case Opcode::fma: handler = pick<Fma>(t, three); break;
    case Opcode::min: handler = pick<Min>(t, two); break;
    case Opcode::max: handler = pick<Max>(t, two); break;
    case Opcode::neg: handler = pick<Neg>(t, one); break;
    case Opcode::abs: handler = pick<Abs>(t, one); break;
    default: return false;
  }
  if (handler == nullptr) return false;
  for (const char* word : {"ftz", "sat", "relu", "NaN", "xorsign", "oob"}) {
    if (d.has(word)) d.unsupported();
  }
  Slot slots[3] = {0, 0, 0};
  for (std::size_t i = 1; i < d.args().size() && i < 4; ++i) slots[i - 1] = d.read(d.arg(i), t);
  d.emit(handler, d.write(d.arg(0), t), slots[0], slots[1], slots[2]);
  return true;
}

}  // namespace sim
TMAJIT_END
