#include "families/list.hpp"
#include "families/tiles/tile_family.hpp"

TMAJIT_BEGIN

const Family& reduce_into_family() {
  static const TileFamily family(
      reduce_into_traits, "combines boxes of one tensor into another, through shared memory",
      "The copy engine loads boxes and combines them with what the destination holds, in the "
      "L2 cache; threads only combine the ends of rows that are no multiple of 16 bytes.",
      "combine_tiles");
  return family;
}

TMAJIT_END
