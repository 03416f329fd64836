#include "candidates.hpp"

#include <tmajit/validate.hpp>

#include <algorithm>
#include <array>
#include <random>

namespace bench {
namespace {

using tmajit::Family;
using tmajit::KernelSpec;

using Box = std::vector<std::uint32_t>;

/// Tiles of 2 to 64 KiB of the largest operand.
std::vector<Box> boxes(const Case& c) {
  constexpr std::uint64_t smallest = 2 << 10;
  constexpr std::uint64_t largest = 64 << 10;
  const std::uint64_t element_bytes = c.element_bytes();
  std::vector<Box> result;
  if (c.family == Family::bulk) {
    for (std::uint64_t bytes = smallest; bytes <= largest; bytes *= 2) {
      result.push_back({static_cast<std::uint32_t>(bytes / element_bytes)});
    }
    return result;
  }
  for (std::uint32_t columns = 16; columns <= 256; columns *= 2) {
    for (std::uint32_t rows = 1; rows <= 256; rows *= 2) {
      const std::uint64_t bytes = element_bytes * rows * columns;
      if (bytes >= smallest && bytes <= largest) result.push_back({rows, columns});
    }
  }
  return result;
}

/// Bytes of loads that an SM has under way: too few cannot hide the memory's latency, more than 96 KiB
/// never paid.
bool plausible(const KernelSpec& spec) {
  constexpr std::uint64_t fewest = 16 << 10;
  constexpr std::uint64_t most = 96 << 10;
  const tmajit::SharedLayout layout = tmajit::shared_layout(spec);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < spec.inputs; ++i) bytes += layout.inputs.at(i).tile_bytes;
  bytes *= std::uint64_t{spec.stages} * spec.ctas_per_sm;
  return bytes >= fewest && bytes <= most;
}

}  // namespace

std::vector<KernelSpec> candidates(const Case& c, std::uint64_t size, std::size_t limit, std::uint64_t seed) {
  const KernelSpec standard = c.spec(size);
  const bool computes = c.family == Family::map || c.family == Family::bulk;
  const std::vector<std::uint32_t> one{0};  // what the family does not have stays at its default
  const std::vector<std::uint32_t> output_stages = computes ? std::vector<std::uint32_t>{2, 3, 4} : one;
  const std::vector<std::uint32_t> warps = computes ? std::vector<std::uint32_t>{4, 8, 12, 16} : one;

  std::vector<KernelSpec> specs;
  tmajit::TileOptions tiles;
  for (const Box& box : boxes(c)) {
    tiles.box = box;
    for (const std::uint32_t stages : {1U, 2U, 3U, 4U, 6U, 8U, 12U, 16U}) {
      for (const std::uint32_t out : output_stages) {
        for (const std::uint32_t warp : warps) {
          for (const std::uint32_t ctas : {1U, 2U, 3U, 4U, 6U, 8U, 12U, 16U}) {
            for (const std::uint32_t share : {0U, stages, 2 * stages}) {
              tiles.stages = stages;
              tiles.output_stages = out;
              tiles.warps = warp;
              tiles.ctas_per_sm = ctas;
              tiles.tiles_per_cta = share;
              KernelSpec spec = c.spec(size, tiles);
              if (spec != standard && plausible(spec) && tmajit::validate(spec).empty())
                specs.push_back(spec);
            }
          }
        }
      }
    }
  }
  std::shuffle(specs.begin(), specs.end(), std::mt19937_64(seed));
  if (specs.size() > limit) specs.resize(limit);
  specs.insert(specs.begin(), standard);
  return specs;
}

}  // namespace bench
