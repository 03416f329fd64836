/// Matrix products by mma.sync (PTX ISA 9.7.14.5), and moves of 8 x 8 matrices of 16-bit elements: ldmatrix,
/// stmatrix and movmatrix (9.7.14.5.15 to 9.7.14.5.17).
#include "sim/instructions/matrix.hpp"

#include "sim/cta/cta.hpp"
#include "sim/instructions/select.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace mma_instructions {
namespace {

/// Upper bound of k for a type.
constexpr std::uint32_t max_k(ScalarType type) {
  return type == ScalarType::b1 ? 256 : 64;
}

enum Flags : std::uint32_t { saturates = 1U << 25, exclusive = 1U << 26 };

/// mma. accesses[aux].values: the registers of d, a, b, c one after the other; op.a, op.b, op.c: indices of
/// the first registers of a, b, c; op.d: m | n << 8 | k << 16, and flags.
template <ScalarType a_type, ScalarType b_type, ScalarType c_type>
void multiply(Warp& warp, const MicroOp& op, Mask mask) {
  if (!warp.gather(mask)) return;
  const auto& slots = warp.program->accesses[op.aux].values;
  const MatrixShape shape{op.d & 255, op.d >> 8 & 255, op.d >> 16 & 511};
  const auto reg = [&](std::size_t i, std::uint32_t lane) -> std::uint64_t {
    return a_type == ScalarType::f64 ? get<std::uint64_t>(warp.registers + slots[i], lane)
                                     : get<std::uint32_t>(warp.registers + slots[i], lane);
  };
  std::array<std::array<double, max_k(a_type)>, 16> a{};
  std::array<std::array<double, max_k(b_type)>, 8> b{};  // column by column
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
      for (std::uint32_t e = 0; e < per; ++e) b[group][inner + e + i * 4 * per] = element<b_type>(bits, e);
    }
  }
  const auto result = [&](std::uint32_t row, std::uint32_t column, auto c) {
    using C = decltype(c);
    const double* const left = a[row].data();
    const double* const right = b[column].data();
    if constexpr (std::is_same_v<C, std::int32_t>) {
      return multiply_integers(left, right, shape.k, c, (op.d & saturates) != 0, (op.d & exclusive) != 0);
    } else {
      return static_cast<C>(
          multiply_floats<a_type == ScalarType::f64>(left, right, shape.k, static_cast<double>(c)));
    }
  };
  // d may share registers with a, b or c. These have been read; a lane reads its part of c before it writes
  // d.
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

struct Product {
  ScalarType a;
  ScalarType b;
  ScalarType c;
  Handler handler;
};
template <ScalarType a, ScalarType b, ScalarType c>
constexpr Product product{a, b, c, &multiply<a, b, c>};

using T = ScalarType;
constexpr Product products[] = {
    product<T::f16, T::f16, T::f16>,   product<T::f16, T::f16, T::f32>,   product<T::bf16, T::bf16, T::f32>,
    product<T::tf32, T::tf32, T::f32>, product<T::f64, T::f64, T::f64>,   product<T::u8, T::u8, T::s32>,
    product<T::u8, T::s8, T::s32>,     product<T::s8, T::u8, T::s32>,     product<T::s8, T::s8, T::s32>,
    product<T::e4m3, T::e4m3, T::f32>, product<T::e4m3, T::e5m2, T::f32>, product<T::e5m2, T::e4m3, T::f32>,
    product<T::e5m2, T::e5m2, T::f32>, product<T::u4, T::u4, T::s32>,     product<T::u4, T::s4, T::s32>,
    product<T::s4, T::u4, T::s32>,     product<T::s4, T::s4, T::s32>,     product<T::b1, T::b1, T::s32>,
};

/// The instruction's shape if the ISA's table has it for the type, else zeros. m8n8k4 of f16, a product of
/// quarter warps, is left out because Hopper lacks it.
MatrixShape shape_of(const Decoder& d, ScalarType a) {
  const std::uint32_t least = 4 * per_register(a);
  const bool f64 = a == ScalarType::f64;
  const bool has_m8 = f64 || !ptx::is_float(a);
  for (const std::uint32_t m : {8U, 16U}) {
    for (const std::uint32_t k : {least, 2 * least, 4 * least}) {
      if (m == 8 ? k > least || !has_m8 : k > 2 * least && !f64) continue;
      if (d.has(fmt::format("m{}n8k{}", m, k))) return {m, 8, k};
    }
  }
  return {};
}

