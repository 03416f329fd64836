/// Loads, stores and prefetches of tiles through tensor maps.
#include "conformance/groups.hpp"
#include "conformance/random_tile.hpp"

#include <utility>

namespace conformance {

using namespace tmajit;
using reference::Random;
using Way = TileCopy::Way;

namespace {

constexpr std::size_t trials_of_a_case = 24;

std::vector<Trial> random_trials(Random& random, Way way, const TileFeatures& features, std::size_t count) {
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < count; ++i)
    trials.push_back(trial_of(random_tile(random, way, features), random));
  return trials;
}

Case tiles(std::string name, Way way, std::string what, const TileFeatures& features) {
  std::vector<std::string> instructions{"cp.async.bulk.tensor"};
  if (features.hints) instructions.emplace_back("createpolicy");
  if (features.prefetch) {
    instructions.emplace_back("cp.async.bulk.prefetch.tensor");
    instructions.emplace_back("prefetch.tensormap");
  }
  if (way == Way::store) {
    instructions.emplace_back("cp.async.bulk.commit_group");
    instructions.emplace_back("cp.async.bulk.wait_group");
  }
  Case made{.name = std::move(name),
            .instructions = std::move(instructions),
            .what = std::move(what),
            .trials = [=](Random& random) { return random_trials(random, way, features, trials_of_a_case); }};
  if (features.shifted) made.reports = {"copy.swizzle-base"};
  return made;
}

TileFeatures everything() {
  return {.types = true,
          .swizzles = true,
          .strides = true,
          .nan = true,
          .outside = true,
          .larger = true,
          .chunks = true,
          .promotions = true,
          .padded = true,
          .permuted = true,
          .hints = true,
          .moved = true};
}

}  // namespace

void add_tile_copies(std::vector<Case>& cases) {
  const auto load = [&](std::string name, std::string what, const TileFeatures& features) {
    cases.push_back(tiles(std::move(name), Way::load, std::move(what), features));
  };
  const auto store = [&](std::string name, std::string what, const TileFeatures& features) {
    cases.push_back(tiles(std::move(name), Way::store, std::move(what), features));
  };
  load("tensor.load", "tiles of one to five dimensions, of every element type", {.types = true});
  load("tensor.load.swizzles", "rows as long as the swizzle's span, and shorter",
       {.types = true, .swizzles = true});
  load("tensor.load.swizzles-shifted", "swizzled tiles that begin off the swizzle's period",
       {.types = true, .swizzles = true, .shifted = true});
  load("tensor.load.interleave", "slices of 16 and of 32 bytes",
       {.types = true, .swizzles = true, .interleaved = true, .outside = true});
  load("tensor.load.element-strides", "element strides of 1 to 8, whether they divide the box or not",
       {.types = true, .swizzles = true, .strides = true, .outside = true});
  load("tensor.load.fill", "elements out of bounds read as zero or NaN",
       {.types = true, .swizzles = true, .nan = true, .outside = true, .chunks = true});
  load("tensor.load.l2-promotion", "none, 64B, 128B and 256B", {.types = true, .promotions = true});
  load("tensor.load.huge", "extents of up to 2^31, with strides of 0 bytes", {.outside = true, .huge = true});
  load("tensor.load.moved", "maps that cuTensorMapReplaceAddress has moved",
       {.types = true, .swizzles = true, .strides = true, .padded = true, .moved = true});
  load("tensor.load.hints", "cache policies of every priority, by fraction and by range",
       {.types = true, .hints = true});
  load("tensor.load.all", "all features at once", everything());
  load("tensor.prefetch", "loads after prefetches of the map and the tile",
       {.types = true, .swizzles = true, .outside = true, .hints = true, .prefetch = true});
  store("tensor.store", "tiles of one to five dimensions, of every element type", {.types = true});
  store("tensor.store.swizzles", "rows as long as the swizzle's span, and shorter",
        {.types = true, .swizzles = true});
  store("tensor.store.swizzles-shifted", "swizzled tiles that begin off the swizzle's period",
        {.types = true, .swizzles = true, .shifted = true});
  store("tensor.store.interleave", "slices of 16 and of 32 bytes",
        {.types = true, .swizzles = true, .interleaved = true, .outside = true});
  store("tensor.store.bounds",
        "elements out of bounds are not written, except in a chunk of 16 bytes that begins in bounds",
        {.types = true, .swizzles = true, .outside = true, .chunks = true, .padded = true});
  store("tensor.store.moved", "maps that cuTensorMapReplaceAddress has moved",
        {.types = true, .padded = true, .moved = true});
  store("tensor.store.hints", "cache policies of every priority, by fraction and by range",
        {.types = true, .hints = true});

  load("settle: boxes larger than the tensor", "elements beyond the tensor are filled",
       {.types = true, .swizzles = true, .nan = true, .larger = true});
  load("settle: negative coordinates", "elements before the tensor are filled",
       {.types = true, .nan = true, .outside = true});
  load("settle: loads of overlapping rows",
       "strides of 0, and strides less than the bytes of the inner dimensions",
       {.types = true, .outside = true, .overlapping = true});
  load("settle: strides in any order", "a tensor whose strides are not in descending order",
       {.types = true, .permuted = true});
  store("settle: stores in any order of strides", "a tensor whose strides are not in descending order",
        {.types = true, .outside = true, .permuted = true});
  store("settle: stores with element strides", "rows go to every n-th position of the tensor",
        {.types = true, .swizzles = true, .strides = true, .outside = true});
  auto interleaved = everything();
  interleaved.interleaved = true;
  load("settle: interleaved loads with all features",
       "element strides, moved maps, boxes larger than the tensor", interleaved);
}

}  // namespace conformance
