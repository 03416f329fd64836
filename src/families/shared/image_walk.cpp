#include "families/shared/image_walk.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace {

constexpr std::int64_t skew_bytes = 16;
constexpr std::uint32_t word_bytes = 4;

}  // namespace

std::int64_t TileImageSteps::bytes_to(std::uint32_t d, std::uint32_t index) const noexcept {
  const std::int64_t gaps = d == skewed ? index / skew_every * skew_bytes : 0;
  return std::int64_t{index} * step[d] + gaps;
}

std::uint32_t banks_taken(const TileImageSteps& image, std::uint32_t element_bytes, std::uint32_t along,
                          std::uint32_t apart, std::uint32_t elements, std::int64_t across) {
  PerDimension index{};
  std::array<std::uint32_t, warp_lanes> place{};
  std::uint32_t words = 0;
  for (std::uint32_t n = 0; words < along && n < elements; n += apart, ++words) {
    std::int64_t at = image.below;
    for (std::uint32_t d = image.run_dimension; d < image.rank; ++d) at += image.bytes_to(d, index[d]);
    place[words] = static_cast<std::uint32_t>(at);
    // The next element's indices, as an odometer counts.
    index[image.rank - 1] += apart;
    for (std::uint32_t d = image.rank - 1; d > image.run_dimension && index[d] >= image.box[d]; --d) {
      const std::uint32_t carry = index[d] / image.box[d];
      index[d] -= carry * image.box[d];
      index[d - 1] += carry;
    }
  }
  // Different words of each bank. Planners ask for this thousands of times a second: wavefronts() checks
  // more.
  std::array<std::array<std::uint32_t, warp_lanes>, shared_banks> word;
  std::array<std::uint8_t, shared_banks> count{};
  std::uint32_t most = 0;
  for (std::uint32_t first = 0; first < warp_lanes; first += along) {
    const auto beyond = static_cast<std::uint32_t>(first / along * across);
    for (std::uint32_t n = 0; n < words; ++n) {
      const std::uint32_t at = (place[n] + beyond) / word_bytes;
      auto& of_bank = word[at % shared_banks];
      std::uint8_t& met = count[at % shared_banks];
      if (std::find(of_bank.begin(), of_bank.begin() + met, at) != of_bank.begin() + met) continue;
      of_bank[met++] = at;
      most = std::max<std::uint32_t>(most, met);
    }
  }
  return most * std::max(element_bytes / word_bytes, 1U);
}

TMAJIT_END
