/// Comparison, selection, logic, shifts, moves (PTX ISA 9.7.6 to 9.7.9).
#include "sim/compare.hpp"
#include "sim/decode.hpp"
#include "sim/numeric.hpp"
#include "sim/warp.hpp"

#include <optional>
#include <utility>

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::Opcode;
using ptx::ScalarType;

struct Keep {
  template <typename T>
  T operator()(T a) const {
    return a;
  }
};
struct And {
  template <typename T>
  T operator()(T a, T b) const {
    return a & b;
  }
};
struct Or {
  template <typename T>
  T operator()(T a, T b) const {
    return a | b;
  }
};
struct Xor {
  template <typename T>
  T operator()(T a, T b) const {
    return a ^ b;
  }
};
struct Not {
  template <typename T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
struct Cnot {
  template <typename T>
  T operator()(T a) const {
    return a == 0 ? T{1} : T{0};
  }
};
struct Shl {
  template <typename T>
  T operator()(T a, std::uint32_t n) const {
    return n >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << n);
  }
};
struct Shr {
  template <typename T>
  T operator()(T a, std::uint32_t n) const {
    constexpr std::uint32_t bits = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(a >> std::min(n, bits - 1));
    } else {
      return n >= bits ? T{0} : static_cast<T>(a >> n);
    }
  }
};
template <bool left, bool wrap>
struct Funnel {
  std::uint32_t operator()(std::uint32_t low, std::uint32_t high, std::uint32_t n) const {
    n = wrap ? n & 31 : std::min(n, 32U);
    const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
    return left ? static_cast<std::uint32_t>((both << n) >> 32) : static_cast<std::uint32_t>(both >> n);
  }
};
struct Prmt {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t selector) const {
    const std::uint64_t bytes = static_cast<std::uint64_t>(b) << 32 | a;
    std::uint32_t result = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t pick = selector >> 4 * i & 15;
      auto byte = static_cast<std::uint32_t>(bytes >> 8 * (pick & 7) & 255);
      if ((pick & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
      result |= byte << 8 * i;
    }
    return result;
  }
};

template <typename Op, bool two>
Handler bitwise(ScalarType t) {
  const auto pick = []<typename T>(T) -> Handler {
    if constexpr (two) {
      return &apply<Op, T, T, T>;
    } else {
      return &apply<Op, T, T>;
    }
  };
  switch (ptx::bits_of(t)) {
    case 16: return pick(std::uint16_t{});
    case 32: return pick(std::uint32_t{});
    case 64: return pick(std::uint64_t{});
    default: return nullptr;
  }
}

Mask read_mask(const Warp& warp, Slot slot) {
  return *reinterpret_cast<const Mask*>(warp.registers + (slot & ~1U)) ^ (0U - (slot & 1U));
}
void write_mask(Warp& warp, Slot slot, Mask mask, Mask value) {
  Mask& p = predicate(warp, slot);
  p = (p & ~mask) | (value & mask);
}

template <typename Op>
void predicates(Warp& warp, const MicroOp& op, Mask mask) {
  write_mask(warp, op.d, mask, Op{}(read_mask(warp, op.a), read_mask(warp, op.b)));
}
void predicate_not(Warp& warp, const MicroOp& op, Mask mask) {
  write_mask(warp, op.d, mask, ~read_mask(warp, op.a));
}
void predicate_move(Warp& warp, const MicroOp& op, Mask mask) {
  write_mask(warp, op.d, mask, read_mask(warp, op.a));
}

/// setp: d = a ∘ b; aux is the second destination, where it gets the complement.
template <Compare compare, typename T, bool ftz = false>
void set_predicate(Warp& warp, const MicroOp& op, Mask mask) {
  const std::byte* const a = warp.registers + op.a;
  const std::byte* const b = warp.registers + op.b;
  Mask result = 0;
  for (std::uint32_t i = 0; i < lanes; ++i) {
    if constexpr (ftz) {
      result |= static_cast<Mask>(holds(compare, flush(get<float>(a, i)), flush(get<float>(b, i)))) << i;
    } else {
      result |= static_cast<Mask>(holds(compare, get<T>(a, i), get<T>(b, i))) << i;
    }
  }
  if (op.aux != 0) write_mask(warp, op.aux, mask, ~result);
  write_mask(warp, op.d, mask, result);
}

