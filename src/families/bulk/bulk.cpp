#include "families/list.hpp"
#include "families/tiles/tile_family.hpp"

TMAJIT_BEGIN

const Family& bulk_family() {
  static const TileFamily family(
      bulk_traits, "computes an expression of one tensor in one dimension, of any length and alignment",
      "Bulk copies move chunks between any addresses without a tensor map; the few elements "
      "before and after them are done one by one.",
      "map_bulk");
  return family;
}

TMAJIT_END
