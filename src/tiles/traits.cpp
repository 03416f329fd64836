#include "tiles/tile_spec.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN

const TileTraits copy_traits{
    .name = "copy",
    .pipeline = {.tile_bytes = 8 * kib, .stages = 2, .bytes_in_flight = 48 * kib},
};

const TileTraits reduce_into_traits{
    .name = "reduce_into",
    .combines = true,
    .pipeline = {.tile_bytes = 8 * kib, .stages = 2, .bytes_in_flight = 48 * kib},
};

const TileTraits map_traits{.name = "map", .max_inputs = max_inputs, .computes = true};

const TileTraits bulk_traits{
    .name = "bulk",
    .max_rank = 1,
    .computes = true,
    .by_addresses = true,
    .pipeline = {.tile_bytes = 4 * kib, .stages = 3, .bytes_in_flight = 72 * kib},
};

const TileTraits snapshot_traits{.name = "snapshot", .writes_images = true};

const TileTraits& tile_traits(std::string_view family) {
  static constexpr std::array all{&copy_traits, &reduce_into_traits, &map_traits, &bulk_traits,
                                  &snapshot_traits};
  const auto* const found = std::ranges::find(all, family, &TileTraits::name);
  if (found != all.end()) return **found;
  std::vector<std::string_view> names;
  names.reserve(all.size());
  for (const TileTraits* traits : all) names.push_back(traits->name);
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("no kernel family takes tiles of the caller's choice for \"{}\"; those that do are {}",
                  family, fmt::join(names, ", ")));
}

TMAJIT_END