template <typename T, bool ftz = false>
Handler comparing(Compare compare) {
  constexpr bool floating = std::is_floating_point_v<T>;
  switch (compare) {
    case Compare::eq: return &set_predicate<Compare::eq, T, ftz>;
    case Compare::ne: return &set_predicate<Compare::ne, T, ftz>;
    case Compare::lt: return &set_predicate<Compare::lt, T, ftz>;
    case Compare::le: return &set_predicate<Compare::le, T, ftz>;
    case Compare::gt: return &set_predicate<Compare::gt, T, ftz>;
    case Compare::ge: return &set_predicate<Compare::ge, T, ftz>;
    default: break;
  }
  if constexpr (floating) {
    switch (compare) {
      case Compare::equ: return &set_predicate<Compare::equ, T, ftz>;
      case Compare::neu: return &set_predicate<Compare::neu, T, ftz>;
      case Compare::ltu: return &set_predicate<Compare::ltu, T, ftz>;
      case Compare::leu: return &set_predicate<Compare::leu, T, ftz>;
      case Compare::gtu: return &set_predicate<Compare::gtu, T, ftz>;
      case Compare::geu: return &set_predicate<Compare::geu, T, ftz>;
      case Compare::num: return &set_predicate<Compare::num, T, ftz>;
      case Compare::nan: return &set_predicate<Compare::nan, T, ftz>;
      default: break;
    }
  }
  return nullptr;
}

Handler comparison(Decoder& d, ScalarType t, Compare compare) {
  switch (t) {
    case ScalarType::u16:
    case ScalarType::b16: return comparing<std::uint16_t>(compare);
    case ScalarType::s16: return comparing<std::int16_t>(compare);
    case ScalarType::u32:
    case ScalarType::b32: return comparing<std::uint32_t>(compare);
    case ScalarType::s32: return comparing<std::int32_t>(compare);
    case ScalarType::u64:
    case ScalarType::b64: return comparing<std::uint64_t>(compare);
    case ScalarType::s64: return comparing<std::int64_t>(compare);
    case ScalarType::f32: return d.has("ftz") ? comparing<float, true>(compare) : comparing<float>(compare);
    case ScalarType::f64: return comparing<double>(compare);
    default: return nullptr;
  }
}

void emit_setp(Decoder& d) {
  const ScalarType t = d.type();
  std::optional<Compare> compare;
  for (const std::string& word : d.in().words) {
    if (!compare) compare = parse_compare(word);
  }
  const Handler handler = compare ? comparison(d, t, *compare) : nullptr;
  if (handler == nullptr) d.unsupported();
  const Arg& target = d.arg(0);
  const bool two = target.kind == Arg::Kind::group;
  const Slot p = d.write_predicate(two ? target.elements[0] : target);
  const Slot q = two ? d.write_predicate(target.elements[1]) : 0;
  const bool combines = d.args().size() > 3;
  const Slot a = d.read(d.arg(1), t);
  const Slot b = d.read(d.arg(2), t);
  if (!combines) {
    d.emit(handler, p, a, b, 0, q);
    return;
  }
  Slot c = d.read_predicate(d.arg(3));
  if ((c & ~1U) == p || (c & ~1U) == q) {
    // The combined predicate is a destination too: kept before that is written.
    const Slot kept = d.temporary(false);
    d.emit(&predicate_move, kept, c);
    c = kept;
  }
  const Handler join = d.has("and") ? &predicates<And> : d.has("or") ? &predicates<Or> : &predicates<Xor>;
  d.emit(handler, p, a, b, 0, q);
  d.emit(join, p, p, c);
  if (q != 0) d.emit(join, q, q, c);
}

