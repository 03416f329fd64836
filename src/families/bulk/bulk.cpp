#include "families/list.hpp"
#include "families/tiles/tile_family.hpp"

TMAJIT_BEGIN

const Family& bulk_family() {
  static const TileFamily family(
      bulk_traits, "computes an expression of one tensor in one dimension, of any length and alignment",
      "Bulk copies move the 16-byte-aligned part of both arrays in chunks and need no tensor map. "
      "Threads compute the few elements before and after that part one by one.",
      "map_bulk");
  return family;
}

TMAJIT_END
