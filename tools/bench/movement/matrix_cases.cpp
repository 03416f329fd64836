#include "case_groups.hpp"

#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace movement {

using tmajit::ElementType;
using tmajit::Slice;

namespace {

Case& slice(CaseBuilder& list, const std::string& name, ElementType type,
            const std::array<Slice, 2>& slices) {
  Shape to;
  std::vector<Slice> scaled;
  for (const Slice& s : slices) {
    const std::uint64_t start = list.at(static_cast<std::uint64_t>(s.start.value_or(0)));
    const std::uint64_t stop = list.at(static_cast<std::uint64_t>(s.stop.value_or(16384)));
    const auto step = static_cast<std::uint64_t>(s.step);
    to.push_back((stop - start + step - 1) / step);
    scaled.push_back({static_cast<std::int64_t>(start), static_cast<std::int64_t>(stop), s.step});
  }
  Case& c = list.add({.group = "slice",
                      .name = name,
                      .operation = Operation::slice,
                      .sources = {{type, {list.at(16384), list.at(16384)}}},
                      .destinations = {{type, to}},
                      .axes = {},
                      .slices = std::move(scaled),
                      .expression = {}});
  c.least_ratio = 0.95;
  return c;
}

}  // namespace

void add_slices(CaseBuilder& list) {
  using enum ElementType;
  slice(list, "12000x12000 of 16384x16384", f32, {Slice{0, 12000}, Slice{0, 12000}}).quick = true;
  slice(list, "[100:12100,64:12064]", f32, {Slice{100, 12100}, Slice{64, 12064}});
  slice(list, "[101:12101,67:12067]", f32, {Slice{101, 12101}, Slice{67, 12067}}).quick = true;
  slice(list, "[101:12101,67:12067]", bf16, {Slice{101, 12101}, Slice{67, 12067}});
  slice(list, "[101:12101,67:12067]", u8, {Slice{101, 12101}, Slice{67, 12067}});
  slice(list, "[::2,64:12064]", f32, {Slice{0, 16384, 2}, Slice{64, 12064}});
  slice(list, "[100:12100,64:12064:2]", f32, {Slice{100, 12100}, Slice{64, 12064, 2}});
  slice(list, "[::3,1::3]", f32, {Slice{0, 16384, 3}, Slice{1, 16384, 3}});
}

void add_pads_and_flips(CaseBuilder& list) {
  using enum ElementType;
  struct Pad {
    ElementType type;
    std::uint64_t top, left;
  };
  // The tiny source needs room for its border.
  const std::uint64_t side = list.options().tiny ? list.at(12000) - 2 : 12000;
  for (const Pad& pad : {Pad{f32, 128, 64}, Pad{f32, 101, 67}, Pad{bf16, 128, 64}, Pad{u8, 101, 67}}) {
    list.add({.group = "pad",
              .name = fmt::format("12000x12000 at ({},{}) of 12288x12288", pad.top, pad.left),
              .operation = Operation::pad,
              .sources = {{pad.type, {side, side}}},
              .destinations = {{pad.type, {list.at(12288), list.at(12288)}}},
              .axes = {},
              .slices = {},
              .before = {static_cast<std::int64_t>(list.at(pad.top)),
                         static_cast<std::int64_t>(list.at(pad.left))},
              .value = 1,
              .expression = {},
              .quick = pad.type == bf16});
  }
  struct Flip {
    ElementType type;
    std::vector<std::uint32_t> axes;
  };
  for (const Flip& flip :
       {Flip{f32, {0}}, Flip{f32, {1}}, Flip{bf16, {1}}, Flip{u8, {1}}, Flip{f32, {0, 1}}}) {
    const Array array{flip.type, {list.at(16384), list.at(16384)}};
    list.add({.group = "flip",
              .name = fmt::format("16384x16384 along {}", fmt::join(flip.axes, ",")),
              .operation = Operation::flip,
              .sources = {array},
              .destinations = {array},
              .axes = flip.axes,
              .slices = {},
              .expression = {},
              .quick = flip.type == bf16});
  }
}

void add_concats_and_splits(CaseBuilder& list) {
  using enum ElementType;
  struct Parts {
    const char* name;
    std::uint32_t axis;
    std::array<std::uint64_t, 3> extents;
  };
  const std::array parts{Parts{"4096+4096+8192 rows", 0, {4096, 4096, 8192}},
                         Parts{"4096+4096+8192 columns", 1, {4096, 4096, 8192}},
                         Parts{"4099+4093+8191 columns", 1, {4099, 4093, 8191}}};
  for (const Operation operation : {Operation::concat, Operation::split}) {
    for (const Parts& part : parts) {
      std::vector<Array> pieces;
      std::uint64_t sum = 0;
      for (const std::uint64_t n : part.extents) {
        pieces.push_back({f32, {list.at(16384), list.at(16384)}});
        pieces.back().shape[part.axis] = list.at(n);
        sum += list.at(n);
      }
      Array whole{f32, {list.at(16384), list.at(16384)}};
      whole.shape[part.axis] = sum;
      const bool joins = operation == Operation::concat;
      list.add({.group = name(operation),
                .name = part.name,
                .operation = operation,
                .sources = joins ? pieces : std::vector{whole},
                .destinations = joins ? std::vector{whole} : pieces,
                .axes = {part.axis},
                .slices = {},
                .expression = {}});
    }
  }
}

void add_broadcasts(CaseBuilder& list) {
  using enum ElementType;
  const Shape whole{list.at(16384), list.at(16384)};
  const Shape row{1, list.at(16384)};
  const Shape column{list.at(16384), 1};
  for (const ElementType type : {f32, bf16}) {
    for (const auto& [name, from] : {std::pair{"a row", row}, std::pair{"a column", column}}) {
      list.add({.group = "broadcast",
                .name = fmt::format("{} to 16384x16384", name),
                .operation = Operation::broadcast,
                .sources = {{type, from}},
                .destinations = {{type, whole}},
                .axes = {},
                .slices = {},
                .expression = {}});
    }
    list.add({.group = "broadcast",
              .name = "row + column to 16384x16384",
              .operation = Operation::map,
              .sources = {{type, row}, {type, column}},
              .destinations = {{type, whole}},
              .axes = {},
              .slices = {},
              .expression = "a+b"});
  }
}

}  // namespace movement