template <typename T>
void select_by(Warp& warp, const MicroOp& op, Mask mask) {
  std::byte* const r = warp.registers;
  const Mask p = read_mask(warp, op.c);
  for_lanes(mask,
            [&](std::uint32_t i) { put<T>(r + op.d, i, get<T>(r + ((p >> i & 1) != 0 ? op.a : op.b), i)); });
}
/// set.type.i32: all ones where the predicate holds, 1.0 in f32.
void mask_to_lanes(Warp& warp, const MicroOp& op, Mask mask) {
  const Mask p = read_mask(warp, op.a);
  for_lanes(mask, [&](std::uint32_t i) {
    put<std::uint32_t>(warp.registers + op.d, i, (p >> i & 1) != 0 ? op.aux : 0);
  });
}

void lop3(Warp& warp, const MicroOp& op, Mask mask) {
  std::byte* const r = warp.registers;
  for_lanes(mask, [&](std::uint32_t i) {
    const auto a = get<std::uint32_t>(r + op.a, i);
    const auto b = get<std::uint32_t>(r + op.b, i);
    const auto c = get<std::uint32_t>(r + op.c, i);
    std::uint32_t result = 0;
    for (std::uint32_t n = 0; n < 8; ++n) {
      if ((op.aux >> n & 1) == 0) continue;
      result |= ((n & 4) != 0 ? a : ~a) & ((n & 2) != 0 ? b : ~b) & ((n & 1) != 0 ? c : ~c);
    }
    put(r + op.d, i, result);
  });
}

// mov between a 64- or 32-bit register and its parts.
struct Join32 {
  std::uint64_t operator()(std::uint32_t low, std::uint32_t high) const {
    return static_cast<std::uint64_t>(high) << 32 | low;
  }
};
struct Join16 {
  std::uint32_t operator()(std::uint16_t low, std::uint16_t high) const {
    return static_cast<std::uint32_t>(high) << 16 | low;
  }
};
template <std::uint32_t shift>
struct Part {
  template <typename T>
  T operator()(T value) const {
    return value >> shift;
  }
};

void emit_mov(Decoder& d) {
  const ScalarType t = d.type();
  const Arg& to = d.arg(0);
  const Arg& from = d.arg(1);
  if (t == ScalarType::pred) {
    d.emit(&predicate_move, d.write_predicate(to), d.read_predicate(from));
  } else if (t == ScalarType::b128) {
    // Two registers of 64 bits, or the halves of one of 128, which are the same thing.
    const auto is_pair = [](const Arg& arg) {
      return arg.kind == Arg::Kind::group && arg.elements.size() == 2;
    };
    if (!is_pair(to) || !is_pair(from)) d.unsupported();
    const Slot kept[] = {d.temporary(true), d.temporary(true)};
    for (std::size_t i = 0; i < 2; ++i)
      d.emit(bitwise<Keep, false>(ScalarType::b64), kept[i], d.read(from.elements[i], ScalarType::b64));
    for (std::size_t i = 0; i < 2; ++i)
      d.emit(bitwise<Keep, false>(ScalarType::b64), d.write(to.elements[i], ScalarType::b64), kept[i]);
  } else if (from.kind == Arg::Kind::group) {
    const bool wide = ptx::bits_of(t) == 64;
    if (from.elements.size() == 2) {
      const ScalarType part = wide ? ScalarType::b32 : ScalarType::b16;
      const Slot low = d.read(from.elements[0], part);
      const Slot high = d.read(from.elements[1], part);
      d.emit(wide ? &apply<Join32, std::uint64_t, std::uint32_t, std::uint32_t>
                  : &apply<Join16, std::uint32_t, std::uint16_t, std::uint16_t>,
             d.write(to, t), low, high);
    } else if (from.elements.size() == 4 && wide) {
      const Slot low = d.temporary(false);
      const Slot high = d.temporary(false);
      constexpr Handler join = &apply<Join16, std::uint32_t, std::uint16_t, std::uint16_t>;
      const auto part = [&](std::size_t i) { return d.read(from.elements[i], ScalarType::b16); };
      d.emit(join, low, part(0), part(1));
      d.emit(join, high, part(2), part(3));
      d.emit(&apply<Join32, std::uint64_t, std::uint32_t, std::uint32_t>, d.write(to, t), low, high);
    } else {
      d.unsupported();
    }
  } else if (to.kind == Arg::Kind::group) {
    const bool wide = ptx::bits_of(t) == 64;
    // Copied first: a part may be written to the register that is taken apart.
    const Slot whole = d.temporary(wide);
    d.emit(bitwise<Keep, false>(t), whole, d.read(from, t));
    const std::size_t parts = to.elements.size();
    if (parts == 2 && wide) {
      d.emit(&apply<Part<0>, std::uint32_t, std::uint64_t>, d.write(to.elements[0], ScalarType::b32), whole);
      d.emit(&apply<Part<32>, std::uint32_t, std::uint64_t>, d.write(to.elements[1], ScalarType::b32), whole);
    } else if (parts == 2) {
      d.emit(&apply<Part<0>, std::uint16_t, std::uint32_t>, d.write(to.elements[0], ScalarType::b16), whole);
      d.emit(&apply<Part<16>, std::uint16_t, std::uint32_t>, d.write(to.elements[1], ScalarType::b16), whole);
    } else if (parts == 4 && wide) {
      d.emit(&apply<Part<0>, std::uint16_t, std::uint64_t>, d.write(to.elements[0], ScalarType::b16), whole);
      d.emit(&apply<Part<16>, std::uint16_t, std::uint64_t>, d.write(to.elements[1], ScalarType::b16), whole);
      d.emit(&apply<Part<32>, std::uint16_t, std::uint64_t>, d.write(to.elements[2], ScalarType::b16), whole);
      d.emit(&apply<Part<48>, std::uint16_t, std::uint64_t>, d.write(to.elements[3], ScalarType::b16), whole);
    } else {
      d.unsupported();
    }
  } else {
    const Handler handler = bitwise<Keep, false>(t);
    if (handler == nullptr) d.unsupported();
    const Slot a = d.read(from, t);
    d.emit(handler, d.write(to, t), a);
  }
}

