#include "families/shared/line_image.hpp"

#include <algorithm>
#include <numeric>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint32_t unit = 16;  // bytes that come to an image at once
constexpr std::uint32_t word_bytes = 4;

}  // namespace

bool takes_lines(const Problem& problem) noexcept {
  const CanonicalNest& nest = problem.nest;
  if (nest.rank < 2 || problem.sources() != 1 || !problem.reads_bits()) return false;
  if (problem.interleaved[1]) return false;  // lines hold what lies between the elements, too
  return problem.element_bytes(0) < unit && nest.operand[0].strides[nest.rank - 1] == 1;
}

std::uint64_t line_step(std::uint64_t least, std::uint64_t like) noexcept {
  const std::uint64_t wanted = unit + like % unit;  // modulo 32
  return least + (wanted - least) % (2 * unit);
}

std::vector<std::string> run_rewrite(std::uint32_t first, std::uint32_t rank) {
  if (first + 1 >= rank) return {};
  std::vector<std::uint32_t> run(rank - first - 1);
  std::iota(run.begin(), run.end(), first);
  return {fmt::format("Dimensions {} and {} of the canonical nest are one run of the destination's memory.",
                      fmt::join(run, ", "), rank - 1)};
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

std::uint32_t banks_taken(const LineImage& image, std::uint32_t element_bytes, std::uint32_t along,
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
