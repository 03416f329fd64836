#pragma once

/// Helpers of selectors: functions that turn the instructions of one opcode into micro-operations. Each file
/// in this folder defines a table of selectors.
#include "sim/arithmetic/numeric.hpp"
#include "sim/decode/selector.hpp"
#include "sim/warp/warp.hpp"

#include <cfenv>
#include <span>

TMAJIT_BEGIN
namespace sim {

extern const Selectors arithmetic_selectors;  ///< instructions/integer.cpp
extern const Selectors float_selectors;
extern const Selectors logic_selectors;
extern const Selectors move_selectors;
extern const Selectors convert_selectors;
extern const Selectors memory_selectors;
extern const Selectors atomic_selectors;
extern const Selectors address_selectors;
extern const Selectors control_selectors;
extern const Selectors stack_selectors;
extern const Selectors video_selectors;
extern const Selectors barrier_selectors;
extern const Selectors mbarrier_selectors;
extern const Selectors warp_selectors;
extern const Selectors async_selectors;
extern const Selectors bulk_selectors;
extern const Selectors matrix_selectors;
extern const Selectors wmma_selectors;
extern const Selectors tensormap_selectors;
extern const Selectors warpgroup_selectors;
extern const Selectors register_pool_selectors;

/// Selects fence.proxy.tensormap::generic.
void select_map_fence(Decoder& d);

/// Returns the ordering of a memory instruction. .volatile means relaxed at system scope; an atomic is always
/// strong.
[[nodiscard]] Ordering ordering_of(Decoder& d, bool atomic);

// The forms for f16 and bf16, and for f32 and f64, of opcodes that also have integer forms.
void select_half(Decoder& d);
void select_float(Decoder& d);

/// Selects an instruction whose operands have one type: emits the handler that `handler_of` returns for that
/// type.
template <Handler (*handler_of)(const Decoder&, ScalarType)>
void by_type(Decoder& d) {
  d.emit_uniform(handler_of(d, d.type()), d.type());
}

// These functions map the types, roundings and flags that an instruction names to the template arguments of
// its handler.

/// Returns visit(T{}) for the C++ type of an integer of 32 or 64 bits, unsigned for .b32 and .b64; null for
/// other types.
template <typename Visit>
[[nodiscard]] Handler with_int32_or_64(ScalarType type, const Visit& visit) {
  switch (type) {
    case ScalarType::b32:
    case ScalarType::u32: return visit(std::uint32_t{});
    case ScalarType::s32: return visit(std::int32_t{});
    case ScalarType::b64:
    case ScalarType::u64: return visit(std::uint64_t{});
    case ScalarType::s64: return visit(std::int64_t{});
    default: return nullptr;
  }
}

/// Like with_int32_or_64(), also for integers of 16 bits.
template <typename Visit>
[[nodiscard]] Handler with_integer(ScalarType type, const Visit& visit) {
  switch (type) {
    case ScalarType::b16:
    case ScalarType::u16: return visit(std::uint16_t{});
    case ScalarType::s16: return visit(std::int16_t{});
    default: return with_int32_or_64(type, visit);
  }
}

/// Like with_integer(), also for u8, s8, f32 and f64.
template <typename Visit>
[[nodiscard]] Handler with_number(ScalarType type, const Visit& visit) {
  switch (type) {
    case ScalarType::u8: return visit(std::uint8_t{});
    case ScalarType::s8: return visit(std::int8_t{});
    case ScalarType::f32: return visit(float{});
    case ScalarType::f64: return visit(double{});
    default: return with_integer(type, visit);
  }
}

/// Returns visit(T{}) for the unsigned integer as wide as a type of 16, 32 or 64 bits; null for other types.
template <typename Visit>
[[nodiscard]] Handler with_word(ScalarType type, const Visit& visit) {
  switch (ptx::bits_of(type)) {
    case 16: return visit(std::uint16_t{});
    case 32: return visit(std::uint32_t{});
    case 64: return visit(std::uint64_t{});
    default: return nullptr;
  }
}

/// Turns run-time flags into template arguments: returns visit(std::bool_constant<flag>{} …).
template <typename Visit, typename... More>
[[nodiscard]] Handler with_flags(const Visit& visit, bool first, More... more) {
  const auto go = [&](auto flag) -> Handler {
    if constexpr (sizeof...(More) == 0)
      return visit(flag);
    else
      return with_flags([&](auto... others) { return visit(flag, others...); }, more...);
  };
  return first ? go(std::true_type{}) : go(std::false_type{});
}

[[nodiscard]] constexpr bool is_bfloat(ScalarType t) noexcept {
  return t == ScalarType::bf16 || t == ScalarType::bf16x2;
}
[[nodiscard]] constexpr bool is_half_pair(ScalarType t) noexcept {
  return t == ScalarType::f16x2 || t == ScalarType::bf16x2;
}
[[nodiscard]] constexpr bool is_half(ScalarType t) noexcept {
  return t == ScalarType::f16 || t == ScalarType::bf16 || is_half_pair(t);
}

/// The value of half `i` of a register; with `flushes`, zero replaces a subnormal value.
template <SmallFormat format>
[[nodiscard]] double read_half(std::uint32_t word, std::uint32_t i, bool flushes) {
  const double value = static_cast<double>(decode_small<format>(word >> 16 * i & 0xffff));
  if (!flushes) return value;
  const double least = std::ldexp(1.0, 2 - (1 << (format.exponent_bits - 1)));
  return std::fabs(value) < least ? std::copysign(0.0, value) : value;
}

// Arithmetic under the host's other rounding modes, for .rz, .rm and .rp.

/// Runs a handler in a rounding mode of the host. The compiler cannot move the handler's arithmetic out of
/// the two calls that change the mode, because the handler is called through a pointer.
template <Handler handler, int mode>
void in_mode(Warp& warp, const MicroOp& op, Mask mask) {
  std::fesetround(mode);
  handler(warp, op, mask);
  std::fesetround(FE_TONEAREST);
}

/// The host's rounding mode for the rounding that the instruction names; nearest if it names none.
[[nodiscard]] inline int rounding_mode(const Decoder& d) {
  if (d.has("rz")) return FE_TOWARDZERO;
  if (d.has("rm")) return FE_DOWNWARD;
  return d.has("rp") ? FE_UPWARD : FE_TONEAREST;
}

/// `handler`, run in the rounding mode that the instruction names.
template <Handler handler>
[[nodiscard]] Handler rounded(const Decoder& d) {
  switch (rounding_mode(d)) {
    case FE_TOWARDZERO: return &in_mode<handler, FE_TOWARDZERO>;
    case FE_DOWNWARD: return &in_mode<handler, FE_DOWNWARD>;
    case FE_UPWARD: return &in_mode<handler, FE_UPWARD>;
    default: return handler;
  }
}

// Calls.

/// Emits a call of a CUDA device runtime function, which the PTX declares without a body
/// (instructions/runtime.cpp).
void select_runtime_call(Decoder& d, const ptx::Function& function, const std::vector<Arg>& results,
                         const std::vector<Arg>& arguments);
/// Reports that the call stack of a lane is full, and throws Stop.
[[noreturn]] void stop_at_full_stack(Warp& warp, std::uint32_t lane, std::string found);

}  // namespace sim
TMAJIT_END
