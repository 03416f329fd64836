#include "sim/engine/reduction.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::ScalarType;

/// Combines elements of a 16-bit float type, which C++ lacks. A word holds one element.
template <SmallFormat format>
struct Small {
  using Word = std::uint16_t;
  static Word combine(Atomic operation, Word old, Word operand) {
    const auto a = static_cast<double>(decode_small<format>(old));
    const auto b = static_cast<double>(decode_small<format>(operand));
    switch (operation) {
      case Atomic::min: return encode_small<format>(float_extreme<false>(a, b), false);
      case Atomic::max: return encode_small<format>(float_extreme<true>(a, b), false);
      default: return encode_small<format>(add_to_odd(a, b), false);
    }
  }
};

/// Combines elements of a type that C++ has.
template <typename T>
struct Plain {
  using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  static Word combine(Atomic operation, Word old, Word operand) {
    return std::bit_cast<Word>(
        sim::combine(operation, std::bit_cast<T>(old), std::bit_cast<T>(operand), T{}));
  }
};

/// Sums of floats, with the copy engine's treatment of subnormals and NaNs (docs/tma.md). Sums of f32 keep
/// subnormals. A sum of f64 with a NaN returns that NaN with unchanged bits, even if it is signalling; of two
/// NaNs it returns the operand.
template <typename T>
struct Sum {
  using Word = typename Plain<T>::Word;
  static Word combine(Atomic, Word old, Word operand) {
    const T a = std::bit_cast<T>(old);
    const T b = std::bit_cast<T>(operand);
    if constexpr (sizeof(T) == 8) {
      if (std::isnan(b)) return operand;
      if (std::isnan(a)) return old;
    }
    return std::bit_cast<Word>(canonical(a + b));
  }
};

/// Combines element by element, each atomically: CTAs on other host threads may change the same elements.
template <typename Element>
void apply(std::byte* to, const std::byte* from, std::uint32_t bytes, Atomic operation) {
  using Word = typename Element::Word;
  for (std::uint32_t at = 0; at + sizeof(Word) <= bytes; at += sizeof(Word)) {
    Word operand;
    std::memcpy(&operand, from + at, sizeof operand);
    auto* const word = reinterpret_cast<Word*>(to + at);
    Word old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(word, &old, Element::combine(operation, old, operand), true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
  }
}

constexpr std::uint32_t bit(Atomic operation) {
  return 1U << static_cast<std::uint32_t>(operation);
}
constexpr std::uint32_t add = bit(Atomic::add);
constexpr std::uint32_t extremes = bit(Atomic::min) | bit(Atomic::max);
constexpr std::uint32_t counts = bit(Atomic::inc) | bit(Atomic::dec);
constexpr std::uint32_t logic = bit(Atomic::and_) | bit(Atomic::or_) | bit(Atomic::xor_);

/// The legal operations for a type and each kind of destination. The ISA's tables have bit-wise operations
/// for .b32 and .b64, its examples also for .s32. Maps of u64 have them; with maps of s64 they are illegal on
/// an H200 (docs/tma.md).
struct Row {
  void (*apply)(std::byte*, const std::byte*, std::uint32_t, Atomic);
  ScalarType type;
  std::uint32_t global = 0;
  std::uint32_t peer = 0;
  std::uint32_t tensor = 0;
};
constexpr Row rows[] = {
    {&apply<Plain<std::uint32_t>>, ScalarType::b32, logic, logic, 0},
    {&apply<Plain<std::uint64_t>>, ScalarType::b64, logic, 0, 0},
    {&apply<Plain<std::uint32_t>>, ScalarType::u32, add | extremes | counts | logic,
     add | extremes | counts | logic, add | extremes | counts | logic},
    {&apply<Plain<std::int32_t>>, ScalarType::s32, add | extremes | logic, add | extremes | logic,
     add | extremes | logic},
    {&apply<Plain<std::uint64_t>>, ScalarType::u64, add | extremes | logic, add, add | extremes | logic},
    {&apply<Plain<std::int64_t>>, ScalarType::s64, extremes | logic, 0, extremes},
    {&apply<Small<f16_format>>, ScalarType::f16, add | extremes, 0, add | extremes},
    {&apply<Small<bf16_format>>, ScalarType::bf16, add | extremes, 0, add | extremes},
    {&apply<Sum<float>>, ScalarType::f32, add, 0, add},
    {&apply<Sum<double>>, ScalarType::f64, add, 0, 0},
};

/// The PTX type of a tensor's elements; .pred if the copy engine cannot combine them.
ScalarType scalar_of(ElementType type) {
  switch (type) {
    case ElementType::u32: return ScalarType::u32;
    case ElementType::i32: return ScalarType::s32;
    case ElementType::u64: return ScalarType::u64;
    case ElementType::i64: return ScalarType::s64;
    case ElementType::f16: return ScalarType::f16;
    case ElementType::bf16: return ScalarType::bf16;
    case ElementType::f32:
    case ElementType::f32_ftz: return ScalarType::f32;
    default: return ScalarType::pred;
  }
}

}  // namespace

std::optional<Reduction> reduction_of(Atomic operation, ScalarType type, ReductionTo to) {
  const auto* const row = std::ranges::find(rows, type, &Row::type);
  if (row == std::end(rows)) return std::nullopt;
  const std::uint32_t has = to == ReductionTo::global ? row->global
                            : to == ReductionTo::peer ? row->peer
                                                      : row->tensor;
  if ((has & bit(operation)) == 0) return std::nullopt;
  return Reduction{operation, row->apply};
}

std::optional<Reduction> reduction_of(Atomic operation, ElementType type) {
  return reduction_of(operation, scalar_of(type), ReductionTo::tensor);
}

}  // namespace sim
TMAJIT_END
