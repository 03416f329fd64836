/// The less common integer instructions: saturation, dot products, masks, pairs of 16 bits, the modes of
/// prmt, slct (PTX ISA 9.7.1, 9.7.6, 9.7.9).
#include "sim/decode.hpp"
#include "sim/numeric.hpp"
#include "sim/warp.hpp"

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::Opcode;
using ptx::ScalarType;

std::int32_t saturate(std::int64_t value) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, std::numeric_limits<std::int32_t>::min(),
                                                            std::numeric_limits<std::int32_t>::max()));
}

struct AddSat {
  std::int32_t operator()(std::int64_t a, std::int64_t b) const { return saturate(a + b); }
};
struct SubSat {
  std::int32_t operator()(std::int64_t a, std::int64_t b) const { return saturate(a - b); }
};
struct MadHiSat {
  std::int32_t operator()(std::int64_t a, std::int64_t b, std::int64_t c) const {
    return saturate((a * b >> 32) + c);
  }
};

/// Of 24 bits, sign- or zero-extended; the product's bits 47 to 16 or 31 to 0.
template <typename T, bool high>
struct Mul24 {
  T operator()(T a, T b) const {
    const auto cut = [](T v) -> std::int64_t {
      return static_cast<T>(static_cast<T>(static_cast<std::uint32_t>(v) << 8) >> 8);
    };
    const std::int64_t product = cut(a) * cut(b);
    return static_cast<T>(static_cast<std::uint32_t>(high ? product >> 16 : product));
  }
};
template <typename T, bool high>
struct Mad24 {
  T operator()(T a, T b, T c) const {
    return static_cast<T>(static_cast<std::uint32_t>(Mul24<T, high>{}(a, b)) + static_cast<std::uint32_t>(c));
  }
};
struct Mad24HiSat {
  std::int32_t operator()(std::int32_t a, std::int32_t b, std::int32_t c) const {
    return saturate(std::int64_t{Mul24<std::int32_t, true>{}(a, b)} + c);
  }
};

template <bool is_signed, bool clamps>
struct Szext {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t n) const {
    if (clamps && n >= 32) return a;
    n &= 31;
    if (n == 0) return 0;
    const std::uint32_t mask = ~0U << n;
    return is_signed && (a >> (n - 1) & 1) != 0 ? a | mask : a & ~mask;
  }
};
template <bool clamps>
struct Bmsk {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    if (clamps && a >= 32) return 0;
    const std::uint32_t position = a & 31;
    const std::uint32_t width = clamps ? std::min(b, 32U) : b & 31;
    return static_cast<std::uint32_t>(((1ULL << width) - 1) << position);
  }
};
struct Fns {
  std::uint32_t operator()(std::uint32_t mask, std::uint32_t base, std::int32_t offset) const {
    const int step = offset < 0 ? -1 : 1;
    // The n-th set bit, the one at base included; with an offset of 0 that one or none.
    std::int64_t count = offset == 0 ? 0 : std::int64_t{step} * offset - 1;
    for (auto at = static_cast<std::int64_t>(base); at >= 0 && at < 32; at += step) {
      if ((mask >> at & 1) != 0 && count-- == 0) return static_cast<std::uint32_t>(at);
      if (offset == 0) break;
    }
    return ~0U;
  }
};

/// Part `i` of `bits` bits.
template <bool is_signed, std::uint32_t bits>
std::int64_t part(std::uint32_t word, std::uint32_t i) {
  const std::uint32_t value = word >> bits * i & ((1U << bits) - 1);
  if (!is_signed || value >> (bits - 1) == 0) return value;
  return static_cast<std::int64_t>(value) - (std::int64_t{1} << bits);
}
template <bool a_signed, bool b_signed>
struct Dp4a {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    std::int64_t sum = c;
    for (std::uint32_t i = 0; i < 4; ++i) sum += part<a_signed, 8>(a, i) * part<b_signed, 8>(b, i);
    return static_cast<std::uint32_t>(sum);
  }
};
template <bool a_signed, bool b_signed, bool high>
struct Dp2a {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    std::int64_t sum = c;
    for (std::uint32_t i = 0; i < 2; ++i)
      sum += part<a_signed, 16>(a, i) * part<b_signed, 8>(b, i + (high ? 2 : 0));
    return static_cast<std::uint32_t>(sum);
  }
};

