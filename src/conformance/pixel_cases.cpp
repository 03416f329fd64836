/// Copies of pixels through im2col maps.
#include "conformance/groups.hpp"
#include "conformance/random_pixels.hpp"

#include <array>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace conformance {

using namespace tmajit;
using reference::Random;
using Kind = TileCopy::Kind;

namespace {

Case pixels(std::string name, Kind kind, std::string what, const PixelFeatures& features) {
  constexpr std::size_t trials_per_case = 20;
  std::vector<std::string> instructions{kind == Kind::reduce ? "cp.reduce.async.bulk.tensor"
                                                             : "cp.async.bulk.tensor"};
  if (features.prefetch) instructions.emplace_back("cp.async.bulk.prefetch.tensor");
  if (features.hints) instructions.emplace_back("createpolicy");
  return {.name = std::move(name),
          .instructions = std::move(instructions),
          .what = std::move(what),
          .trials = [=](Random& random) {
            std::vector<Trial> trials;
            while (trials.size() < trials_per_case)
              trials.push_back(trial_of(random_pixels(random, kind, features), random));
            return trials;
          }};
}

PixelFeatures all_features(bool interleaved) {
  return {.channels = true,
          .images = true,
          .padding = true,
          .prefetch = true,
          .moved = true,
          .strides = true,
          .between = true,
          .corners = true,
          .offsets = true,
          .types = true,
          .swizzles = true,
          .interleaved = interleaved};
}

/// Loads of 8 pixels from index (0, 1, 2, 3) of an interleaved image of [2, 4, 5, 6] slices. The slices have
/// 16 or 32 bytes. The maps differ in the element type and the number of channels.
std::vector<Trial> slices(Random& random) {
  std::vector<Trial> trials;
  for (const Interleave interleave : {Interleave::b16, Interleave::b32}) {
    const std::uint64_t slice = interleave == Interleave::b16 ? 16 : 32;
    for (const ElementType type : {ElementType::u8, ElementType::u16, ElementType::u32, ElementType::u64}) {
      for (const std::uint32_t bytes : {16U, 32U, 48U, 128U}) {
        trials.push_back(trial_of({.map = {.type = type,
                                           .rank = 4,
                                           .interleave = interleave,
                                           .mode = MapMode::im2col,
                                           .shape = {2, 4, 5, 6},
                                           .strides = {120 * slice, 30 * slice, 6 * slice, slice},
                                           .element_strides = {1, 1, 1, 1},
                                           .pixel_box = {.channels = bytes / size_of(type), .pixels = 8}},
                                   .at = {0, 1, 2, 3}},
                                  random));
      }
    }
  }
  return trials;
}

}  // namespace

void add_im2col_copies(std::vector<Case>& cases) {
  const auto load = [&](const char* name, const char* what, const PixelFeatures& features) {
    cases.push_back(pixels(fmt::format("pixels.load{}", name), Kind::load, what, features));
  };
  const auto store = [&](const char* name, const char* what, const PixelFeatures& features) {
    cases.push_back(pixels(fmt::format("pixels.store{}", name), Kind::store, what, features));
  };
  load("", "pixels of images of one to three dimensions", {});
  load(".offsets", "the offsets of dilated filters", {.offsets = true});
  load(".strides", "element strides of 1 to 4 pixels", {.strides = true});
  load(".between", "coordinates between the positions of the traversal", {.strides = true, .between = true});
  load(".corners", "bounding boxes that begin and end inside or outside of the image", {.corners = true});
  load(".corners-offsets", "bounding boxes and offsets together", {.corners = true, .offsets = true});
  load(".padding", "gaps between rows and images", {.padding = true});
  load(".channels", "channels that begin and end outside of the tensor's", {.channels = true});
  load(".images", "coordinates after the last image", {.images = true});
  load(".types", "every element type, filled with zeros or NaN", {.types = true});
  load(".moved", "maps that cuTensorMapReplaceAddress has moved", {.moved = true});
  load(".prefetch", "after prefetches of the same pixels", {.prefetch = true});
  load(".hints", "cache policies of every priority", {.hints = true});
  load(".swizzles", "pixels as long as the swizzle's span, and shorter", {.swizzles = true});
  load(".all", "all features at once", all_features(false));
  load(".interleave", "slices of 16 and of 32 bytes", {.interleaved = true});
  load(".interleave-all", "slices, with all features", all_features(true));
  cases.push_back({.name = "pixels.load.slices",
                   .instructions = {"cp.async.bulk.tensor"},
                   .what = "one slice of each pixel, however many channels the map has",
                   .trials = slices});
  store("", "pixels of images of one to three dimensions", {});
  store(".strides", "element strides of 1 to 4 pixels", {.strides = true});
  store(".corners", "bounding boxes that begin and end inside of the image", {.corners = true});
  store(".channels", "channels that begin and end outside of the tensor's", {.channels = true});
  store(".images", "coordinates after the last image", {.images = true});
  store(".swizzles", "pixels as long as the swizzle's span, and shorter", {.swizzles = true});
  store(".hints", "cache policies of every priority", {.hints = true});
  store(".all", "all features at once", all_features(false));
  store(".interleave", "slices of 16 and of 32 bytes", {.interleaved = true});
  store(".interleave-all", "slices, with all features", all_features(true));
  cases.push_back(pixels("pixels.reduce", Kind::reduce, "sums of u32", {.hints = true}));
  cases.push_back(pixels("pixels.reduce.operations", Kind::reduce, "every operation, with each of its types",
                         {.types = true, .operations = true}));
  cases.push_back(pixels("pixels.reduce.all", Kind::reduce, "sums, with all features", all_features(false)));
  cases.push_back(pixels("pixels.reduce.interleave", Kind::reduce, "slices of 16 and of 32 bytes",
                         {.types = true, .operations = true, .interleaved = true}));
}

}  // namespace conformance
