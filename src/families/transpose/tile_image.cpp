#include "families/transpose/tile_image.hpp"

#include "spec/saturate.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t max_examined_warps = 4;  // warps to examine; further warps repeat their pattern

}  // namespace

TileImage::TileImage(const BlockFacts& facts)
    : facts_(facts), row_(facts.rank - 1), banks_(128 / facts.vector_bytes()), vectors_(facts.box) {
  vectors_[row_] /= facts.vector;
  blocks_ = vectors_;
  blocks_[row_] += facts.staggered;
  blocks_[facts.column] /= facts.vector;
  const std::uint32_t unit = std::max(banks_ / facts.vector, 1U);
  step_[row_] = 1;
  std::uint32_t step = static_cast<std::uint32_t>(round_up(blocks_[row_], unit));
  for (std::uint32_t d = row_; d-- > 0;) {
    step_[d] = step;
    step *= facts.box[d];
  }
  block_count_ = static_cast<std::uint32_t>(elements_of(blocks_, facts.rank));
  vector_count_ = static_cast<std::uint32_t>(elements_of(vectors_, facts.rank));
}

std::uint32_t TileImage::bytes() const noexcept {
  // The tile's extent in the outermost dimension times that dimension's step, as in the template.
  const std::uint32_t outermost = row_ == 0 ? blocks_[0] : facts_.box[0];
  return step_[0] * outermost * facts_.vector_bytes();
}

std::uint32_t TileImage::writing_warps() const noexcept {
  return static_cast<std::uint32_t>(ceil_div(block_count_, warp_lanes));
}
std::uint32_t TileImage::reading_warps() const noexcept {
  return static_cast<std::uint32_t>(ceil_div(vector_count_, warp_lanes));
}

TileImage::Numbers TileImage::index(std::uint32_t n, const Numbers& order, const Numbers& counts) const {
  Numbers at{};
  for (std::uint32_t k = facts_.rank; k-- > 0;) {
    at[order[k]] = n % counts[order[k]];
    n /= counts[order[k]];
  }
  return at;
}

std::uint32_t TileImage::offset(std::uint32_t position, std::uint32_t column_index,
                                std::uint32_t swizzle) const {
  return (position ^ (column_index / facts_.vector * swizzle % banks_)) * facts_.vector_bytes();
}

WarpAccess TileImage::write(std::uint32_t warp, std::uint32_t line, std::uint32_t swizzle) const {
  WarpAccess access{.width = facts_.vector_bytes()};
  for (std::uint32_t n = warp * warp_lanes; n < block_count_ && access.lanes < warp_lanes; ++n) {
    Numbers at = index(n, facts_.source_order, blocks_);
    at[facts_.column] = at[facts_.column] * facts_.vector + line;
    const std::uint32_t position =
        std::inner_product(at.begin(), at.begin() + facts_.rank, step_.begin(), 0U);
    access.offsets[access.lanes++] = offset(position, at[facts_.column], swizzle);
  }
  return access;
}

WarpAccess TileImage::read(std::uint32_t warp, std::uint32_t swizzle) const {
  WarpAccess access{.width = facts_.vector_bytes()};
  for (std::uint32_t n = warp * warp_lanes; n < vector_count_ && access.lanes < warp_lanes; ++n) {
    const Numbers at = index(n, in_order(), vectors_);
    const std::uint32_t position =
        std::inner_product(at.begin(), at.begin() + facts_.rank, step_.begin(), 0U);
    access.offsets[access.lanes++] = offset(position, at[facts_.column], swizzle);
  }
  return access;
}

std::uint32_t TileImage::best_swizzle() const {
  const auto needed = [&](std::uint32_t swizzle) {
    std::uint32_t sum = 0;
    for (std::uint32_t warp = 0; warp < std::min(writing_warps(), max_examined_warps); ++warp) {
      sum += wavefronts(write(warp, 0, swizzle)).needed;
    }
    for (std::uint32_t warp = 0; warp < std::min(reading_warps(), max_examined_warps); ++warp) {
      sum += wavefronts(read(warp, swizzle)).needed;
    }
    return sum;
  };
  // Powers of two first, because other swizzles cost the kernel a multiplication.
  std::array<std::uint32_t, 16> swizzles{};
  std::iota(swizzles.begin(), swizzles.begin() + banks_ - 1, 1U);
  const auto all = std::span(swizzles).first(banks_ - 1);
  std::stable_partition(all.begin(), all.end(), [](std::uint32_t n) { return std::has_single_bit(n); });
  return *std::ranges::min_element(all, {}, needed);
}

TMAJIT_END
