/// Integer arithmetic of whole registers, of pairs of 16 bits, and of extended precision (PTX
/// ISA 9.7.1, 9.7.2).
#include "sim/instructions/select.hpp"

TMAJIT_BEGIN
namespace sim {
namespace integer_arithmetic {
namespace {

using U32 = std::uint32_t;
using S32 = std::int32_t;

/// The type for arithmetic on T that must wrap: unsigned, and at least 32 bits wide so that it is not
/// promoted to int.
template <typename T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, U32>;

constexpr auto add = []<typename T>(T a, T b) { return static_cast<T>(Bits<T>(a) + Bits<T>(b)); };
constexpr auto subtract = []<typename T>(T a, T b) { return static_cast<T>(Bits<T>(a) - Bits<T>(b)); };
constexpr auto low_product = []<typename T>(T a, T b) { return static_cast<T>(Bits<T>(a) * Bits<T>(b)); };
constexpr auto high_product = []<typename T>(T a, T b) { return multiply_high(a, b); };
template <auto product>
constexpr auto multiply_add = []<typename T>(T a, T b, T c) { return add(product(a, b), c); };
template <typename Wide>
constexpr auto wide_product = [](auto a, auto b) { return static_cast<Wide>(Wide{a} * Wide{b}); };
template <typename Wide>
constexpr auto wide_multiply_add = [](auto a, auto b, Wide c) { return add(wide_product<Wide>(a, b), c); };
/// Division by zero gives all ones, as the hardware does.
constexpr auto quotient = []<typename T>(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return subtract(T{0}, a);
  return static_cast<T>(a / b);
};
constexpr auto remainder = []<typename T>(T a, T b) {
  if (b == 0) return a;
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return T{0};
  return static_cast<T>(a % b);
};
constexpr auto least = []<typename T>(T a, T b) { return b < a ? b : a; };
constexpr auto greatest = []<typename T>(T a, T b) { return a < b ? b : a; };
constexpr auto negate = []<typename T>(T a) { return subtract(T{0}, a); };
constexpr auto magnitude = []<typename T>(T a) { return a < 0 ? negate(a) : a; };
constexpr auto add_distance = []<typename T>(T a, T b, T c) {
  return add(c, a < b ? subtract(b, a) : subtract(a, b));
};
constexpr auto count_ones = [](auto a) { return std::popcount(a); };
constexpr auto count_zeros = [](auto a) { return std::countl_zero(a); };
constexpr auto reverse = []<typename T>(T a) {
  T result = 0;
  for (U32 i = 0; i < 8 * sizeof(T); ++i) result = static_cast<T>(result << 1 | (a >> i & 1));
  return result;
};
/// bfind. With `shift_amount` (.shiftamt) returns the left shift that moves the bit to the top.
template <bool shift_amount>
constexpr auto find_bit = []<typename T>(T value) {
  using U = std::make_unsigned_t<T>;
  const auto a = static_cast<U>(std::is_signed_v<T> && value < 0 ? static_cast<T>(~value) : value);
  if (a == 0) return ~0U;
  const auto zeros = static_cast<U32>(std::countl_zero(a));
  return shift_amount ? zeros : static_cast<U32>(8 * sizeof(T)) - 1 - zeros;
};
/// bfe. Bits beyond the width of T are copies of the sign bit, or 0 if T is unsigned.
constexpr auto extract = []<typename T>(T a, U32 position, U32 length) -> T {
  using U = std::make_unsigned_t<T>;
  constexpr U32 width = 8 * sizeof(T);
  position &= 255;
  length &= 255;
  if (length == 0) return 0;
  const bool sign =
      std::is_signed_v<T> && (static_cast<U>(a) >> std::min(position + length - 1, width - 1) & 1) != 0;
  const U fill = sign ? static_cast<U>(~U{0}) : U{0};
  const U shifted = position >= width ? fill : static_cast<U>(a) >> position;
  const U32 available = position >= width ? 0 : std::min(length, width - position);
  if (available == 0) return static_cast<T>(fill);
  const U mask = available >= width ? static_cast<U>(~U{0}) : static_cast<U>((U{1} << available) - 1);
  return static_cast<T>((shifted & mask) | (fill & static_cast<U>(~mask)));
};
/// bfi. `packed`: position and length, as pack() returns them.
constexpr auto insert = []<typename T>(T from, T into, std::uint64_t packed) -> T {
  constexpr U32 width = 8 * sizeof(T);
  const auto position = static_cast<U32>(packed & 255);
  const auto length = static_cast<U32>(packed >> 8 & 255);
  if (position >= width || length == 0) return into;
  const U32 available = std::min(length, width - position);
  const T mask =
      static_cast<T>((available >= width ? ~T{0} : static_cast<T>((T{1} << available) - 1)) << position);
  return static_cast<T>((into & ~mask) | ((from << position) & mask));
};
constexpr auto pack = [](U32 position, U32 length) { return (position & 255) | (length & 255) << 8; };

S32 saturate(std::int64_t value) {
  return static_cast<S32>(
      std::clamp<std::int64_t>(value, std::numeric_limits<S32>::min(), std::numeric_limits<S32>::max()));
}

constexpr auto add_saturated = [](std::int64_t a, std::int64_t b) { return saturate(a + b); };
constexpr auto subtract_saturated = [](std::int64_t a, std::int64_t b) { return saturate(a - b); };
constexpr auto multiply_add_saturated = [](std::int64_t a, std::int64_t b, std::int64_t c) {
  return saturate((a * b >> 32) + c);
};

/// The product of the low 24 bits of both operands: its bits 47 to 16 (`high`), or 31 to 0.
template <bool high>
constexpr auto product_of_24 = []<typename T>(T a, T b) {
  const auto low_24 = [](T v) -> std::int64_t {
    return static_cast<T>(static_cast<T>(static_cast<U32>(v) << 8) >> 8);
  };
  const std::int64_t product = low_24(a) * low_24(b);
  return static_cast<T>(static_cast<U32>(high ? product >> 16 : product));
};
constexpr auto multiply_add_24_saturated = [](S32 a, S32 b, S32 c) {
  return saturate(std::int64_t{product_of_24<true>(a, b)} + c);
};

template <bool is_signed, bool clamps>
constexpr auto extend = [](U32 a, U32 n) -> U32 {
  if (clamps && n >= 32) return a;
  n &= 31;
  if (n == 0) return 0;
  const U32 mask = ~0U << n;
  return is_signed && (a >> (n - 1) & 1) != 0 ? a | mask : a & ~mask;
};
template <bool clamps>
constexpr auto bit_mask = [](U32 a, U32 b) -> U32 {
  if (clamps && a >= 32) return 0;
  const U32 position = a & 31;
  const U32 width = clamps ? std::min(b, 32U) : b & 31;
  return static_cast<U32>(((1ULL << width) - 1) << position);
};
/// fns: the position of set bit number |offset| of `mask`, counted from bit `base` upwards, or downwards if
/// the offset is negative. ~0 if there is none.
constexpr auto find_nth = [](U32 mask, U32 base, S32 offset) {
  const int step = offset < 0 ? -1 : 1;
  // Count set bits from bit `base` on, inclusive. An offset of 0 asks for bit `base` only.
  std::int64_t count = offset == 0 ? 0 : std::int64_t{step} * offset - 1;
  for (auto at = static_cast<std::int64_t>(base); at >= 0 && at < 32; at += step) {
    if ((mask >> at & 1) != 0 && count-- == 0) return static_cast<U32>(at);
    if (offset == 0) break;
  }
  return ~0U;
};

/// Field `i` of a word that is divided into fields of `bits` bits.
template <bool is_signed, U32 bits>
std::int64_t part(U32 word, U32 i) {
  const U32 value = word >> bits * i & ((1U << bits) - 1);
  if (!is_signed || value >> (bits - 1) == 0) return value;
  return static_cast<std::int64_t>(value) - (std::int64_t{1} << bits);
}
template <bool a_signed, bool b_signed>
constexpr auto dot_of_4 = [](U32 a, U32 b, U32 c) {
  std::int64_t sum = c;
  for (U32 i = 0; i < 4; ++i) sum += part<a_signed, 8>(a, i) * part<b_signed, 8>(b, i);
  return static_cast<U32>(sum);
};
template <bool a_signed, bool b_signed, bool high>
constexpr auto dot_of_2 = [](U32 a, U32 b, U32 c) {
  std::int64_t sum = c;
  for (U32 i = 0; i < 2; ++i) sum += part<a_signed, 16>(a, i) * part<b_signed, 8>(b, i + (high ? 2 : 0));
  return static_cast<U32>(sum);
};

/// add, min and max of two 16-bit halves.
template <auto operation, bool is_signed, bool relu>
constexpr auto halves = [](U32 a, U32 b) {
  U32 result = 0;
  for (U32 i = 0; i < 2; ++i) {
    std::int64_t value = operation(part<is_signed, 16>(a, i), part<is_signed, 16>(b, i));
    if (relu) value = std::max<std::int64_t>(value, 0);
    result |= (static_cast<U32>(value) & 0xffff) << 16 * i;
  }
  return result;
};
template <auto operation>
constexpr auto at_least_zero = [](S32 a, S32 b) { return std::max(operation(a, b), 0); };

template <auto operation, std::size_t operands>
Handler integers(const Decoder&, ScalarType t) {
  return with_integer(t, []<typename T>(T) { return uniform<operation, T, operands>; });
}

/// abs and neg.
template <auto operation>
Handler signed_integers(const Decoder& d, ScalarType t) {
  return ptx::is_signed_integer(t) ? integers<operation, 1>(d, t) : nullptr;
}

bool is_pair(ScalarType t) {
  return t == ScalarType::u16x2 || t == ScalarType::s16x2;
}

/// Selects add, min and max of pairs.
template <auto operation>
Handler pairs(ScalarType t, bool relu) {
  return with_flags(
      [](auto is_signed, auto no_less) { return uniform<halves<operation, is_signed, no_less>, U32, 2>; },
      t == ScalarType::s16x2, relu);
}

/// Selects min and max; some types have .relu.
template <auto operation>
Handler least_or_greatest(const Decoder& d, ScalarType t) {
  const bool relu = d.has("relu");
  if (is_pair(t)) return pairs<operation>(t, relu);
  if (relu) return t == ScalarType::s32 ? uniform<at_least_zero<operation>, S32, 2> : nullptr;
  return integers<operation, 2>(d, t);
}

/// Selects add, sub and mad, which can saturate for s32.
template <auto operation, auto saturating, std::size_t operands>
Handler saturable(const Decoder& d, ScalarType t) {
  if (!d.has("sat")) return integers<operation, operands>(d, t);
  return t == ScalarType::s32 ? uniform<saturating, S32, operands> : nullptr;
}

Handler words_reversed(const Decoder&, ScalarType t) {
  return is_wide(t) ? uniform<reverse, std::uint64_t, 1> : uniform<reverse, U32, 1>;
}

Handler of_24_bits(const Decoder& d, ScalarType t) {
  const bool adds = d.instruction().opcode == Opcode::mad24;
  if (adds && d.has("sat")) return uniform<multiply_add_24_saturated, S32, 3>;
  const auto handler_of = [](auto is_signed, auto high, auto third) {
    using T = std::conditional_t<is_signed, S32, U32>;
    if constexpr (third) return uniform<multiply_add<product_of_24<high>>, T, 3>;
    return uniform<product_of_24<high>, T, 2>;
  };
  return with_flags(handler_of, t == ScalarType::s32, d.has("hi"), adds);
}

bool is_signed(const Decoder& d, std::size_t type) {
  return d.instruction().types()[type] == ScalarType::s32;
}

Handler extension(const Decoder& d, ScalarType) {
  return with_flags([](auto sign, auto clamps) { return uniform<extend<sign, clamps>, U32, 2>; },
                    is_signed(d, 0), d.has("clamp"));
}

Handler masks(const Decoder& d, ScalarType) {
  return d.has("clamp") ? uniform<bit_mask<true>, U32, 2> : uniform<bit_mask<false>, U32, 2>;
}

Handler dot_products(const Decoder& d, ScalarType) {
  if (d.instruction().opcode == Opcode::dp4a)
    return with_flags([](auto a, auto b) { return uniform<dot_of_4<a, b>, U32, 3>; }, is_signed(d, 0),
                      is_signed(d, 1));
  return with_flags([](auto a, auto b, auto high) { return uniform<dot_of_2<a, b, high>, U32, 3>; },
                    is_signed(d, 0), is_signed(d, 1), d.has("hi"));
}

/// Selects the integer forms of opcodes that integers and floats share.
Handler arithmetic(const Decoder& d, ScalarType t) {
  const bool high = d.has("hi");
  switch (d.instruction().opcode) {
    case Opcode::add: return is_pair(t) ? pairs<add>(t, false) : saturable<add, add_saturated, 2>(d, t);
    case Opcode::sub: return saturable<subtract, subtract_saturated, 2>(d, t);
    case Opcode::mul: return high ? integers<high_product, 2>(d, t) : integers<low_product, 2>(d, t);
    case Opcode::mad:
      return high ? saturable<multiply_add<high_product>, multiply_add_saturated, 3>(d, t)
                  : integers<multiply_add<low_product>, 3>(d, t);
    case Opcode::div: return integers<quotient, 2>(d, t);
    case Opcode::min: return least_or_greatest<least>(d, t);
    case Opcode::max: return least_or_greatest<greatest>(d, t);
    case Opcode::neg: return signed_integers<negate>(d, t);
    case Opcode::abs: return signed_integers<magnitude>(d, t);
    default: return nullptr;
  }
}

/// mul.wide and mad.wide: from 16 bits to 32, from 32 to 64.
void emit_wide(Decoder& d, ScalarType t) {
  const bool adds = d.instruction().opcode == Opcode::mad;
  const auto emit = [&]<typename Narrow, typename Wide>(Narrow, Wide, ScalarType wide) {
    if (adds) {
      d.emit_as(&apply<wide_multiply_add<Wide>, Wide, Narrow, Narrow, Wide>, {wide, t, t, wide});
    } else {
      d.emit_as(&apply<wide_product<Wide>, Wide, Narrow, Narrow>, {wide, t, t});
    }
  };
  switch (t) {
    case ScalarType::u16: return emit(std::uint16_t{}, U32{}, ScalarType::u32);
    case ScalarType::s16: return emit(std::int16_t{}, S32{}, ScalarType::s32);
    case ScalarType::u32: return emit(U32{}, std::uint64_t{}, ScalarType::u64);
    case ScalarType::s32: return emit(S32{}, std::int64_t{}, ScalarType::s64);
    default: d.unsupported();
  }
}

// Extended precision: the carry has a slot of its own, one bit per lane.

/// The first term of a sum: operand a, or the low or high half of the product a · b.
enum class First : std::uint8_t { operand, low, high };

/// d = first term + last operand + carry, or a - b - borrow. `reads`: adds the carry; `writes`: sets it.
template <typename T, First first, bool subtracts, bool reads, bool writes>
void with_carry(Warp& warp, const MicroOp& op, Mask mask) {
  using U = std::make_unsigned_t<T>;
  std::byte* const registers = warp.registers;
  Mask& carry = predicate(warp, carry_slot);
  for_lanes(mask, [&](std::uint32_t lane) {
    const T a = get<T>(registers + op.a, lane);
    const T b = get<T>(registers + op.b, lane);
    U left = static_cast<U>(a);
    U right = static_cast<U>(b);
    if constexpr (first != First::operand) {
      left = first == First::low ? static_cast<U>(left * right) : static_cast<U>(multiply_high(a, b));
      right = static_cast<U>(get<T>(registers + op.c, lane));
    }
    const U extra = reads ? static_cast<U>(carry >> lane & 1) : U{0};
    U result = 0;
    bool out = false;
    if constexpr (subtracts) {
      result = static_cast<U>(left - right - extra);
      out = left < right || (left == right && extra != 0);
    } else {
      const auto sum = static_cast<U>(left + right);
      result = static_cast<U>(sum + extra);
      out = sum < left || result < sum;
    }
    if constexpr (writes) write_lane(warp, carry_slot, lane, out);
    put<U>(registers + op.d, lane, result);
  });
}

template <First first, bool subtracts>
void emit_with_carry(Decoder& d) {
  const ScalarType t = d.type();
  const Opcode opcode = d.instruction().opcode;
  const bool reads = opcode == Opcode::addc || opcode == Opcode::subc || opcode == Opcode::madc;
  const auto handler_of = [&]<typename T>(T) -> Handler {
    if (!reads) return &with_carry<T, first, subtracts, false, true>;
    return d.has("cc") ? &with_carry<T, first, subtracts, true, true>
                       : &with_carry<T, first, subtracts, true, false>;
  };
  d.emit_uniform(with_int32_or_64(t, handler_of), t);
}

/// Selects addc, subc, madc, and add.cc, sub.cc, mad.cc.
void select_carry(Decoder& d) {
  switch (d.instruction().opcode) {
    case Opcode::add:
    case Opcode::addc: return emit_with_carry<First::operand, false>(d);
    case Opcode::sub:
    case Opcode::subc: return emit_with_carry<First::operand, true>(d);
    case Opcode::mad:
    case Opcode::madc:
      return d.has("hi") ? emit_with_carry<First::high, false>(d) : emit_with_carry<First::low, false>(d);
    default: d.unsupported();
  }
}

/// Selects opcodes that integers and floats share.
void select_arithmetic(Decoder& d) {
  const ScalarType t = d.type();
  if (d.has("cc")) return select_carry(d);
  if (is_half(t)) return select_half(d);
  if (t == ScalarType::f32 || t == ScalarType::f64) return select_float(d);
  if (d.has("wide")) return emit_wide(d, t);
  d.emit_uniform(arithmetic(d, t), t);
}

void select_bfind(Decoder& d) {
  const ScalarType t = d.type();
  const auto handler_of = [&]<typename T>(T) -> Handler {
    return d.has("shiftamt") ? &apply<find_bit<true>, U32, T> : &apply<find_bit<false>, U32, T>;
  };
  d.emit_as(with_int32_or_64(t, handler_of), {ScalarType::u32, t});
}

void select_bfe(Decoder& d) {
  const ScalarType t = d.type();
  const auto handler_of = []<typename T>(T) -> Handler { return &apply<extract, T, T, U32, U32>; };
  d.emit_as(with_int32_or_64(t, handler_of), {t, t, ScalarType::u32, ScalarType::u32});
}

void select_bfi(Decoder& d) {
  const ScalarType t = d.type();
  const Slot field = d.temporary(true);
  const Slot position = d.read(3, ScalarType::u32);
  const Slot length = d.read(4, ScalarType::u32);
  d.emit(&apply<pack, std::uint64_t, U32, U32>, field, position, length);
  const Slot a = d.read(1, t);
  const Slot b = d.read(2, t);
  d.emit(is_wide(t) ? &apply<insert, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>
                    : &apply<insert, U32, U32, U32, std::uint64_t>,
         d.write(0, t), a, b, field);
}

/// Selects popc and clz, which return 32 bits for operands of 32 or 64 bits.
template <auto count>
void select_count(Decoder& d) {
  const ScalarType t = d.type();
  d.emit_as(with_word(t, []<typename T>(T) -> Handler { return &apply<count, U32, T>; }),
            {ScalarType::u32, t});
}

constexpr Selector arithmetic_table[] = {
    {Opcode::add, &select_arithmetic},
    {Opcode::addc, &select_carry},
    {Opcode::sub, &select_arithmetic},
    {Opcode::subc, &select_carry},
    {Opcode::mul, &select_arithmetic},
    {Opcode::mad, &select_arithmetic},
    {Opcode::madc, &select_carry},
    {Opcode::mul24, &by_type<&of_24_bits>},
    {Opcode::mad24, &by_type<&of_24_bits>},
    {Opcode::sad, &by_type<&integers<add_distance, 3>>},
    {Opcode::div, &select_arithmetic},
    {Opcode::rem, &by_type<&integers<remainder, 2>>},
    {Opcode::abs, &select_arithmetic},
    {Opcode::neg, &select_arithmetic},
    {Opcode::min, &select_arithmetic},
    {Opcode::max, &select_arithmetic},
    {Opcode::popc, &select_count<count_ones>},
    {Opcode::clz, &select_count<count_zeros>},
    {Opcode::bfind, &select_bfind},
    {Opcode::fns, [](Decoder& d) { d.emit_uniform(&apply<find_nth, U32, U32, U32, S32>, d.type()); }},
    {Opcode::brev, &by_type<&words_reversed>},
    {Opcode::bfe, &select_bfe},
    {Opcode::bfi, &select_bfi},
    {Opcode::szext, &by_type<&extension>},
    {Opcode::bmsk, &by_type<&masks>},
    {Opcode::dp4a, &by_type<&dot_products>},
    {Opcode::dp2a, &by_type<&dot_products>},
    {Opcode::fma, &select_arithmetic},
    {Opcode::ex2, &select_arithmetic},
    {Opcode::tanh, &select_arithmetic},
};

}  // namespace
}  // namespace integer_arithmetic

constinit const Selectors arithmetic_selectors = integer_arithmetic::arithmetic_table;

}  // namespace sim
TMAJIT_END
