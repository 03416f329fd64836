#include "families/list.hpp"
#include "families/tiles/tile_family.hpp"

TMAJIT_BEGIN

const TileTraits bulk_traits{
    .name = "bulk",
    .max_rank = 1,
    .computes = true,
    .by_addresses = true,
    .pipeline = {.tile_bytes = 4 * 1024, .stages = 3, .bytes_in_flight = 72 * 1024},
};

const Family& bulk_family() {
  static const TileFamily family(
      bulk_traits, "computes an expression of one tensor in one dimension, of any length and alignment",
      "Bulk copies move chunks between any addresses without a tensor map; the few elements "
      "before and after them are done one by one.",
      "map_bulk");
  return family;
}

TMAJIT_END
