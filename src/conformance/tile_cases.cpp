/// Cases that load, store and prefetch random tiles through tensor maps. A case compares the device's results
/// with the CPU's. The features of a case, TileFeatures, say in which respects its tiles are random.
#include "conformance/groups.hpp"
#include "conformance/random_tile.hpp"

#include <utility>

namespace conformance {

using namespace tmajit;
using reference::Random;
using Kind = TileCopy::Kind;

namespace {

constexpr std::size_t trials_per_case = 24;

std::vector<Trial> random_trials(Random& random, Kind kind, const TileFeatures& features, std::size_t count) {
  std::vector<Trial> trials;
  for (std::size_t i = 0; i < count; ++i)
    trials.push_back(trial_of(random_tile(random, kind, features), random));
  return trials;
}

/// `description`: a sentence, the facts that the case checks.
Case tile_case(std::string name, Kind kind, std::string description, const TileFeatures& features) {
  std::vector<std::string> instructions{"cp.async.bulk.tensor"};
  if (features.hints) instructions.emplace_back("createpolicy");
  if (features.prefetch) {
    instructions.emplace_back("cp.async.bulk.prefetch.tensor");
    instructions.emplace_back("prefetch.tensormap");
  }
  if (kind == Kind::store) {
    instructions.emplace_back("cp.async.bulk.commit_group");
    instructions.emplace_back("cp.async.bulk.wait_group");
  }
  Case result{
      .name = std::move(name),
      .instructions = std::move(instructions),
      .what = std::move(description),
      .trials = [=](Random& random) { return random_trials(random, kind, features, trials_per_case); }};
  if (features.shifted) result.reports = {"copy.swizzle-base"};  // the simulator reports such tiles
  return result;
}

/// Features that tiles of one case combine. All other features have cases of their own.
TileFeatures combined_features() {
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
  const auto load = [&](std::string name, std::string description, const TileFeatures& features) {
    cases.push_back(tile_case(std::move(name), Kind::load, std::move(description), features));
  };
  const auto store = [&](std::string name, std::string description, const TileFeatures& features) {
    cases.push_back(tile_case(std::move(name), Kind::store, std::move(description), features));
  };
  load("tensor.load", "tiles of one to five dimensions, of every element type", {.types = true});
  load("tensor.load.swizzles", "swizzled tiles, with rows as long as the swizzle's span, and shorter",
       {.types = true, .swizzles = true});
  load("tensor.load.swizzles-shifted",
       "swizzled tiles aligned to 128 bytes, but not always to the swizzle's period",
       {.types = true, .swizzles = true, .shifted = true});
  load("tensor.load.interleave", "interleaved layouts, with slices of 16 and of 32 bytes",
       {.types = true, .swizzles = true, .interleaved = true, .outside = true});
  load("tensor.load.element-strides", "element strides of 1 to 8, some of which do not divide the box",
       {.types = true, .swizzles = true, .strides = true, .outside = true});
  load("tensor.load.fill", "elements out of bounds read as zero or NaN",
       {.types = true, .swizzles = true, .nan = true, .outside = true, .chunks = true});
  load("tensor.load.l2-promotion", "L2 promotion none, 64B, 128B and 256B",
       {.types = true, .promotions = true});
  load("tensor.load.huge", "extents of up to 2^31, with strides of 0 bytes", {.outside = true, .huge = true});
  load("tensor.load.moved", "maps whose address cuTensorMapReplaceAddress has replaced",
       {.types = true, .swizzles = true, .strides = true, .padded = true, .moved = true});
  load("tensor.load.hints", "cache policies of every priority, by fraction and by range",
       {.types = true, .hints = true});
  load("tensor.load.all", "most features at once", combined_features());
  load("tensor.prefetch", "loads after prefetches of the map and the tile",
       {.types = true, .swizzles = true, .outside = true, .hints = true, .prefetch = true});
  store("tensor.store", "tiles of one to five dimensions, of every element type", {.types = true});
  store("tensor.store.swizzles", "swizzled tiles, with rows as long as the swizzle's span, and shorter",
        {.types = true, .swizzles = true});
  store("tensor.store.swizzles-shifted",
        "swizzled tiles aligned to 128 bytes, but not always to the swizzle's period",
        {.types = true, .swizzles = true, .shifted = true});
  store("tensor.store.interleave", "interleaved layouts, with slices of 16 and of 32 bytes",
        {.types = true, .swizzles = true, .interleaved = true, .outside = true});
  store("tensor.store.bounds",
        "elements out of bounds are not written, except in a chunk of 16 bytes that begins in bounds",
        {.types = true, .swizzles = true, .outside = true, .chunks = true, .padded = true});
  store("tensor.store.moved", "maps whose address cuTensorMapReplaceAddress has replaced",
        {.types = true, .padded = true, .moved = true});
  store("tensor.store.hints", "cache policies of every priority, by fraction and by range",
        {.types = true, .hints = true});

  // Cases "settle: …" show the behaviour of devices where the PTX ISA leaves it open.
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
  store("settle: stores with element strides", "the tile's rows go to every n-th row of the tensor",
        {.types = true, .swizzles = true, .strides = true, .outside = true});
  auto interleaved = combined_features();
  interleaved.interleaved = true;
  load("settle: interleaved loads with all features", "interleaved layouts, with most features at once",
       interleaved);
}

}  // namespace conformance
