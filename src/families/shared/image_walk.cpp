#include "families/shared/image_walk.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace {

constexpr std::int64_t skew_bytes = 16;

}  // namespace

std::int64_t TileImageSteps::bytes_to(std::uint32_t d, std::uint32_t index) const noexcept {
  const std::int64_t gaps = d == skewed ? index / skew_every * skew_bytes : 0;
  return std::int64_t{index} * step[d] + gaps;
}

std::uint32_t banks_taken(const TileImageSteps& image, std::uint32_t element_bytes, std::uint32_t along,
                          std::uint32_t apart, std::uint32_t elements, std::int64_t across) {
  WarpAccess access{.width = element_bytes};
  PerDimension index{};
  std::array<std::int64_t, warp_lanes> place{};
  std::uint32_t words = 0;
  for (std::uint32_t n = 0; words < along && n < elements; n += apart, ++words) {
    std::int64_t at = image.below;
    for (std::uint32_t d = image.run_dimension; d < image.rank; ++d) at += image.bytes_to(d, index[d]);
    place[words] = at;
    // The next element's indices, as an odometer counts.
    index[image.rank - 1] += apart;
    for (std::uint32_t d = image.rank - 1; d > image.run_dimension; --d) {
      while (index[d] >= image.box[d]) {
        index[d] -= image.box[d];
        ++index[d - 1];
      }
    }
  }
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    if (lane % along >= words) continue;
    const std::int64_t at = place[lane % along] + lane / along * across;
    access.offsets[access.lanes++] = static_cast<std::uint32_t>(at) / element_bytes * element_bytes;
  }
  return wavefronts(access).needed;
}

TMAJIT_END