void select_mma(Decoder& d) {
  const auto types = d.instruction().types();  // d, a, b, c
  if (d.instruction().words()[1] != "sync" || types.size() != 4 || types[0] != types[3] || !d.has("row") ||
      !d.has("col")) {
    d.unsupported();
  }
  const auto* const found = std::ranges::find_if(products, [&](const Product& each) {
    return each.a == types[1] && each.b == types[2] && each.c == types[3];
  });
  const MatrixShape shape = shape_of(d, types[1]);
  if (found == std::end(products) || shape.m == 0) d.unsupported();
  const bool wide = types[1] == ScalarType::f64;
  const bool bits = types[1] == ScalarType::b1;
  if (bits != d.has("popc") || (!wide && rounding_mode(d) != FE_TONEAREST)) d.unsupported();
  const ScalarType word = wide ? ScalarType::b64 : ScalarType::b32;
  const std::size_t results = types[0] == ScalarType::f16 ? shape.m * shape.n / 64 : shape.m * shape.n / 32;
  const std::size_t expected[] = {results, shape.m * shape.k / 32 / per_register(types[1]),
                                  shape.n * shape.k / 32 / per_register(types[2]), results};
  MemoryAccess access;
  std::size_t begin[4] = {};
  for (std::size_t i = 0; i < 4; ++i) {
    begin[i] = access.values.size();
    const std::vector<Slot> slots = d.slots(d.arg(i), word, i == 0);
    if (slots.size() != expected[i]) d.unsupported("this number of registers");
    access.values.insert(access.values.end(), slots.begin(), slots.end());
  }
  const std::uint32_t packed = shape.m | shape.n << 8 | shape.k << 16 |
                               (d.has("satfinite") ? saturates : 0U) | (d.has("xor") ? exclusive : 0U);
  d.emit(wide ? rounded<&multiply<T::f64, T::f64, T::f64>>(d) : found->handler, packed,
         static_cast<Slot>(begin[1]), static_cast<Slot>(begin[2]), static_cast<Slot>(begin[3]),
         d.add(std::move(access)));
}

/// 8 by 8 elements of 16 bits.
using Matrix = std::array<std::array<std::uint16_t, 8>, 8>;

/// Element i (0 or 1) of the two that a lane holds. They are in row lane / 4, or with `transposed` in column
/// lane / 4.
template <bool transposed>
std::uint16_t& element(Matrix& matrix, std::uint32_t lane, std::uint32_t i) {
  const std::uint32_t row = lane / 4;
  const std::uint32_t column = lane % 4 * 2 + i;
  return transposed ? matrix[column][row] : matrix[row][column];
}
/// The two elements of a lane as a word.
template <bool transposed>
std::uint32_t elements_of(Matrix& matrix, std::uint32_t lane) {
  return element<transposed>(matrix, lane, 0) |
         static_cast<std::uint32_t>(element<transposed>(matrix, lane, 1)) << 16;
}
template <bool transposed>
void set_elements(Matrix& matrix, std::uint32_t lane, std::uint32_t word) {
  element<transposed>(matrix, lane, 0) = static_cast<std::uint16_t>(word);
  element<transposed>(matrix, lane, 1) = static_cast<std::uint16_t>(word >> 16);
}

constexpr std::uint32_t row_bytes = 16;

/// Tracks uninitialised values in ldmatrix (`loads`) or stmatrix. rows[8 m + r]: the memory of row r of
/// matrix m.
template <bool transposed, bool loads>
void track_matrices(Warp& warp, Mask mask, const std::array<Target, lanes>& rows, std::size_t matrices) {
  for (std::uint32_t m = 0; m < matrices; ++m) {
    for_lanes(mask, [&](std::uint32_t lane) {
      // The offsets of the lane's two elements.
      std::array<std::uint32_t, 2> pieces{};
      Cta* owner = nullptr;
      for (std::uint32_t i = 0; i < 2; ++i) {
        const std::uint32_t row = transposed ? lane % 4 * 2 + i : lane / 4;
        const std::uint32_t column = transposed ? lane / 4 : lane % 4 * 2 + i;
        const Target& target = rows[8 * m + row];
        if (!target.shared) return;
        owner = target.owner;
        pieces[i] = target.offset + 2 * column;
        if (!loads) warp.undefined->store_piece(warp, lane, m, *owner, pieces[i], 2);
      }
      if (loads) track_pieces(warp, lane, m, *owner, pieces.data(), pieces.size(), 2);
    });
  }
}

