#include "families/list.hpp"
#include "families/tiles/tile_family.hpp"

TMAJIT_BEGIN

const Family& map_family() {
  static const TileFamily family(
      map_traits, "computes an expression of up to eight tensors, box by box through shared memory",
      "One warp issues the copy engine's loads, the others compute, and results are stored by "
      "the copy engine.",
      "map_tiles");
  return family;
}

TMAJIT_END
