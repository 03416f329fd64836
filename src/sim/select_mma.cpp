/// mma.sync of dense matrices (PTX ISA 9.7.14.5). Products and sums are exact or in f64, and a result is
/// rounded once: the ISA fixes neither the order of the sum nor its intermediate precision.
#include "sim/cta.hpp"
#include "sim/decode.hpp"
#include "sim/numeric.hpp"

#include <array>
#include <bit>
#include <cmath>

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::Opcode;
using ptx::ScalarType;

struct Shape {
  std::uint32_t m = 0;
  std::uint32_t n = 0;
  std::uint32_t k = 0;
};

/// More than the greatest k.
constexpr std::uint32_t most_k = 64;

/// Elements of `type` in a register of 32 bits (of 64 for f64).
constexpr std::uint32_t per_register(ScalarType type) {
  switch (type) {
    case ScalarType::f16:
    case ScalarType::bf16: return 2;
    case ScalarType::u8:
    case ScalarType::s8:
    case ScalarType::e4m3:
    case ScalarType::e5m2: return 4;
    default: return 1;
  }
}

/// Element `i` of a register as a number: exact, as every type's values are f64 values.
template <ScalarType type>
double element(std::uint64_t bits, std::uint32_t i) {
  const auto word = static_cast<std::uint32_t>(bits);
  if constexpr (type == ScalarType::f16) return decode_small<f16_format>(word >> 16 * i & 0xffff);
  if constexpr (type == ScalarType::bf16) return decode_small<bf16_format>(word >> 16 * i & 0xffff);
  if constexpr (type == ScalarType::e4m3) return decode_small<e4m3_format>(word >> 8 * i & 0xff);
  if constexpr (type == ScalarType::e5m2) return decode_small<e5m2_format>(word >> 8 * i & 0xff);
  if constexpr (type == ScalarType::u8) return static_cast<std::uint8_t>(word >> 8 * i);
  if constexpr (type == ScalarType::s8) return static_cast<std::int8_t>(word >> 8 * i);
  // A .tf32 operand has 10 bits of mantissa; the 13 below are none of it.
  if constexpr (type == ScalarType::tf32) return std::bit_cast<float>(word & ~0x1fffU);
  return std::bit_cast<double>(bits);
}

