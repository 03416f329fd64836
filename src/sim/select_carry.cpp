/// Extended-precision arithmetic: add.cc, addc, sub.cc, subc, mad.cc, madc (PTX ISA 9.7.2). The carry is a
/// bit a lane in a slot of its own.
#include "sim/decode.hpp"
#include "sim/numeric.hpp"
#include "sim/warp.hpp"

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::Opcode;
using ptx::ScalarType;

/// Whether an instruction takes the carry, and whether it gives one.
struct CarryUse {
  bool in = false;
  bool out = false;
};

/// What is added to b or c, or what b is taken from.
enum class First : std::uint8_t { operand, low_product, high_product };

/// d = first + last + carry, or a - b - borrow.
template <typename T, First first, bool subtracts, CarryUse use>
void with_carry(Warp& warp, const MicroOp& op, Mask mask) {
  using U = std::make_unsigned_t<T>;
  std::byte* const r = warp.registers;
  Mask& carry = predicate(warp, carry_slot);
  for_lanes(mask, [&](std::uint32_t lane) {
    const T a = get<T>(r + op.a, lane);
    const T b = get<T>(r + op.b, lane);
    U left = static_cast<U>(a);
    U right = static_cast<U>(b);
    if constexpr (first != First::operand) {
      left = first == First::low_product ? static_cast<U>(left * right) : static_cast<U>(multiply_high(a, b));
      right = static_cast<U>(get<T>(r + op.c, lane));
    }
    const U extra = use.in ? static_cast<U>(carry >> lane & 1) : U{0};
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
    if constexpr (use.out) carry = (carry & ~(1U << lane)) | static_cast<Mask>(out) << lane;
    put<U>(r + op.d, lane, result);
  });
}

template <typename T, First first, bool subtracts>
Handler pick(CarryUse use) {
  if (use.in) {
    return use.out ? &with_carry<T, first, subtracts, CarryUse{true, true}>
                   : &with_carry<T, first, subtracts, CarryUse{true, false}>;
  }
  return &with_carry<T, first, subtracts, CarryUse{false, true}>;
}

template <First first, bool subtracts>
Handler typed(ScalarType t, CarryUse use) {
  switch (t) {
    case ScalarType::u32: return pick<std::uint32_t, first, subtracts>(use);
    case ScalarType::s32: return pick<std::int32_t, first, subtracts>(use);
    case ScalarType::u64: return pick<std::uint64_t, first, subtracts>(use);
    case ScalarType::s64: return pick<std::int64_t, first, subtracts>(use);
    default: return nullptr;
  }
}

}  // namespace

bool select_carry(Decoder& d) {
  const Opcode opcode = d.in().opcode;
  const CarryUse use{opcode == Opcode::addc || opcode == Opcode::subc || opcode == Opcode::madc, d.has("cc")};
  if (!use.in && !use.out) return false;
  const ScalarType t = d.type();
  Handler handler = nullptr;
  switch (opcode) {
    case Opcode::add:
    case Opcode::addc: handler = typed<First::operand, false>(t, use); break;
    case Opcode::sub:
    case Opcode::subc: handler = typed<First::operand, true>(t, use); break;
    case Opcode::mad:
    case Opcode::madc:
      handler =
          d.has("hi") ? typed<First::high_product, false>(t, use) : typed<First::low_product, false>(t, use);
      break;
    default: return false;
  }
  if (handler == nullptr) return false;
  Slot slots[3] = {0, 0, 0};
  for (std::size_t i = 1; i < d.args().size() && i < 4; ++i) slots[i - 1] = d.read(d.arg(i), t);
  d.emit(handler, d.write(d.arg(0), t), slots[0], slots[1], slots[2]);
  return true;
}

}  // namespace sim
TMAJIT_END