/// ldmatrix (`loads`) and stmatrix. accesses[aux]: lane 8 m + r has the address of row r of matrix m;
/// `values` has one register per matrix.
template <bool transposed, bool loads>
void move_matrices(Warp& warp, const MicroOp& op, Mask mask) {
  if (!warp.gather(mask)) return;
  const MemoryAccess& access = warp.program->accesses[op.aux];
  std::array<std::uint64_t, lanes> rows{};
  Mask legal = 0;
  bool maybe_undefined = false;
  bool same_value = true;
  std::array<Target, lanes> targets{};
  for (std::uint32_t m = 0; m < access.values.size(); ++m) {
    Matrix matrix{};
    std::byte* const slot = warp.registers + access.values[m];
    if (!loads)
      for_lanes(mask, [&](std::uint32_t lane) {
        set_elements<transposed>(matrix, lane, get<std::uint32_t>(slot, lane));
      });
    for (std::uint32_t row = 0; row < 8; ++row) {
      const std::uint32_t lane = 8 * m + row;
      // Lanes that are not threads have no address.
      if ((mask >> lane & 1) == 0) continue;
      const Target target = targets[lane] = resolve_or_zeros(
          warp, lane, access.space, address_of(warp, access, lane), row_bytes, row_bytes, !loads);
      bool undefined_row = false;
      if (check_shadow(warp, lane, target, row_bytes, !loads, loads ? &undefined_row : nullptr) &&
          target.shared)
        legal |= 1U << lane;
      maybe_undefined = maybe_undefined || undefined_row;
      rows[lane] = target.owner != nullptr ? target.owner->in_cluster(target.offset) : 0;
      if (loads) {
        std::memcpy(matrix[row].data(), target.memory, row_bytes);
      } else {
        same_value = same_value && std::memcmp(target.memory, matrix[row].data(), row_bytes) == 0;
        std::memcpy(target.memory, matrix[row].data(), row_bytes);
      }
    }
    if (loads)
      for_lanes(mask, [&](std::uint32_t lane) { put(slot, lane, elements_of<transposed>(matrix, lane)); });
  }
  if (!loads) maybe_undefined = warp.undefined && warp.undefined->any();
  if (maybe_undefined) track_matrices<transposed, loads>(warp, mask, targets, access.values.size());
  if (!warp.cta->races) return;
  // Each row is recorded as an access by the lane that has its address. The lanes have synchronised, so any
  // lane would do.
  warp.cta->races->synchronise(warp, mask);
  if (legal != 0)
    warp.cta->races->access(warp, {Memory::shared, row_bytes, !loads, {}, same_value}, rows, legal);
}

/// movmatrix.
void transpose(Warp& warp, const MicroOp& op, Mask mask) {
  if (!warp.gather(mask)) return;
  Matrix matrix{};
  for_lanes(mask, [&](std::uint32_t lane) {
    set_elements<false>(matrix, lane, get<std::uint32_t>(warp.registers + op.a, lane));
  });
  for_lanes(mask,
            [&](std::uint32_t lane) { put(warp.registers + op.d, lane, elements_of<true>(matrix, lane)); });
}

void select_ldmatrix(Decoder& d) {
  const bool loads = d.instruction().opcode == Opcode::ldmatrix;
  if (!d.has("m8n8") || d.type() != ScalarType::b16) d.unsupported();
  MemoryAccess access = d.address(d.arg(loads ? 1 : 0), d.space());
  access.peers = false;
  access.values = d.slots(d.arg(loads ? 0 : 1), ScalarType::b32, loads);
  const std::size_t count = d.has("x4") ? 4 : d.has("x2") ? 2 : 1;
  if (access.values.size() != count) d.unsupported("this number of registers");
  const auto handler_of = [](auto by_column, auto into) -> Handler {
    return &move_matrices<by_column, into>;
  };
  d.emit(with_flags(handler_of, d.has("trans"), loads), 0, 0, 0, 0, d.add(std::move(access)));
}

constexpr Selector matrix_table[] = {
    {Opcode::ldmatrix, &select_ldmatrix},
    {Opcode::stmatrix, &select_ldmatrix},
    {Opcode::movmatrix, [](Decoder& d) { d.emit_uniform(&transpose, ScalarType::b32); }},
    {Opcode::mma, &select_mma},
};

}  // namespace
}  // namespace mma_instructions

constinit const Selectors matrix_selectors = mma_instructions::matrix_table;

}  // namespace sim
TMAJIT_END