/// accesses[aux].values: the registers of d, a, b, c one after the other; op.a, op.b, op.c: where a, b, c
/// begin; op.d: m | n << 8 | k << 16, and 1 << 24 for .satfinite.
template <ScalarType a_type, ScalarType b_type, ScalarType c_type>
void multiply(Warp& warp, const MicroOp& op, Mask mask) {
  if (const Mask missing = warp.live & ~mask; missing != 0) {
    warp.park(mask, warp.here(), {Wait::Kind::warp, missing, 0});
    return;
  }
  const auto& slots = warp.program->accesses[op.aux].values;
  const Shape shape{op.d & 255, op.d >> 8 & 255, op.d >> 16 & 255};
  const auto reg = [&](std::size_t i, std::uint32_t lane) -> std::uint64_t {
    return a_type == ScalarType::f64 ? get<std::uint64_t>(warp.registers + slots[i], lane)
                                     : get<std::uint32_t>(warp.registers + slots[i], lane);
  };
  std::array<std::array<double, most_k>, 16> a{};
  std::array<std::array<double, 8>, most_k> b{};
  constexpr std::uint32_t per = per_register(a_type);
  const std::uint32_t halves = shape.m / 8;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const std::uint32_t group = lane / 4;
    const std::uint32_t inner = lane % 4 * per;
    for (std::uint32_t i = 0; i < op.b - op.a; ++i) {
      const std::uint64_t bits = reg(op.a + i, lane);
      for (std::uint32_t e = 0; e < per; ++e)
        a[group + 8 * (i % halves)][inner + e + i / halves * 4 * per] = element<a_type>(bits, e);
    }
    for (std::uint32_t i = 0; i < op.c - op.b; ++i) {
      const std::uint64_t bits = reg(op.b + i, lane);
      for (std::uint32_t e = 0; e < per; ++e) b[inner + e + i * 4 * per][group] = element<b_type>(bits, e);
    }
  }
  const auto result = [&](std::uint32_t row, std::uint32_t column, auto c) {
    using C = decltype(c);
    if constexpr (std::is_same_v<C, std::int32_t>) {
      std::int64_t sum = c;
      for (std::uint32_t k = 0; k < shape.k; ++k)
        sum += static_cast<std::int64_t>(a[row][k]) * static_cast<std::int64_t>(b[k][column]);
      if ((op.d >> 24 & 1) != 0)
        sum = std::clamp<std::int64_t>(sum, std::numeric_limits<std::int32_t>::min(),
                                       std::numeric_limits<std::int32_t>::max());
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
    } else {
      double sum = static_cast<double>(c);
      for (std::uint32_t k = 0; k < shape.k; ++k) {
        sum = a_type == ScalarType::f64 ? std::fma(a[row][k], b[k][column], sum)
                                        : sum + a[row][k] * b[k][column];
      }
      return static_cast<C>(sum);
    }
  };
  // d may be where a, b or c are, in any order: a lane's results are written when all are known.
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint32_t column = lane % 4 * 2;
    if constexpr (c_type == ScalarType::f16) {
      std::array<std::uint32_t, 2> words{};
      for (std::uint32_t half = 0; half < halves; ++half) {
        const auto c = get<std::uint32_t>(warp.registers + slots[op.c + half], lane);
        for (std::uint32_t i = 0; i < 2; ++i) {
          const auto addend = static_cast<double>(decode_small<f16_format>(c >> 16 * i & 0xffff));
          const double sum = result(lane / 4 + 8 * half, column + i, addend);
          words[half] |= static_cast<std::uint32_t>(encode_small<f16_format>(sum, false)) << 16 * i;
        }
      }
      for (std::uint32_t half = 0; half < halves; ++half)
        put(warp.registers + slots[half], lane, words[half]);
    } else {
      using C = std::conditional_t<c_type == ScalarType::f64, double,
                                   std::conditional_t<c_type == ScalarType::s32, std::int32_t, float>>;
      std::array<C, 4> sums{};
      for (std::uint32_t i = 0; i < 2 * halves; ++i) {
        const C c = get<C>(warp.registers + slots[op.c + i], lane);
        sums[i] = result(lane / 4 + 8 * (i / 2), column + i % 2, c);
        if constexpr (std::is_floating_point_v<C>) sums[i] = canonical(sums[i]);
      }
      for (std::uint32_t i = 0; i < 2 * halves; ++i) put(warp.registers + slots[i], lane, sums[i]);
    }
  });
}

template <ScalarType a, ScalarType b>
Handler accumulating(ScalarType c) {
  if constexpr (a == ScalarType::f64) {
    return c == ScalarType::f64 ? &multiply<a, b, ScalarType::f64> : nullptr;
  } else if constexpr (a == ScalarType::u8 || a == ScalarType::s8) {
    return c == ScalarType::s32 ? &multiply<a, b, ScalarType::s32> : nullptr;
  } else {
    if constexpr (a == ScalarType::f16) {
      if (c == ScalarType::f16) return &multiply<a, b, ScalarType::f16>;
    }
    return c == ScalarType::f32 ? &multiply<a, b, ScalarType::f32> : nullptr;
  }
}