/// add, min and max of two 16-bit halves.
template <Opcode opcode, bool is_signed, bool relu>
struct Halves {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    std::uint32_t result = 0;
    for (std::uint32_t i = 0; i < 2; ++i) {
      const std::int64_t x = part<is_signed, 16>(a, i);
      const std::int64_t y = part<is_signed, 16>(b, i);
      std::int64_t value = opcode == Opcode::add   ? x + y
                           : opcode == Opcode::min ? std::min(x, y)
                                                   : std::max(x, y);
      if (relu) value = std::max<std::int64_t>(value, 0);
      result |= (static_cast<std::uint32_t>(value) & 0xffff) << 16 * i;
    }
    return result;
  }
};
template <Opcode opcode>
struct Relu {
  std::int32_t operator()(std::int32_t a, std::int32_t b) const {
    return std::max(opcode == Opcode::min ? std::min(a, b) : std::max(a, b), 0);
  }
};

enum class Permute : std::uint8_t { f4e, b4e, rc8, ecl, ecr, rc16 };

template <Permute mode>
struct Prmt {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    const std::uint64_t bytes = static_cast<std::uint64_t>(b) << 32 | a;
    const std::uint32_t n = c & 3;
    std::uint32_t result = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
      std::uint32_t from = 0;
      switch (mode) {
        case Permute::f4e: from = n + i; break;
        case Permute::b4e: from = (n + 8 - i) & 7; break;
        case Permute::rc8: from = n; break;
        case Permute::ecl: from = std::max(n, i); break;
        case Permute::ecr: from = std::min(n, i); break;
        case Permute::rc16: from = (n & 1) * 2 + (i & 1); break;
      }
      result |= static_cast<std::uint32_t>(bytes >> 8 * from & 255) << 8 * i;
    }
    return result;
  }
};

template <typename Select>
struct Slct {
  template <typename T>
  T operator()(T a, T b, Select c) const {
    return c >= 0 ? a : b;
  }
};
struct SlctFlushed {
  template <typename T>
  T operator()(T a, T b, float c) const {
    return flush(c) >= 0 ? a : b;
  }
};

using U32 = std::uint32_t;
using S32 = std::int32_t;

template <typename Op>
constexpr Handler two = &apply<Op, U32, U32, U32>;
template <typename Op>
constexpr Handler three = &apply<Op, U32, U32, U32, U32>;

template <template <bool, bool> typename Op>
Handler dot(bool a, bool b) {
  if (a) return b ? three<Op<true, true>> : three<Op<true, false>>;
  return b ? three<Op<false, true>> : three<Op<false, false>>;
}
template <bool a, bool b>
using Dp2aLow = Dp2a<a, b, false>;
template <bool a, bool b>
using Dp2aHigh = Dp2a<a, b, true>;

template <Opcode opcode>
Handler halves(ScalarType t, bool relu) {
  if (t == ScalarType::u16x2) return two<Halves<opcode, false, false>>;
  return relu ? two<Halves<opcode, true, true>> : two<Halves<opcode, true, false>>;
}

template <bool high>
Handler twenty_four(Opcode opcode, bool is_signed) {
  if (opcode == Opcode::mul24) {
    return is_signed ? &apply<Mul24<S32, high>, S32, S32, S32> : &apply<Mul24<U32, high>, U32, U32, U32>;
  }
  return is_signed ? &apply<Mad24<S32, high>, S32, S32, S32, S32>
                   : &apply<Mad24<U32, high>, U32, U32, U32, U32>;
}

Handler permutation(const Decoder& d) {
  if (d.has("f4e")) return three<Prmt<Permute::f4e>>;
  if (d.has("b4e")) return three<Prmt<Permute::b4e>>;
  if (d.has("rc8")) return three<Prmt<Permute::rc8>>;
  if (d.has("ecl")) return three<Prmt<Permute::ecl>>;
  if (d.has("ecr")) return three<Prmt<Permute::ecr>>;
  return d.has("rc16") ? three<Prmt<Permute::rc16>> : nullptr;
}

