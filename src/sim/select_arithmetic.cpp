/// Integer arithmetic (PTX ISA 9.7.1).
#include "sim/decode.hpp"
#include "sim/numeric.hpp"
#include "sim/warp.hpp"

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::Opcode;
using ptx::ScalarType;

/// Arithmetic that wraps: through the unsigned type, and never through int's promotions.
template <typename T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Bits<T>>(a) + static_cast<Bits<T>>(b));
  }
};
struct Sub {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Bits<T>>(a) - static_cast<Bits<T>>(b));
  }
};
struct MulLo {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Bits<T>>(a) * static_cast<Bits<T>>(b));
  }
};
struct MulHi {
  template <typename T>
  T operator()(T a, T b) const {
    return multiply_high(a, b);
  }
};
template <typename Product>
struct Mad {
  template <typename T>
  T operator()(T a, T b, T c) const {
    return Add{}(Product{}(a, b), c);
  }
};
template <typename Wide>
struct MulWide {
  template <typename T>
  Wide operator()(T a, T b) const {
    return static_cast<Wide>(static_cast<Wide>(a) * static_cast<Wide>(b));
  }
};
template <typename Wide>
struct MadWide {
  template <typename T>
  Wide operator()(T a, T b, Wide c) const {
    return Add{}(MulWide<Wide>{}(a, b), c);
  }
};
/// Division by zero gives all ones, as the hardware does.
struct Div {
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return Sub{}(T{0}, a);
    }
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <typename T>
  T operator()(T a, T b) const {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  }
};
struct Min {
  template <typename T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Max {
  template <typename T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct Neg {
  template <typename T>
  T operator()(T a) const {
    return Sub{}(T{0}, a);
  }
};
struct Abs {
  template <typename T>
  T operator()(T a) const {
    return a < 0 ? Sub{}(T{0}, a) : a;
  }
};
struct Sad {
  template <typename T>
  T operator()(T a, T b, T c) const {
    return Add{}(c, a < b ? Sub{}(b, a) : Sub{}(a, b));
  }
};
struct Popc {
  template <typename T>
  std::uint32_t operator()(T a) const {
    return static_cast<std::uint32_t>(std::popcount(a));
  }
};
struct Clz {
  template <typename T>
  std::uint32_t operator()(T a) const {
    return static_cast<std::uint32_t>(std::countl_zero(a));
  }
};
struct Brev {
  template <typename T>
  T operator()(T a) const {
    T result = 0;
    for (std::uint32_t i = 0; i < 8 * sizeof(T); ++i) result = static_cast<T>(result << 1 | (a >> i & 1));
    return result;
  }
};
template <bool shift_amount>
struct Bfind {
  template <typename T>
  std::uint32_t operator()(T value) const {
    using U = std::make_unsigned_t<T>;
    const auto a = static_cast<U>(std::is_signed_v<T> && value < 0 ? static_cast<T>(~value) : value);
    if (a == 0) return ~0U;
    const auto zeros = static_cast<std::uint32_t>(std::countl_zero(a));
    return shift_amount ? zeros : static_cast<std::uint32_t>(8 * sizeof(T)) - 1 - zeros;
  }
};
struct Bfe {
  template <typename T>
  T operator()(T a, std::uint32_t position, std::uint32_t length) const {
    using U = std::make_unsigned_t<T>;
    constexpr std::uint32_t width = 8 * sizeof(T);
    position &= 255;
    length &= 255;
    if (length == 0) return 0;
    const bool sign =
        std::is_signed_v<T> && (static_cast<U>(a) >> std::min(position + length - 1, width - 1) & 1) != 0;
    const U fill = sign ? static_cast<U>(~U{0}) : U{0};
    const U shifted = position >= width ? fill : static_cast<U>(a) >> position;
    const std::uint32_t have = position >= width ? 0 : std::min(length, width - position);
    if (have == 0) return static_cast<T>(fill);
    const U mask = have >= width ? static_cast<U>(~U{0}) : static_cast<U>((U{1} << have) - 1);
    return static_cast<T>((shifted & mask) | (fill & static_cast<U>(~mask)));
  }
};
struct Bfi {
  template <typename T>
  T operator()(T from, T into, std::uint64_t packed) const {
    constexpr std::uint32_t width = 8 * sizeof(T);
    const auto position = static_cast<std::uint32_t>(packed & 255);
    const auto length = static_cast<std::uint32_t>(packed >> 8 & 255);
    if (position >= width || length == 0) return into;
    const std::uint32_t have = std::min(length, width - position);
    const T mask = static_cast<T>((have >= width ? ~T{0} : static_cast<T>((T{1} << have) - 1)) << position);
    return static_cast<T>((into & ~mask) | ((from << position) & mask));
  }
};
struct Pack {
  std::uint64_t operator()(std::uint32_t position, std::uint32_t length) const {
    return (position & 255) | (length & 255) << 8;
  }
};
struct Mul24 {
  template <typename T>
  T operator()(T a, T b) const {
    const auto cut = [](T v) {
      return static_cast<T>(static_cast<T>(static_cast<std::uint32_t>(v) << 8) >> 8);
    };
    return MulLo{}(cut(a), cut(b));
  }
};

template <typename Op>
Handler unary(ScalarType t) {
  switch (t) {
    case ScalarType::s16: return &apply<Op, std::int16_t, std::int16_t>;
    case ScalarType::s32: return &apply<Op, std::int32_t, std::int32_t>;
    case ScalarType::s64: return &apply<Op, std::int64_t, std::int64_t>;
    default: return nullptr;
  }
}
template <typename Op>
Handler binary(ScalarType t) {
  switch (t) {
    case ScalarType::u16: return &apply<Op, std::uint16_t, std::uint16_t, std::uint16_t>;
    case ScalarType::s16: return &apply<Op, std::int16_t, std::int16_t, std::int16_t>;
    case ScalarType::u32: return &apply<Op, std::uint32_t, std::uint32_t, std::uint32_t>;
    case ScalarType::s32: return &apply<Op, std::int32_t, std::int32_t, std::int32_t>;
    case ScalarType::u64: return &apply<Op, std::uint64_t, std::uint64_t, std::uint64_t>;
    case ScalarType::s64: return &apply<Op, std::int64_t, std::int64_t, std::int64_t>;
    default: return nullptr;
  }
}
template <typename Op>
Handler ternary(ScalarType t) {
  switch (t) {
    case ScalarType::u16: return &apply<Op, std::uint16_t, std::uint16_t, std::uint16_t, std::uint16_t>;
    case ScalarType::s16: return &apply<Op, std::int16_t, std::int16_t, std::int16_t, std::int16_t>;
    case ScalarType::u32: return &apply<Op, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
    case ScalarType::s32: return &apply<Op, std::int32_t, std::int32_t, std::int32_t, std::int32_t>;
    case ScalarType::u64: return &apply<Op, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
    case ScalarType::s64: return &apply<Op, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
    default: return nullptr;
  }
}
template <typename Op>
Handler counting(ScalarType t) {
  return ptx::bits_of(t) == 64 ? &apply<Op, std::uint32_t, std::uint64_t>
                               : &apply<Op, std::uint32_t, std::uint32_t>;
}

/// mul.wide and mad.wide: from 16 bits to 32, from 32 to 64.
template <template <typename> typename Op, bool three>
Handler wide(ScalarType t) {
  const auto pick = []<typename Narrow, typename Wide>(Narrow, Wide) -> Handler {
    if constexpr (three) {
      return &apply<Op<Wide>, Wide, Narrow, Narrow, Wide>;
    } else {
      return &apply<Op<Wide>, Wide, Narrow, Narrow>;
    }
  };
  switch (t) {
    case ScalarType::u16: return pick(std::uint16_t{}, std::uint32_t{});
    case ScalarType::s16: return pick(std::int16_t{}, std::int32_t{});
    case ScalarType::u32: return pick(std::uint32_t{}, std::uint64_t{});
    case ScalarType::s32: return pick(std::int32_t{}, std::int64_t{});
    default: return nullptr;
  }
}

ScalarType wider(ScalarType t) {
  switch (t) {
    case ScalarType::u16: return ScalarType::u32;
    case ScalarType::s16: return ScalarType::s32;
    case ScalarType::u32: return ScalarType::u64;
    default: return ScalarType::s64;
  }
}

void emit_same(Decoder& d, Handler handler, ScalarType t) {
  if (handler == nullptr) d.unsupported();
  const auto& args = d.args();
  Slot slots[3] = {0, 0, 0};
  for (std::size_t i = 1; i < args.size() && i < 4; ++i) slots[i - 1] = d.read(args[i], t);
  d.emit(handler, d.write(d.arg(0), t), slots[0], slots[1], slots[2]);
}

}  // namespace

bool select_arithmetic(Decoder& d) {
  const Opcode opcode = d.in().opcode;
  const auto types = d.in().types();
  const ScalarType t = types.empty() ? ScalarType::b32 : types.back();
  const auto u32 = ScalarType::u32;
  // Carries, packed 16-bit forms, and saturation are not among what NVRTC makes of our kernels.
  if (d.has("cc") || d.has("sat")) d.unsupported();
  switch (opcode) {
    case Opcode::add: emit_same(d, binary<Add>(t), t); return true;
    case Opcode::sub: emit_same(d, binary<Sub>(t), t); return true;
    case Opcode::mul:
      if (d.has("wide")) {
        const Slot a = d.read(d.arg(1), t);
        const Slot b = d.read(d.arg(2), t);
        const Handler handler = wide<MulWide, false>(t);
        if (handler == nullptr) d.unsupported();
        d.emit(handler, d.write(d.arg(0), wider(t)), a, b);
        return true;
      }
      emit_same(d, d.has("hi") ? binary<MulHi>(t) : binary<MulLo>(t), t);
      return true;
    case Opcode::mad:
      if (d.has("wide")) {
        const Slot a = d.read(d.arg(1), t);
        const Slot b = d.read(d.arg(2), t);
        const Slot c = d.read(d.arg(3), wider(t));
        const Handler handler = wide<MadWide, true>(t);
        if (handler == nullptr) d.unsupported();
        d.emit(handler, d.write(d.arg(0), wider(t)), a, b, c);
        return true;
      }
      emit_same(d, d.has("hi") ? ternary<Mad<MulHi>>(t) : ternary<Mad<MulLo>>(t), t);
      return true;
    case Opcode::mul24:
      if (d.has("hi")) d.unsupported();
      emit_same(d,
                t == ScalarType::s32 ? &apply<Mul24, std::int32_t, std::int32_t, std::int32_t>
                                     : &apply<Mul24, std::uint32_t, std::uint32_t, std::uint32_t>,
                t);
      return true;
    case Opcode::div: emit_same(d, binary<Div>(t), t); return true;
    case Opcode::rem: emit_same(d, binary<Rem>(t), t); return true;
    case Opcode::min: emit_same(d, binary<Min>(t), t); return true;
    case Opcode::max: emit_same(d, binary<Max>(t), t); return true;
    case Opcode::sad: emit_same(d, ternary<Sad>(t), t); return true;
    case Opcode::neg: emit_same(d, unary<Neg>(t), t); return true;
    case Opcode::abs: emit_same(d, unary<Abs>(t), t); return true;
    case Opcode::popc: d.emit(counting<Popc>(t), d.write(d.arg(0), u32), d.read(d.arg(1), t)); return true;
    case Opcode::clz: d.emit(counting<Clz>(t), d.write(d.arg(0), u32), d.read(d.arg(1), t)); return true;
    case Opcode::brev:
      emit_same(d,
                ptx::bits_of(t) == 64 ? &apply<Brev, std::uint64_t, std::uint64_t>
                                      : &apply<Brev, std::uint32_t, std::uint32_t>,
                t);
      return true;
    case Opcode::bfind: {
      const bool amount = d.has("shiftamt");
      const auto pick = [&]<typename T>(T) -> Handler {
        return amount ? &apply<Bfind<true>, std::uint32_t, T> : &apply<Bfind<false>, std::uint32_t, T>;
      };
      const Handler handler = t == ScalarType::u32   ? pick(std::uint32_t{})
                              : t == ScalarType::s32 ? pick(std::int32_t{})
                              : t == ScalarType::u64 ? pick(std::uint64_t{})
                                                     : pick(std::int64_t{});
      d.emit(handler, d.write(d.arg(0), u32), d.read(d.arg(1), t));
      return true;
    }
    case Opcode::bfe: {
      const auto pick = []<typename T>(T) -> Handler {
        return &apply<Bfe, T, T, std::uint32_t, std::uint32_t>;
      };
      const Handler handler = t == ScalarType::u32   ? pick(std::uint32_t{})
                              : t == ScalarType::s32 ? pick(std::int32_t{})
                              : t == ScalarType::u64 ? pick(std::uint64_t{})
                                                     : pick(std::int64_t{});
      d.emit(handler, d.write(d.arg(0), t), d.read(d.arg(1), t), d.read(d.arg(2), u32),
             d.read(d.arg(3), u32));
      return true;
    }
    case Opcode::bfi: {
      const Slot field = d.temporary(true);
      d.emit(&apply<Pack, std::uint64_t, std::uint32_t, std::uint32_t>, field, d.read(d.arg(3), u32),
             d.read(d.arg(4), u32));
      const Slot a = d.read(d.arg(1), t);
      const Slot b = d.read(d.arg(2), t);
      d.emit(ptx::bits_of(t) == 64 ? &apply<Bfi, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>
                                   : &apply<Bfi, std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t>,
             d.write(d.arg(0), t), a, b, field);
      return true;
    }
    default: return false;
  }
}

}  // namespace sim
TMAJIT_END
