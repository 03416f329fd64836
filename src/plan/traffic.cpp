#include "plan/traffic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

TMAJIT_BEGIN
namespace {

constexpr double no_pitch = std::numeric_limits<double>::infinity();

/// Elements of a box that follow each other in an operand's memory, with gaps shorter than a sector. All
/// pieces of a box are alike. Sizes are in bytes.
struct Piece {
  double element_bytes = 1;     ///< bytes of the piece's elements, without gaps
  double span = 1;              ///< bytes of the piece, with gaps
  double pitch = no_pitch;      ///< bytes from one piece to the next, if a box has several
  std::uint32_t alignment = 1;  ///< alignment of the pieces' starts and ends, at most a sector
};

Piece piece_of(const ElementBox& box, const Problem& problem, const CanonicalNest& nest,
               std::uint32_t operand, bool row_by_row) {
  const std::uint64_t element = problem.element_bytes(operand);
  const auto step = [&](std::uint32_t d) {
    return static_cast<std::uint64_t>(std::abs(nest.operand[operand].strides[d])) * element;
  };
  std::array<std::uint32_t, max_view_rank> dims{};  // dimensions in which a box has several elements
  std::uint32_t rank = 0;
  std::uint64_t bits = sector_bytes | (problem.is_number(operand) ? 0 : problem.address[operand]);
  for (std::uint32_t d = 0; d < nest.rank; ++d) {
    if (nest.shape[d] <= 1 || step(d) == 0) continue;
    // Boxes begin at multiples of their sides.
    if (box[d] < static_cast<double>(nest.shape[d])) bits |= step(d) * static_cast<std::uint64_t>(box[d]);
    if (box[d] > 1) dims[rank++] = d;
  }
  std::sort(dims.begin(), dims.begin() + rank, [&](auto a, auto b) { return step(a) < step(b); });
  Piece piece{.element_bytes = static_cast<double>(element), .span = static_cast<double>(element)};
  for (std::uint32_t k = 0; k < rank; ++k) {
    const auto stride = static_cast<double>(step(dims[k]));
    const bool separate = row_by_row && k > 0;
    if (!separate && piece.pitch == no_pitch && stride <= std::max<double>(piece.span, sector_bytes)) {
      piece.span += stride * (box[dims[k]] - 1);
      piece.element_bytes *= box[dims[k]];
    } else {
      if (!separate) piece.pitch = std::min(piece.pitch, stride);
      bits |= step(dims[k]);
    }
  }
  bits |= static_cast<std::uint64_t>(std::fmod(piece.span, sector_bytes));
  piece.alignment = 1U << std::countr_zero(bits);
  return piece;
}

}  // namespace

ElementBox box_of_tiles(const Footprint& footprint, const CanonicalNest& nest, double tiles) {
  ElementBox box{};
  for (std::uint32_t d = 0; d < nest.rank; ++d)
    box[d] = static_cast<double>(
        std::clamp<std::uint64_t>(footprint.box[d], 1, std::max<std::uint64_t>(nest.shape[d], 1)));
  for (std::uint32_t k = nest.rank; k-- > 0 && tiles > 1;) {
    const std::uint32_t d = footprint.order[k];
    const auto extent = static_cast<double>(nest.shape[d]);
    const double taken = std::min(tiles, std::ceil(extent / box[d]));
    box[d] = std::min(box[d] * taken, extent);
    tiles /= taken;
  }
  return box;
}

PredictedTraffic traffic_of(const ElementBox& box, const Problem& problem, const CanonicalNest& nest,
                            std::uint32_t operand, BoxAccess access) {
  const Piece piece = piece_of(box, problem, nest, operand, access.row_by_row);
  const std::uint32_t alignment = std::clamp(access.store_bytes, piece.alignment, sector_bytes);
  const double touched = std::min(piece.span + sector_bytes - alignment, std::max(piece.pitch, piece.span));
  PredictedTraffic traffic;
  traffic.bytes = static_cast<double>(operand == 0 ? problem.bytes_written() : problem.bytes_read(operand));
  traffic.pieces = traffic.bytes / piece.element_bytes;
  traffic.unused = traffic.pieces * std::max(touched - piece.element_bytes, 0.0);
  return traffic;
}

TMAJIT_END