Handler select(const Decoder& d, Opcode opcode, const std::vector<ScalarType>& types) {
  const ScalarType t = types.back();
  const auto is_signed = [&](std::size_t i) { return types[i] == ScalarType::s32; };
  const bool packed = t == ScalarType::u16x2 || t == ScalarType::s16x2;
  const bool clamps = d.has("clamp");
  switch (opcode) {
    case Opcode::add:
      if (packed) return halves<Opcode::add>(t, false);
      return d.has("sat") && t == ScalarType::s32 ? &apply<AddSat, S32, S32, S32> : nullptr;
    case Opcode::sub: return d.has("sat") && t == ScalarType::s32 ? &apply<SubSat, S32, S32, S32> : nullptr;
    case Opcode::mad:
      return d.has("sat") && t == ScalarType::s32 ? &apply<MadHiSat, S32, S32, S32, S32> : nullptr;
    case Opcode::min:
      if (packed) return halves<Opcode::min>(t, d.has("relu"));
      return d.has("relu") && t == ScalarType::s32 ? &apply<Relu<Opcode::min>, S32, S32, S32> : nullptr;
    case Opcode::max:
      if (packed) return halves<Opcode::max>(t, d.has("relu"));
      return d.has("relu") && t == ScalarType::s32 ? &apply<Relu<Opcode::max>, S32, S32, S32> : nullptr;
    case Opcode::mad24:
      if (d.has("sat")) return &apply<Mad24HiSat, S32, S32, S32, S32>;
      [[fallthrough]];
    case Opcode::mul24:
      return d.has("hi") ? twenty_four<true>(opcode, is_signed(0)) : twenty_four<false>(opcode, is_signed(0));
    case Opcode::szext:
      if (is_signed(0)) return clamps ? two<Szext<true, true>> : two<Szext<true, false>>;
      return clamps ? two<Szext<false, true>> : two<Szext<false, false>>;
    case Opcode::bmsk: return clamps ? two<Bmsk<true>> : two<Bmsk<false>>;
    case Opcode::fns: return &apply<Fns, U32, U32, U32, S32>;
    case Opcode::dp4a: return dot<Dp4a>(is_signed(0), is_signed(1));
    case Opcode::dp2a:
      return d.has("hi") ? dot<Dp2aHigh>(is_signed(0), is_signed(1))
                         : dot<Dp2aLow>(is_signed(0), is_signed(1));
    case Opcode::prmt: return permutation(d);
    default: return nullptr;
  }
}

/// slct.type.ctype d, a, b, c: a where c is not negative.
bool emit_slct(Decoder& d) {
  const auto types = d.in().types();
  const ScalarType t = types[0];
  const bool floating = types[1] == ScalarType::f32;
  const auto pick = [&]<typename T>(T) -> Handler {
    if (!floating) return &apply<Slct<S32>, T, T, T, S32>;
    return d.has("ftz") ? &apply<SlctFlushed, T, T, T, float> : &apply<Slct<float>, T, T, T, float>;
  };
  const Slot a = d.read(d.arg(1), t);
  const Slot b = d.read(d.arg(2), t);
  const Slot c = d.read(d.arg(3), types[1]);
  d.emit(ptx::bits_of(t) == 64 ? pick(std::uint64_t{}) : pick(U32{}), d.write(d.arg(0), t), a, b, c);
  return true;
}

}  // namespace

bool select_integer(Decoder& d) {
  const Opcode opcode = d.in().opcode;
  const auto types = d.in().types();
  if (types.empty()) return false;
  if (opcode == Opcode::slct && types.size() == 2) return emit_slct(d);
  const Handler handler = select(d, opcode, types);
  if (handler == nullptr) return false;
  const ScalarType t = types.back();
  Slot slots[3] = {0, 0, 0};
  for (std::size_t i = 1; i < d.args().size() && i < 4; ++i) slots[i - 1] = d.read(d.arg(i), t);
  d.emit(handler, d.write(d.arg(0), t), slots[0], slots[1], slots[2]);
  return true;
}

}  // namespace sim
TMAJIT_END
