#include "families/list.hpp"
#include "families/tiles/tile_family.hpp"

TMAJIT_BEGIN

const Family& snapshot_family() {
  static const TileFamily family(
      snapshot_traits, "writes the raw shared-memory image of every box as bytes",
      "What the copy engine leaves in shared memory, swizzle and row pitch included, is "
      "written out as it is.",
      "snapshot_tiles");
  return family;
}

TMAJIT_END
