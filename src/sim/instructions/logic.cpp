/// Comparison, selection, logic, shifts, permutations of bytes (PTX ISA 9.7.6 to 9.7.8, "prmt").
#include "sim/instructions/select.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

TMAJIT_BEGIN
namespace sim {
namespace {

using U32 = std::uint32_t;

enum class Compare : std::uint8_t { eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };

template <typename T>
constexpr bool holds(Compare compare, T a, T b) {
  const bool unordered = is_nan(a) || is_nan(b);
  switch (compare) {
    case Compare::eq: return a == b;
    case Compare::ne: return a != b && !unordered;
    case Compare::lt: return a < b;
    case Compare::le: return a <= b;
    case Compare::gt: return a > b;
    case Compare::ge: return a >= b;
    case Compare::equ: return a == b || unordered;
    case Compare::neu: return a != b;
    case Compare::ltu: return a < b || unordered;
    case Compare::leu: return a <= b || unordered;
    case Compare::gtu: return a > b || unordered;
    case Compare::geu: return a >= b || unordered;
    case Compare::num: return !unordered;
    case Compare::nan: return unordered;
  }
  return false;
}

/// The comparison that the instruction names.
std::optional<Compare> compare_of(const ptx::Instruction& instruction) {
  constexpr std::pair<std::string_view, Compare> names[] = {
      {"eq", Compare::eq},   {"ne", Compare::ne},   {"lt", Compare::lt},   {"le", Compare::le},
      {"gt", Compare::gt},   {"ge", Compare::ge},   {"lo", Compare::lt},   {"ls", Compare::le},
      {"hi", Compare::gt},   {"hs", Compare::ge},   {"equ", Compare::equ}, {"neu", Compare::neu},
      {"ltu", Compare::ltu}, {"leu", Compare::leu}, {"gtu", Compare::gtu}, {"geu", Compare::geu},
      {"num", Compare::num}, {"nan", Compare::nan}};
  for (const std::string_view word : instruction.words()) {
    for (const auto& [name, compare] : names) {
      if (name == word) return compare;
    }
  }
  return std::nullopt;
}

/// Predicate d = Op(a, b).
template <typename Op>
void combine_predicates(Warp& warp, const MicroOp& op, Mask mask) {
  write_mask(warp, op.d, mask, Op{}(read_mask(warp, op.a), read_mask(warp, op.b)));
}

/// Predicate d = compare(a, b). aux: the slot of a second predicate, which gets the complement; 0: none.
template <Compare compare, typename T, bool ftz = false>
void set_predicate(Warp& warp, const MicroOp& op, Mask mask) {
  const std::byte* const a = warp.registers + op.a;
  const std::byte* const b = warp.registers + op.b;
  Mask result = 0;
  for (U32 i = 0; i < lanes; ++i) {
    if constexpr (ftz) {
      result |= static_cast<Mask>(holds(compare, flush(get<float>(a, i)), flush(get<float>(b, i)))) << i;
    } else {
      result |= static_cast<Mask>(holds(compare, get<T>(a, i), get<T>(b, i))) << i;
    }
  }
  if (op.aux != 0) write_mask(warp, op.aux, mask, ~result);
  write_mask(warp, op.d, mask, result);
}

/// The handler of a comparison; null if the type does not have it.
template <typename T, bool ftz = false>
Handler comparing(Compare compare) {
  constexpr auto all = []<std::size_t... i>(std::index_sequence<i...>) {
    return std::array<Handler, sizeof...(i)>{&set_predicate<static_cast<Compare>(i), T, ftz>...};
  };
  // Integers have only the comparisons up to ge; the later ones are unordered, or test for NaN.
  constexpr auto count =
      static_cast<std::size_t>(std::is_floating_point_v<T> ? Compare::nan : Compare::ge) + 1;
  constexpr auto handlers = all(std::make_index_sequence<count>{});
  const auto wanted = static_cast<std::size_t>(compare);
  return wanted < count ? handlers[wanted] : nullptr;
}

Handler comparison(const Decoder& d, ScalarType t, Compare compare) {
  switch (t) {
    case ScalarType::f32: return d.has("ftz") ? comparing<float, true>(compare) : comparing<float>(compare);
    case ScalarType::f64: return comparing<double>(compare);
    default: return with_integer(t, [&]<typename T>(T) { return comparing<T>(compare); });
  }
}

/// Compares f16 or bf16. Predicate d: result of the low halves; for pairs, predicate aux: result of the high
/// halves. c: the comparison, plus 256 for ftz.
template <SmallFormat format>
void compare_halves(Warp& warp, const MicroOp& op, Mask mask) {
  const bool flushes = (op.c & 256) != 0;
  const auto compare = static_cast<Compare>(op.c & 255);
  for (U32 i = 0; i < (op.aux != 0 ? 2U : 1U); ++i) {
    Mask result = 0;
    for_lanes(mask, [&](U32 lane) {
      const double a = read_half<format>(get<U32>(warp.registers + op.a, lane), i, flushes);
      const double b = read_half<format>(get<U32>(warp.registers + op.b, lane), i, flushes);
      result |= static_cast<Mask>(holds(compare, a, b)) << lane;
    });
    write_mask(warp, i == 0 ? op.d : op.aux, mask, result);
  }
}

/// Emits the comparison of operands 1 and 2. p gets the result. q gets the result of the high halves for
/// pairs, else the complement of p.
void emit_comparison(Decoder& d, ScalarType t, Slot p, Slot q) {
  const std::optional<Compare> compare = compare_of(d.instruction());
  if (!compare) d.unsupported();
  const Slot a = d.read(1, t);
  const Slot b = d.read(2, t);
  if (is_half(t)) {
    const Slot code = static_cast<Slot>(*compare) | (d.has("ftz") ? 256U : 0U);
    d.emit(is_bfloat(t) ? &compare_halves<bf16_format> : &compare_halves<f16_format>, p, a, b, code, q);
  } else {
    d.emit(comparison(d, t, *compare), p, a, b, 0, q);
  }
}

/// testp. Predicate d: whether a passes test c, an index into `tests` of select_testp().
template <typename T>
void test_number(Warp& warp, const MicroOp& op, Mask mask) {
  Mask result = 0;
  for_lanes(mask, [&](U32 i) {
    const T a = get<T>(warp.registers + op.a, i);
    bool passes = false;
    switch (static_cast<int>(op.c)) {
      case 0: passes = std::isfinite(a); break;
      case 1: passes = std::isinf(a); break;
      case 2: passes = !is_nan(a); break;
      case 3: passes = is_nan(a); break;
      // Zero counts as normal.
      case 4: passes = std::isnormal(a) || a == 0; break;
      default: passes = std::fpclassify(a) == FP_SUBNORMAL; break;
    }
    result |= static_cast<Mask>(passes) << i;
  });
  write_mask(warp, op.d, mask, result);
}

void select_testp(Decoder& d) {
  constexpr std::string_view tests[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  const auto* const test = std::ranges::find_if(tests, [&](std::string_view name) { return d.has(name); });
  const ScalarType t = d.type();
  const Slot a = d.read(1, t);
  d.emit(is_wide(t) ? &test_number<double> : &test_number<float>, d.write(0, ScalarType::pred), a, 0,
         static_cast<Slot>(test - std::begin(tests)));
}

/// The second part of set. d: the word aux if predicate a is true, else 0. For pairs (c is 1) predicate a
/// selects the low half and b the high half.
void predicates_to_lanes(Warp& warp, const MicroOp& op, Mask mask) {
  const Mask low = read_mask(warp, op.a);
  const Mask high = op.c != 0 ? read_mask(warp, op.b) : low;
  for_lanes(mask, [&](U32 i) {
    const U32 word =
        ((low >> i & 1) != 0 ? op.aux & 0xffff : 0) | ((high >> i & 1) != 0 ? op.aux & 0xffff0000 : 0);
    put(warp.registers + op.d, i, word);
  });
}

/// The value of type `to` that set returns for true when it compares values of type `from`: 1.0, or all bits
/// set for an integer. 0 if there is no such form.
U32 true_value(ScalarType to, ScalarType from) {
  if (is_half(to)) {
    if (is_half_pair(to) != is_half_pair(from) || !is_half(from) || is_bfloat(to) != is_bfloat(from))
      return 0;
    return is_bfloat(to) ? 0x3f803f80 : 0x3c003c00;
  }
  if (is_half_pair(from)) return to == ScalarType::u32 || to == ScalarType::s32 ? ~0U : 0;
  if (to == ScalarType::f32) return 0x3f800000;
  const U32 bits = ptx::bits_of(to);
  return bits == 32 || (is_half(from) && bits < 32) ? ~0U : 0;
}

/// d = a if predicate c is true, else b.
template <typename T>
void select_by(Warp& warp, const MicroOp& op, Mask mask) {
  std::byte* const registers = warp.registers;
  const Mask p = read_mask(warp, op.c);
  for_lanes(mask, [&](U32 i) {
    put<T>(registers + op.d, i, get<T>(registers + ((p >> i & 1) != 0 ? op.a : op.b), i));
  });
}

template <bool flushes>
constexpr auto by_sign = [](auto a, auto b, auto sign) {
  if constexpr (flushes) sign = flush(sign);
  return sign >= 0 ? a : b;
};

/// setp p, a, b or setp p|q, a, b, optionally with a predicate c that is combined with the results.
void select_setp(Decoder& d) {
  const ScalarType t = d.type();
  const auto to = elements(d.arg(0));
  const bool two = to.size() > 1;
  const bool combines = d.args().size() > 3;
  // Unsupported for halves: combining with a predicate, and the complement as a second result.
  if (is_half(t) && (combines || two != is_half_pair(t))) d.unsupported();
  const Slot p = d.write(to[0], ScalarType::pred);
  const Slot q = two ? d.write(to[1], ScalarType::pred) : 0;
  Slot c = combines ? d.read(3, ScalarType::pred) : true_slot;
  if (combines && ((c & ~1U) == p || (c & ~1U) == q)) {
    // The predicate to combine with is also a destination: copy it before the comparison overwrites it.
    const Slot copy = d.temporary(false);
    d.emit(&move_predicate, copy, c);
    c = copy;
  }
  emit_comparison(d, t, p, q);
  if (!combines) return;
  const Handler join = d.has("and")  ? &combine_predicates<std::bit_and<>>
                       : d.has("or") ? &combine_predicates<std::bit_or<>>
                                     : &combine_predicates<std::bit_xor<>>;
  d.emit(join, p, p, c);
  if (q != 0) d.emit(join, q, q, c);
}

void select_set(Decoder& d) {
  // The first type is the result's, the last one is that of the compared values.
  const ScalarType to = d.instruction().types().front();
  const ScalarType from = d.type();
  const U32 result_if_true = true_value(to, from);
  if (d.args().size() != 3 || result_if_true == 0) d.unsupported();
  const bool pair = is_half_pair(from);
  const Slot low = d.temporary(false);
  const Slot high = pair ? d.temporary(false) : 0;
  emit_comparison(d, from, low, high);
  d.emit(&predicates_to_lanes, d.write(0, to), low, high, pair ? 1 : 0, result_if_true);
}

void select_selp(Decoder& d) {
  const ScalarType t = d.type();
  if (t == ScalarType::pred) d.unsupported();
  d.emit_as(is_wide(t) ? &select_by<std::uint64_t> : &select_by<U32>, {t, t, t, ScalarType::pred});
}

/// slct.type.ctype d, a, b, c: d = a if c is not negative, else b.
void select_slct(Decoder& d) {
  const auto types = d.instruction().types();
  const auto handler_of = [&]<typename T>(T) -> Handler {
    if (types[1] == ScalarType::s32) return &apply<by_sign<false>, T, T, T, std::int32_t>;
    return d.has("ftz") ? &apply<by_sign<true>, T, T, T, float> : &apply<by_sign<false>, T, T, T, float>;
  };
  const ScalarType t = types[0];
  d.emit_as(is_wide(t) ? handler_of(std::uint64_t{}) : handler_of(U32{}), {t, t, t, types[1]});
}

constexpr auto complement = []<typename T>(T a) { return static_cast<T>(~a); };
constexpr auto is_zero = []<typename T>(T a) { return a == 0 ? T{1} : T{0}; };
constexpr auto shift_left = []<typename T>(T a, U32 n) {
  return n >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << n);
};
constexpr auto shift_right = []<typename T>(T a, U32 n) {
  constexpr U32 bits = 8 * sizeof(T);
  if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(a >> std::min(n, bits - 1));
  } else {
    return n >= bits ? T{0} : static_cast<T>(a >> n);
  }
};
template <bool left, bool wrap>
constexpr auto funnel = [](U32 low, U32 high, U32 n) {
  n = wrap ? n & 31 : std::min(n, 32U);
  const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
  return left ? static_cast<U32>((both << n) >> 32) : static_cast<U32>(both >> n);
};

/// prmt. Each nibble of the selector selects one of 8 bytes. If its bit 3 is set, the byte's sign bit is
/// copied to the whole byte.
constexpr auto permute = [](U32 a, U32 b, U32 selector) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(b) << 32 | a;
  U32 result = 0;
  for (U32 i = 0; i < 4; ++i) {
    const U32 nibble = selector >> 4 * i & 15;
    auto byte = static_cast<U32>(bytes >> 8 * (nibble & 7) & 255);
    if ((nibble & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
    result |= byte << 8 * i;
  }
  return result;
};
/// prmt with a mode: the low two bits of c choose one of four selectors.
template <U32... selectors>
constexpr auto permute_by = [](U32 a, U32 b, U32 c) {
  constexpr U32 all[] = {selectors...};
  return permute(a, b, all[c & 3]);
};

template <auto operation, std::size_t operands>
Handler bitwise(ScalarType t) {
  return with_word(t, []<typename T>(T) { return uniform<operation, T, operands>; });
}

/// lop3. aux: the truth table; bit 4 a + 2 b + c is the result for bits a, b and c.
void lop3(Warp& warp, const MicroOp& op, Mask mask) {
  std::byte* const registers = warp.registers;
  for_lanes(mask, [&](U32 i) {
    const auto a = get<U32>(registers + op.a, i);
    const auto b = get<U32>(registers + op.b, i);
    const auto c = get<U32>(registers + op.c, i);
    U32 result = 0;
    for (U32 n = 0; n < 8; ++n) {
      if ((op.aux >> n & 1) == 0) continue;
      result |= ((n & 4) != 0 ? a : ~a) & ((n & 2) != 0 ? b : ~b) & ((n & 1) != 0 ? c : ~c);
    }
    put(registers + op.d, i, result);
  });
}

template <typename Op>
void select_bitwise(Decoder& d) {
  const ScalarType t = d.type();
  d.emit_uniform(t == ScalarType::pred ? &combine_predicates<Op> : bitwise<Op{}, 2>(t), t);
}

void select_not(Decoder& d) {
  const ScalarType t = d.type();
  if (t != ScalarType::pred) return d.emit_uniform(bitwise<complement, 1>(t), t);
  d.emit(&move_predicate, d.write(0, t), d.read(1, t) ^ 1U);
}

template <auto shift>
void select_shift(Decoder& d) {
  const auto handler_of = []<typename T>(T) -> Handler { return &apply<shift, T, T, U32>; };
  const ScalarType t = d.type();
  d.emit_as(ptx::is_signed_integer(t) ? with_integer(t, handler_of) : with_word(t, handler_of),
            {t, t, ScalarType::u32});
}

void select_shf(Decoder& d) {
  const auto handler_of = [](auto left, auto wrap) { return uniform<funnel<left, wrap>, U32, 3>; };
  d.emit_uniform(with_flags(handler_of, d.has("l"), d.has("wrap")), ScalarType::u32);
}

void select_lop3(Decoder& d) {
  const ScalarType u32 = ScalarType::u32;
  const auto to = elements(d.arg(0));
  const auto table = static_cast<U32>(d.literal(d.arg(4)));
  const Slot a = d.read(1, u32);
  const Slot b = d.read(2, u32);
  const Slot c = d.read(3, u32);
  if (d.args().size() < 6) return d.emit(&lop3, d.write(to[0], u32), a, b, c, table);
  // p = (d != 0) and|or q. p and q may be equal, so the comparison uses temporaries before d and p are
  // written.
  const Slot result = d.temporary(false);
  const Slot differs = d.temporary(false);
  d.emit(&lop3, result, a, b, c, table);
  d.emit(&set_predicate<Compare::ne, U32>, differs, result, d.constant(0, false));
  if (to.size() > 1) {
    d.emit(d.has("and") ? &combine_predicates<std::bit_and<>> : &combine_predicates<std::bit_or<>>,
           d.write(to[1], ScalarType::pred), differs, d.read(5, ScalarType::pred));
  }
  d.emit(uniform<identity, U32, 1>, d.write(to[0], u32), result);
}

void select_prmt(Decoder& d) {
  constexpr std::pair<const char*, Handler> modes[] = {
      {"f4e", uniform<permute_by<0x3210, 0x4321, 0x5432, 0x6543>, U32, 3>},
      {"b4e", uniform<permute_by<0x5670, 0x6701, 0x7012, 0x0123>, U32, 3>},
      {"rc8", uniform<permute_by<0x0000, 0x1111, 0x2222, 0x3333>, U32, 3>},
      {"ecl", uniform<permute_by<0x3210, 0x3211, 0x3222, 0x3333>, U32, 3>},
      {"ecr", uniform<permute_by<0x0000, 0x1110, 0x2210, 0x3210>, U32, 3>},
      {"rc16", uniform<permute_by<0x1010, 0x3232, 0x1010, 0x3232>, U32, 3>}};
  Handler handler = uniform<permute, U32, 3>;
  for (const auto& [mode, permutes] : modes) {
    if (d.has(mode)) handler = permutes;
  }
  d.emit_uniform(handler, ScalarType::u32);
}

constexpr Selector logic_table[] = {
    {Opcode::set, &select_set},
    {Opcode::setp, &select_setp},
    {Opcode::testp, &select_testp},
    {Opcode::selp, &select_selp},
    {Opcode::slct, &select_slct},
    {Opcode::and_, &select_bitwise<std::bit_and<>>},
    {Opcode::or_, &select_bitwise<std::bit_or<>>},
    {Opcode::xor_, &select_bitwise<std::bit_xor<>>},
    {Opcode::not_, &select_not},
    {Opcode::cnot, [](Decoder& d) { d.emit_uniform(bitwise<is_zero, 1>(d.type()), d.type()); }},
    {Opcode::lop3, &select_lop3},
    {Opcode::shf, &select_shf},
    {Opcode::shl, &select_shift<shift_left>},
    {Opcode::shr, &select_shift<shift_right>},
    {Opcode::prmt, &select_prmt},
};

}  // namespace

constinit const Selectors logic_selectors = logic_table;

}  // namespace sim
TMAJIT_END
