/// Matrices of 8 rows of 16 bytes between shared memory and registers: ldmatrix, stmatrix, movmatrix (PTX ISA
/// 9.7.14.5.15 to 9.7.14.5.17).
#include "sim/decode.hpp"
#include "sim/memory_access.hpp"

#include <array>
#include <cstring>

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::Opcode;
using ptx::ScalarType;

/// 8 by 8 elements of 16 bits.
using Matrix = std::array<std::array<std::uint16_t, 8>, 8>;

/// These instructions are executed by all lanes of the warp; else those here wait.
bool converged(Warp& warp, Mask mask) {
  const Mask missing = warp.live & ~mask;
  if (missing == 0) return true;
  warp.park(mask, warp.here(), {Wait::Kind::warp, missing, 0});
  return false;
}

/// The two elements that a lane holds: of row lane / 4, or of that column if it is transposed.
template <bool transposed>
std::uint16_t& element(Matrix& matrix, std::uint32_t lane, std::uint32_t i) {
  const std::uint32_t row = lane / 4;
  const std::uint32_t column = lane % 4 * 2 + i;
  return transposed ? matrix[column][row] : matrix[row][column];
}
template <bool transposed>
std::uint32_t take(Matrix& matrix, std::uint32_t lane) {
  return element<transposed>(matrix, lane, 0) |
         static_cast<std::uint32_t>(element<transposed>(matrix, lane, 1)) << 16;
}
template <bool transposed>
void give(Matrix& matrix, std::uint32_t lane, std::uint32_t word) {
  element<transposed>(matrix, lane, 0) = static_cast<std::uint16_t>(word);
  element<transposed>(matrix, lane, 1) = static_cast<std::uint16_t>(word >> 16);
}

constexpr std::uint32_t row_bytes = 16;

/// accesses[aux]: lane 8 m + r has the address of row r of matrix m; values: a register a matrix.
template <bool transposed, bool loads>
void move_matrices(Warp& warp, const MicroOp& op, Mask mask) {
  if (!converged(warp, mask)) return;
  const MemoryAccess& access = warp.program->accesses[op.aux];
  for (std::uint32_t m = 0; m < access.values.size(); ++m) {
    Matrix matrix{};
    std::byte* const slot = warp.registers + access.values[m];
    if (!loads)
      for_lanes(mask,
                [&](std::uint32_t lane) { give<transposed>(matrix, lane, get<std::uint32_t>(slot, lane)); });
    for (std::uint32_t row = 0; row < 8; ++row) {
      const std::uint32_t lane = 8 * m + row;
      // Lanes that do not exist name no row.
      if ((mask >> lane & 1) == 0) continue;
      const Target target =
          resolve(warp, lane, access.space, address_of(warp, access, lane), row_bytes, row_bytes, !loads);
      if (loads) {
        if (target.shared) check_shared_read(warp, lane, {target.owner, target.offset}, row_bytes);
        std::memcpy(matrix[row].data(), target.memory, row_bytes);
      } else {
        if (target.shared) check_shared_write(warp, lane, {target.owner, target.offset}, row_bytes);
        std::memcpy(target.memory, matrix[row].data(), row_bytes);
      }
    }
    if (loads) for_lanes(mask, [&](std::uint32_t lane) { put(slot, lane, take<transposed>(matrix, lane)); });
  }
}

void transpose(Warp& warp, const MicroOp& op, Mask mask) {
  if (!converged(warp, mask)) return;
  Matrix matrix{};
  for_lanes(mask, [&](std::uint32_t lane) {
    give<false>(matrix, lane, get<std::uint32_t>(warp.registers + op.a, lane));
  });
  for_lanes(mask, [&](std::uint32_t lane) { put(warp.registers + op.d, lane, take<true>(matrix, lane)); });
}

bool emit_move(Decoder& d, bool loads) {
  if (!d.has("m8n8") || d.type() != ScalarType::b16) return false;
  MemoryAccess access = d.address(d.arg(loads ? 1 : 0), d.space());
  access.peers = false;
  const Arg& values = d.arg(loads ? 0 : 1);
  const auto add = [&](const Arg& arg) {
    access.values.push_back(loads ? d.write(arg, ScalarType::b32) : d.read(arg, ScalarType::b32));
  };
  if (values.kind == Arg::Kind::group) {
    for (const Arg& each : values.elements) add(each);
  } else {
    add(values);
  }
  const std::size_t count = d.has("x4") ? 4 : d.has("x2") ? 2 : 1;
  if (access.values.size() != count) d.unsupported("this number of registers");
  d.program().accesses.push_back(std::move(access));
  const bool transposed = d.has("trans");
  const Handler handler = loads ? (transposed ? &move_matrices<true, true> : &move_matrices<false, true>)
                                : (transposed ? &move_matrices<true, false> : &move_matrices<false, false>);
  d.emit(handler, 0, 0, 0, 0, static_cast<std::uint32_t>(d.program().accesses.size() - 1));
  return true;
}

}  // namespace

bool select_matrix(Decoder& d) {
  switch (d.in().opcode) {
    case Opcode::ldmatrix: return emit_move(d, true);
    case Opcode::stmatrix: return emit_move(d, false);
    case Opcode::movmatrix: {
      const Slot a = d.read(d.arg(1), ScalarType::b32);
      d.emit(&transpose, d.write(d.arg(0), ScalarType::b32), a);
      return true;
    }
    default: return false;
  }
}

}  // namespace sim
TMAJIT_END