template <typename Op>
void emit_logic(Decoder& d) {
  const ScalarType t = d.type();
  if (t == ScalarType::pred) {
    d.emit(&predicates<Op>, d.write_predicate(d.arg(0)), d.read_predicate(d.arg(1)),
           d.read_predicate(d.arg(2)));
    return;
  }
  const Slot a = d.read(d.arg(1), t);
  const Slot b = d.read(d.arg(2), t);
  d.emit(bitwise<Op, true>(t), d.write(d.arg(0), t), a, b);
}

template <typename Op>
void emit_shift(Decoder& d) {
  const ScalarType t = d.type();
  const Slot a = d.read(d.arg(1), t);
  const Slot n = d.read(d.arg(2), ScalarType::u32);
  const auto pick = []<typename T>(T) -> Handler { return &apply<Op, T, T, std::uint32_t>; };
  Handler handler = nullptr;
  switch (t) {
    case ScalarType::s16: handler = pick(std::int16_t{}); break;
    case ScalarType::s32: handler = pick(std::int32_t{}); break;
    case ScalarType::s64: handler = pick(std::int64_t{}); break;
    default:
      handler = ptx::bits_of(t) == 16   ? pick(std::uint16_t{})
                : ptx::bits_of(t) == 32 ? pick(std::uint32_t{})
                                        : pick(std::uint64_t{});
  }
  d.emit(handler, d.write(d.arg(0), t), a, n);
}

}  // namespace