Handler pick(ScalarType a, ScalarType b, ScalarType c) {
  using T = ScalarType;
  if (a == T::f16 && b == T::f16) return accumulating<T::f16, T::f16>(c);
  if (a == T::bf16 && b == T::bf16) return accumulating<T::bf16, T::bf16>(c);
  if (a == T::tf32 && b == T::tf32) return accumulating<T::tf32, T::tf32>(c);
  if (a == T::f64 && b == T::f64) return accumulating<T::f64, T::f64>(c);
  if (a == T::u8)
    return b == T::u8 ? accumulating<T::u8, T::u8>(c) : b == T::s8 ? accumulating<T::u8, T::s8>(c) : nullptr;
  if (a == T::s8)
    return b == T::u8 ? accumulating<T::s8, T::u8>(c) : b == T::s8 ? accumulating<T::s8, T::s8>(c) : nullptr;
  if (a == T::e4m3) {
    return b == T::e4m3   ? accumulating<T::e4m3, T::e4m3>(c)
           : b == T::e5m2 ? accumulating<T::e4m3, T::e5m2>(c)
                          : nullptr;
  }
  if (a == T::e5m2) {
    return b == T::e4m3   ? accumulating<T::e5m2, T::e4m3>(c)
           : b == T::e5m2 ? accumulating<T::e5m2, T::e5m2>(c)
                          : nullptr;
  }
  return nullptr;
}

/// The shapes of the ISA's table for the type; quarter-warp products (m8n8k4 of f16) are none of Hopper's.
Shape shape_of(const Decoder& d, ScalarType a) {
  const auto has = [&](const char* word) { return d.has(word); };
  if (a == ScalarType::f64) {
    if (has("m8n8k4")) return {8, 8, 4};
    if (has("m16n8k4")) return {16, 8, 4};
    if (has("m16n8k8")) return {16, 8, 8};
    if (has("m16n8k16")) return {16, 8, 16};
  } else if (a == ScalarType::tf32) {
    if (has("m16n8k4")) return {16, 8, 4};
    if (has("m16n8k8")) return {16, 8, 8};
  } else if (per_register(a) == 2) {
    if (has("m16n8k8")) return {16, 8, 8};
    if (has("m16n8k16")) return {16, 8, 16};
  } else {
    if (has("m8n8k16") && (a == ScalarType::u8 || a == ScalarType::s8)) return {8, 8, 16};
    if (has("m16n8k16")) return {16, 8, 16};
    if (has("m16n8k32")) return {16, 8, 32};
  }
  return {};
}

}  // namespace

bool select_mma(Decoder& d) {
  if (d.in().opcode != Opcode::mma || d.in().words[1] != "sync") return false;
  const auto types = d.in().types();  // d, a, b, c
  if (types.size() != 4 || types[0] != types[3] || !d.has("row") || !d.has("col")) return false;
  for (const char* mode : {"rz", "rm", "rp", "popc"}) {
    if (d.has(mode)) d.unsupported();
  }
  const Handler handler = pick(types[1], types[2], types[3]);
  const Shape shape = shape_of(d, types[1]);
  if (handler == nullptr || shape.m == 0) return false;
  const bool wide = types[1] == ScalarType::f64;
  const ScalarType word = wide ? ScalarType::b64 : ScalarType::b32;
  const std::size_t results = types[0] == ScalarType::f16 ? shape.m * shape.n / 64 : shape.m * shape.n / 32;
  const std::size_t expected[] = {results, shape.m * shape.k / 32 / per_register(types[1]),
                                  shape.n * shape.k / 32 / per_register(types[2]), results};
  MemoryAccess access;
  std::size_t begin[4] = {};
  for (std::size_t i = 0; i < 4; ++i) {
    begin[i] = access.values.size();
    const Arg& arg = d.arg(i);
    const std::vector<Arg> single{arg};
    for (const Arg& each : arg.kind == Arg::Kind::group ? arg.elements : single)
      access.values.push_back(i == 0 ? d.write(each, word) : d.read(each, word));
    if (access.values.size() - begin[i] != expected[i]) d.unsupported("this number of registers");
  }
  d.program().accesses.push_back(std::move(access));
  const std::uint32_t packed = shape.m | shape.n << 8 | shape.k << 16 | (d.has("satfinite") ? 1U << 24 : 0);
  d.emit(handler, packed, static_cast<Slot>(begin[1]), static_cast<Slot>(begin[2]),
         static_cast<Slot>(begin[3]), static_cast<std::uint32_t>(d.program().accesses.size() - 1));
  return true;
}

}  // namespace sim
TMAJIT_END
