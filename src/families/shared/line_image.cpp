#include "families/shared/line_image.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t unit = 16;  // bytes that come to an image at once

}  // namespace

std::uint64_t line_step(std::uint64_t least, std::uint64_t like) noexcept {
  const std::uint64_t wanted = unit + like % unit;  // modulo 32
  return least + (wanted - least) % (2 * unit);
}

std::int64_t LineImage::bytes_to(std::uint32_t d, std::uint32_t index) const noexcept {
  const std::int64_t gaps = d == skewed ? index / skew_every * unit : 0;
  return std::int64_t{index} * step[d] + gaps;
}

std::string image_step_fact(const LineImage& image) {
  std::string out = fmt::format("struct Steps {{\n  i32 at[{}];\n}};\n", image.rank);
  out += fmt::format("__device__ constexpr Steps image_step() {{ return {{{{{}}}}}; }}  // bytes\n",
                     fmt::join(image.step.begin(), image.step.begin() + image.rank, ", "));
  out += number_fact("skewed", image.skewed, "a dimension with 16 bytes more ...");
  return out + number_fact("skew_every", image.skew_every, "... after so many lines");
}

RunPlaces::RunPlaces(const LineImage& image, const LaneIndices& lanes) {
  const std::uint32_t last = image.rank - 1;
  lanes_ = lanes.along;
  step_ = std::int64_t{lanes.apart} * image.step[last];
  even_ = last == image.run_dimension && last != image.skewed && (lanes_ - 1) * lanes.apart < image.box[last];
  place_.fill(static_cast<std::uint32_t>(image.below));
  for (std::uint32_t d = image.run_dimension; d < image.rank; ++d) {
    const std::uint32_t gap = d == image.skewed ? unit : 0;
    const auto step = static_cast<std::uint32_t>(image.step[d]);
    const auto every_log = static_cast<std::uint32_t>(std::countr_zero(image.skew_every));
    for (std::uint32_t n = 0; n < lanes_; ++n) {
      const std::uint32_t index = lanes.index[d][n];
      place_[n] += index * step + (index >> every_log) * gap;
    }
  }
}

LaneIndices::LaneIndices(const PerDimension& box, std::uint32_t run_dimension, std::uint32_t rank,
                         std::uint32_t elements_apart, std::uint32_t lanes)
    : along(lanes), apart(elements_apart) {
  for (std::uint32_t n = 0; n < along; ++n) {
    std::uint32_t element = n * apart;
    for (std::uint32_t d = rank; d-- > run_dimension; element /= box[d]) index[d][n] = element % box[d];
  }
}

std::uint32_t RunPlaces::wavefronts(std::uint32_t width, std::uint32_t along, std::int64_t across,
                                    std::uint32_t enough) const {
  const std::uint32_t words = std::min(along, lanes_);
  const std::uint32_t banks = shared_banks * 4 / width;  // of `width` bytes, and lanes at once
  if (even_ && step_ % width == 0 && along == warp_lanes && (banks == shared_banks || words == warp_lanes)) {
    if (step_ == 0) return warp_lanes / banks;  // one place
    const auto step = static_cast<std::uint32_t>(step_ / width % banks);
    const std::uint32_t met = banks / std::gcd(banks, step);
    return (std::min(words, banks) + met - 1) / met * (warp_lanes / banks);
  }
  // Different places of each bank. Planners ask for this thousands of times a second: tmajit::wavefronts()
  // checks more. All these numbers are powers of two.
  const auto width_log = static_cast<std::uint32_t>(std::countr_zero(width));
  const auto along_log = static_cast<std::uint32_t>(std::countr_zero(along));
  std::array<std::array<std::uint32_t, warp_lanes>, shared_banks> different;
  std::uint32_t all = 0;
  for (std::uint32_t first = 0; first < warp_lanes; first += banks) {
    std::array<std::uint8_t, shared_banks> count{};
    std::uint32_t most = 0;
    for (std::uint32_t lane = first; lane < first + banks; ++lane) {
      const std::uint32_t n = lane & (along - 1);
      if (n >= lanes_) continue;
      const std::uint32_t beyond = (lane >> along_log) * static_cast<std::uint32_t>(across);
      const std::uint32_t at = (place_[n] + beyond) >> width_log;
      auto& of_bank = different[at & (banks - 1)];
      std::uint8_t& met = count[at & (banks - 1)];
      std::uint32_t same = 0;
      while (same < met && of_bank[same] != at) ++same;
      if (same < met) continue;
      of_bank[met++] = at;
      if (met <= most) continue;
      most = met;
      if (all + most >= enough) return all + most;
    }
    all += most;
  }
  return all;
}

TMAJIT_END