bool select_logic(Decoder& d) {
  const auto u32 = ScalarType::u32;
  switch (d.in().opcode) {
    case Opcode::mov: emit_mov(d); return true;
    case Opcode::setp: emit_setp(d); return true;
    case Opcode::set: {
      // The comparison's type is the last, the result's the first.
      const ScalarType to = d.in().types().front();
      std::optional<Compare> compare;
      for (const std::string& word : d.in().words) {
        if (!compare) compare = parse_compare(word);
      }
      const Handler handler = compare && d.args().size() == 3 ? comparison(d, d.type(), *compare) : nullptr;
      if (handler == nullptr || ptx::bits_of(to) != 32) return false;
      const Slot p = d.temporary(false);
      d.emit(handler, p, d.read(d.arg(1), d.type()), d.read(d.arg(2), d.type()));
      d.emit(&mask_to_lanes, d.write(d.arg(0), to), p, 0, 0, to == ScalarType::f32 ? 0x3f800000U : ~0U);
      return true;
    }
    case Opcode::selp: {
      const ScalarType t = d.type();
      if (t == ScalarType::pred) return false;
      const Slot a = d.read(d.arg(1), t);
      const Slot b = d.read(d.arg(2), t);
      d.emit(ptx::bits_of(t) == 64 ? &select_by<std::uint64_t> : &select_by<std::uint32_t>,
             d.write(d.arg(0), t), a, b, d.read_predicate(d.arg(3)));
      return true;
    }
    case Opcode::and_: emit_logic<And>(d); return true;
    case Opcode::or_: emit_logic<Or>(d); return true;
    case Opcode::xor_: emit_logic<Xor>(d); return true;
    case Opcode::not_:
      if (d.type() == ScalarType::pred) {
        d.emit(&predicate_not, d.write_predicate(d.arg(0)), d.read_predicate(d.arg(1)));
      } else {
        const Slot a = d.read(d.arg(1), d.type());
        d.emit(bitwise<Not, false>(d.type()), d.write(d.arg(0), d.type()), a);
      }
      return true;
    case Opcode::cnot: {
      const Slot a = d.read(d.arg(1), d.type());
      d.emit(bitwise<Cnot, false>(d.type()), d.write(d.arg(0), d.type()), a);
      return true;
    }
    case Opcode::shl: emit_shift<Shl>(d); return true;
    case Opcode::shr: emit_shift<Shr>(d); return true;
    case Opcode::shf: {
      const bool wrap = d.has("wrap");
      const Handler left =
          wrap ? &apply<Funnel<true, true>, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>
               : &apply<Funnel<true, false>, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
      const Handler right =
          wrap ? &apply<Funnel<false, true>, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>
               : &apply<Funnel<false, false>, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
      const Slot a = d.read(d.arg(1), u32);
      const Slot b = d.read(d.arg(2), u32);
      const Slot c = d.read(d.arg(3), u32);
      d.emit(d.has("l") ? left : right, d.write(d.arg(0), u32), a, b, c);
      return true;
    }
    case Opcode::lop3: {
      const bool two = d.arg(0).kind == Arg::Kind::group;
      const Arg& target = two ? d.arg(0).elements[0] : d.arg(0);
      const auto table = static_cast<std::uint32_t>(d.literal(d.arg(4)));
      const Slot a = d.read(d.arg(1), u32);
      const Slot b = d.read(d.arg(2), u32);
      const Slot c = d.read(d.arg(3), u32);
      if (d.args().size() < 6) {
        d.emit(&lop3, d.write(target, u32), a, b, c, table);
        return true;
      }
      // p = d != 0 and|or q; q may be p, and d is compared before it goes anywhere.
      const Slot result = d.temporary(false);
      const Slot differs = d.temporary(false);
      d.emit(&lop3, result, a, b, c, table);
      d.emit(&set_predicate<Compare::ne, std::uint32_t>, differs, result, d.constant(0, false));
      if (two) {
        d.emit(d.has("and") ? &predicates<And> : &predicates<Or>, d.write_predicate(d.arg(0).elements[1]),
               differs, d.read_predicate(d.arg(5)));
      }
      d.emit(bitwise<Keep, false>(u32), d.write(target, u32), result);
      return true;
    }
    case Opcode::prmt: {
      if (d.in().words.size() > 2) return false;  // the modes f4e, b4e …
      const Slot a = d.read(d.arg(1), u32);
      const Slot b = d.read(d.arg(2), u32);
      const Slot c = d.read(d.arg(3), u32);
      d.emit(&apply<Prmt, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>, d.write(d.arg(0), u32),
             a, b, c);
      return true;
    }
    default: return false;
  }
}

}  // namespace sim
TMAJIT_END
