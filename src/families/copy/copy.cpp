#include "families/list.hpp"
#include "families/tiles/tile_family.hpp"

TMAJIT_BEGIN

const Family& copy_family() {
  static const TileFamily family(
      copy_traits, "moves boxes from one tensor map to another, through shared memory",
      "The copy engine loads boxes and stores them again; threads only store the ends of rows "
      "that are no multiple of 16 bytes.",
      "copy_tiles");
  return family;
}

TMAJIT_END
