// validate() and the driver must agree on which random tensor maps are legal. Many of the maps are nearly
// legal. Disagreements are counted and shown in groups, so that one run on a GPU shows all kinds of them.
#include "gpu/support.hpp"
#include "reference/random_maps.hpp"
#include "spec/rules.hpp"

#include <tmajit/device.hpp>
#include <tmajit/validate.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <spdlog/fmt/fmt.h>

using namespace tmajit;
using namespace reference;

namespace {

bool accepts(Device& device, const TensorMapSpec& map, DevicePtr address) {
  try {
    (void)device.maps().encode(map, address);
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::illegal_spec) throw;
    return false;
  }
}

/// "box.range + rank.range".
std::string joined(const std::set<std::string>& names) {
  return names.empty() ? "nothing special" : fmt::format("{}", fmt::join(names, " + "));
}

/// Features of a legal map that the driver might refuse.
std::set<std::string> features_of(const TensorMapSpec& map) {
  std::set<std::string> found;
  const std::uint32_t rank = map.rank;
  for (std::uint32_t d = 0; d < rank; ++d) {
    if (map.mode == MapMode::tiled && map.box[d] > map.shape[d]) found.insert("box beyond the dimension");
    if (map.shape[d] >= (1ULL << 31)) found.insert("dimension of 2^31");
    if (map.mode == MapMode::tiled && map.box[d] % std::max(map.element_strides[d], 1U) != 0)
      found.insert("box not a multiple of the element stride");
    if (map.element_strides[d] > 1) found.insert("element stride");
    const auto first = first_image_dimension(map.interleave);
    if (map.mode == MapMode::im2col && d >= first && d - first + 2 < rank) {
      const std::int64_t lower = map.pixel_box.lower.at(d - first);
      const auto positions =
          static_cast<std::int64_t>(map.shape[d]) + map.pixel_box.upper.at(d - first) - lower;
      if (positions == 1) found.insert("one position in a dimension");
      if (positions > static_cast<std::int64_t>(map.shape[d])) found.insert("more positions than pixels");
      if (lower > 0) found.insert("a lower corner inside the image");
    }
    if (d + 1 == rank) continue;
    const auto inside = d + 2 == rank ? size_of(map.type) : map.strides[d + 1];
    if (map.strides[d] == 0) {
      found.insert("stride 0");
    } else if (map.strides[d] < inside) {
      found.insert("descending strides");
    } else if (map.strides[d] / std::max<std::uint64_t>(inside, 1) < map.shape[d + 1]) {
      found.insert("overlapping strides");
    }
  }
  if (map.interleave != Interleave::none) found.insert("interleave");
  return found;
}

/// Numbers on which the legality of an im2col map may depend: a tile's bytes, counted in several ways, and
/// the number of positions between the corners, for each image dimension and for the next inner dimension.
std::string facts_of(const TensorMapSpec& map) {
  if (map.mode != MapMode::im2col || !is_known(map.type) || map.rank < 3 || map.rank > max_map_rank)
    return {};
  const auto& box = map.pixel_box;
  const std::uint64_t row = std::uint64_t{box.channels} * size_of(map.type);
  const std::uint64_t slice = map.interleave == Interleave::b32 ? 32 : 16;
  std::vector<std::int64_t> plain;
  std::vector<std::int64_t> inside;
  for (std::uint32_t d = 0; d + 2U < map.rank; ++d) {
    const std::int64_t corners = std::int64_t{box.upper.at(d)} - box.lower.at(d);
    plain.push_back(static_cast<std::int64_t>(map.shape.at(d + 1)) + corners);
    inside.push_back(static_cast<std::int64_t>(map.shape.at(d + 2)) + corners);
  }
  return fmt::format(" row={} tile={} padded={} a-slice-a-channel={} positions={} inside={}", row,
                     row * box.pixels, std::max<std::uint64_t>(row, span_bytes(map.swizzle)) * box.pixels,
                     slice * box.channels * box.pixels, fmt::join(plain, "x"), fmt::join(inside, "x"));
}

/// A group of outcomes: how often it occurred, and its first three maps.
struct Group {
  std::size_t count = 0;
  std::vector<std::string> examples;

  void add(const std::string& example) {
    ++count;
    if (examples.size() < 3) examples.push_back(example);
  }
};
using Groups = std::map<std::string, Group>;

/// Prints the groups, those with the shortest names (the fewest causes) first. Each group is followed by
/// examples of the group of the same name in `others`, which had the opposite outcome. Returns the total.
std::size_t show(const char* title, const Groups& groups, const Groups& others = {}) {
  constexpr std::size_t shown = 15;
  std::size_t total = 0;
  std::vector<const Groups::value_type*> sorted;
  for (const auto& entry : groups) {
    total += entry.second.count;
    sorted.push_back(&entry);
  }
  std::ranges::sort(sorted, {},
                    [](const auto* entry) { return std::pair(entry->first.size(), entry->first); });
  std::cout << fmt::format("{}: {} in {} groups\n", title, total, groups.size());
  sorted.resize(std::min(sorted.size(), shown));
  for (const auto* entry : sorted) {
    const auto& [name, group] = *entry;
    std::cout << fmt::format("  {:6} × {}\n", group.count, name);
    for (const auto& example : group.examples) std::cout << "           " << example << '\n';
    const auto other = others.find(name);
    if (other == others.end()) continue;
    for (const auto& example : other->second.examples) std::cout << "     else: " << example << '\n';
  }
  return total;
}

struct Outcomes {
  std::map<std::string, std::array<std::size_t, 2>>
      alone;  ///< maps that break only one rule: refused, accepted
  std::map<std::string, std::array<std::size_t, 2>> features;  ///< features of legal maps: refused, accepted
  Groups refused_legal;          ///< validate() finds nothing, the driver refuses: by feature
  Groups accepted_legal;         ///< validate() finds nothing, the driver accepts: by feature
  Groups accepted_illegal;       ///< validate() finds a broken rule of the driver, which accepts: by rules
  Groups refused_hardware_only;  ///< only rules of the hardware are broken, but the driver refuses: by rules
  std::size_t legal = 0;
  std::size_t illegal = 0;

  void add(const TensorMapSpec& map, std::uint64_t offset, const std::vector<Violation>& violations,
           bool accepted, std::size_t number) {
    std::set<std::string> rules;
    std::set<std::string> visible;
    for (const auto& violation : violations) {
      rules.insert(violation.rule);
      if (!is_hardware_only(violation.rule)) visible.insert(violation.rule);
    }
    ++(rules.empty() ? legal : illegal);
    if (rules.size() == 1) ++alone[*rules.begin()][accepted ? 1 : 0];

    if (rules.empty()) {
      for (const auto& feature : features_of(map)) ++features[feature][accepted ? 1 : 0];
    }

    const auto example = [&] {
      return fmt::format("#{} address+{} {}{}", number, offset, describe(map), facts_of(map));
    };
    if (rules.empty() && accepted) accepted_legal[joined(features_of(map))].add(example());
    if (visible.empty() && !accepted) {
      if (rules.empty()) refused_legal[joined(features_of(map))].add(example());
      if (!rules.empty()) refused_hardware_only[joined(rules)].add(example());
    } else if (!visible.empty() && accepted) {
      accepted_illegal[joined(visible)].add(example());
    }
  }
};

/// Compares validate() with the driver for random maps of `make`. Each of `rules` must have been the only
/// broken rule of at least 20 maps.
void compare_with_driver(const std::shared_ptr<Device>& device, TensorMapSpec (*make)(Random&),
                         std::initializer_list<const char*> rules) {
  const Buffer buffer(device, 4096);
  const auto used_seed = seed(20260731);
  Random random(used_seed);
  Outcomes outcomes;
  const auto count = std::max<std::size_t>(gpu::from_environment("TMAJIT_MAPS", 60000), 20000);
  for (std::size_t i = 0; i < count; ++i) {
    auto map = make(random);
    if (i % 3 != 0) mutate(random, map);
    const auto offset =
        one_in(random, 8) ? one_of(random, std::array<std::uint64_t, 6>{1, 4, 8, 16, 24, 32}) : 0;
    const auto address = buffer.address() + offset;
    outcomes.add(map, offset, validate(map, address), accepts(*device, map, address), i);
  }

  std::cout << fmt::format("\n{} tensor maps, TMAJIT_SEED={}: {} legal, {} illegal\n", count, used_seed,
                           outcomes.legal, outcomes.illegal);
  std::cout << "a rule broken alone: refused / accepted by the driver\n";
  for (const auto& [rule, times] : outcomes.alone) {
    std::cout << fmt::format("  {:28} {:6} / {:<6}{}\n", rule, times[0], times[1],
                             is_hardware_only(rule) ? " (hardware only)" : "");
  }
  std::cout << "legal maps with a feature that the driver might refuse: refused / accepted by the driver\n";
  for (const auto& [feature, times] : outcomes.features) {
    std::cout << fmt::format("  {:28} {:6} / {}\n", feature, times[0], times[1]);
  }
  const auto refused =
      show("legal for validate(), refused by the driver", outcomes.refused_legal, outcomes.accepted_legal);
  const auto accepted = show("illegal for validate(), accepted by the driver", outcomes.accepted_illegal);
  show("hardware-only rules that the driver checks after all", outcomes.refused_hardware_only);
  std::cout << std::flush;

  CHECK(refused == 0);
  CHECK(accepted == 0);
  // The run must have covered each rule.
  for (const char* rule : rules) {
    CAPTURE(rule);
    CHECK(outcomes.alone[rule][0] + outcomes.alone[rule][1] >= 20);
  }
  CHECK(outcomes.legal >= count / 3);
  CHECK(outcomes.illegal >= count / 3);
}

}  // namespace

TEST_CASE("the driver accepts a tensor map if and only if validate() finds nothing", "[gpu]") {
  REQUIRE_HOPPER(device)
  compare_with_driver(device, legal_map,
                      {"address.alignment", "box.bytes", "box.inner-bytes", "box.range", "box.swizzle",
                       "element-strides.range", "interleave.known", "l2-promotion.known", "oob-fill.known",
                       "oob-fill.type", "rank.interleave", "rank.range", "shape.range", "strides.multiple",
                       "strides.range", "swizzle.known", "type.known"});
}

TEST_CASE("the driver accepts an im2col map if and only if validate() finds nothing", "[gpu]") {
  REQUIRE_HOPPER(device)
  compare_with_driver(
      device, legal_im2col_map,
      {"address.alignment", "box.inner-bytes", "box.swizzle", "element-strides.range", "interleave.known",
       "l2-promotion.known", "oob-fill.known", "oob-fill.type", "box.bytes", "pixel-box.area",
       "pixel-box.end", "pixel-box.channels", "pixel-box.corner", "pixel-box.pixels", "shape.range",
       "strides.multiple", "strides.range", "swizzle.known", "type.known"});
}

namespace {

TensorMapSpec plain() {
  return TensorMapSpec::of(TensorView::contiguous(ElementType::f32, {8, 64, 64}), {1, 8, 32});
}

TensorMapSpec interleaved(Interleave interleave) {
  auto map = plain();
  map.interleave = interleave;
  if (interleave == Interleave::b32) map.swizzle = Swizzle::b32;
  map.strides[2] = interleave == Interleave::b32 ? 32 : 16;  // slices
  map.shape[2] = 8;
  map.box[2] = 8;
  return map;
}

/// 8 images of 20 × 30 pixels of 32 f32.
TensorMapSpec images() {
  return TensorMapSpec::im2col(TensorView::contiguous(ElementType::f32, {8, 20, 30, 32}),
                               {.lower = {-1, -1}, .upper = {-1, -1}, .channels = 32, .pixels = 64});
}

/// 8 images of 20 slices of 30 × 32 pixels.
TensorMapSpec interleaved_images(Interleave interleave) {
  auto map = images();
  map.interleave = interleave;
  map.strides[3] = interleave == Interleave::b16 ? 16 : 32;
  for (const std::uint32_t d : {2U, 1U, 0U}) map.strides[d] = map.strides[d + 1] * map.shape[d + 1];
  return map;
}

struct Question {
  std::string text;
  bool expected;  ///< whether validate() was written to accept it
  TensorMapSpec map;
};

TensorMapSpec with(TensorMapSpec map, void (*change)(TensorMapSpec&)) {
  change(map);
  return map;
}

std::vector<Question> questions() {
  // Rows are 32 f32, so that 4 KiB are 32 rows.
  const auto tile = [](std::uint32_t outer, std::uint32_t rows) {
    auto map = plain();
    map.box = {outer, rows, 32};
    return map;
  };
  return {
      {"a box larger than the dimension", true, with(plain(), [](auto& m) { m.shape[1] = 3; })},
      {"a box larger than the innermost dimension", true, with(plain(), [](auto& m) { m.shape[2] = 5; })},
      {"stride 0 outermost", true, with(plain(), [](auto& m) { m.strides[0] = 0; })},
      {"stride 0 in the middle", true, with(plain(), [](auto& m) { m.strides[1] = 0; })},
      {"every stride 0", true, with(plain(), [](auto& m) { m.strides[0] = m.strides[1] = 0; })},
      {"rows that overlap", true, with(plain(), [](auto& m) { m.strides[1] = 16; })},
      {"a stride smaller than the extent below it", true, with(plain(), [](auto& m) { m.strides[0] = 48; })},
      {"descending strides (a transposed view)", true,
       with(plain(), [](auto& m) { m.strides[0] = 256, m.strides[1] = 16384; })},
      {"a dimension of 2^31", true, with(plain(), [](auto& m) { m.shape[2] = 1ULL << 31; })},
      {"a dimension of 2^32 - 1", true, with(plain(), [](auto& m) { m.shape[2] = (1ULL << 32) - 1; })},
      {"a dimension of 2^32", true, with(plain(), [](auto& m) { m.shape[2] = 1ULL << 32; })},
      {"an outer dimension of 2^32", true, with(plain(), [](auto& m) { m.shape[0] = 1ULL << 32; })},
      {"a dimension of 2^32 + 1", false, with(plain(), [](auto& m) { m.shape[2] = (1ULL << 32) + 1; })},
      {"a dimension of 0", false, with(plain(), [](auto& m) { m.shape[0] = 0; })},
      {"a stride of 2^40 - 16", true, with(plain(), [](auto& m) { m.strides[0] = (1ULL << 40) - 16; })},
      {"a stride of 2^40", false, with(plain(), [](auto& m) { m.strides[0] = 1ULL << 40; })},
      {"element stride 0 in the ignored innermost dimension", false,
       with(plain(), [](auto& m) { m.element_strides[2] = 0; })},
      {"element stride 9 in the ignored innermost dimension", false,
       with(plain(), [](auto& m) { m.element_strides[2] = 9; })},
      {"element stride 2 in the ignored innermost dimension", true,
       with(plain(), [](auto& m) { m.element_strides[2] = 2; })},
      {"an element stride that does not divide the box", true,
       with(plain(), [](auto& m) { m.element_strides[1] = 3; })},
      {"an element stride larger than the box", true,
       with(plain(), [](auto& m) { m.element_strides[0] = 8; })},
      {"a tile of 224 KiB", true, tile(28, 64)},
      {"a tile of 228 KiB", true, tile(57, 32)},
      {"a tile of 228 KiB and 4 KiB more", false, tile(58, 32)},
      {"a tile of 456 KiB under a swizzle, half of it padding", true,
       with(tile(57, 64), [](auto& m) { m.swizzle = Swizzle::b128, m.box[2] = 16; })},
      {"a tile of 456 KiB, innermost element stride 2", true,
       with(tile(57, 64), [](auto& m) { m.element_strides[2] = 2; })},
      {"a tile of 8 MiB", false, tile(256, 256)},
      {"interleave 16B, four slices, 16 bytes of elements", true,
       with(interleaved(Interleave::b16), [](auto& m) { m.box[2] = 4; })},
      {"interleave 16B, one slice", false, with(interleaved(Interleave::b16), [](auto& m) { m.box[2] = 1; })},
      {"interleave 16B, 256 slices under swizzle 128B", true,
       with(interleaved(Interleave::b16), [](auto& m) { m.swizzle = Swizzle::b128, m.box[2] = 256; })},
      {"interleave 16B, 256 slices by 57 rows: 228 KiB", true,
       with(interleaved(Interleave::b16),
            [](auto& m) {
              m.box = {1, 57, 256};
            })},
      {"interleave 16B, 256 slices by 58 rows: 232 KiB, 58 KiB of elements", true,
       with(interleaved(Interleave::b16),
            [](auto& m) {
              m.box = {1, 58, 256};
            })},
      {"interleave 16B with element stride 2 innermost", true,
       with(interleaved(Interleave::b16), [](auto& m) { m.element_strides[2] = 2; })},
      {"interleave 32B, one slice", false, with(interleaved(Interleave::b32), [](auto& m) { m.box[2] = 1; })},
      {"interleave 32B with swizzle none", true,
       with(interleaved(Interleave::b32), [](auto& m) { m.swizzle = Swizzle::none; })},
      {"interleave 32B with swizzle 128B", true,
       with(interleaved(Interleave::b32), [](auto& m) { m.swizzle = Swizzle::b128; })},
      {"interleave 32B, stride a multiple of 16 only", false,
       with(interleaved(Interleave::b32), [](auto& m) { m.strides[1] = 48; })},
      {"a swizzle wider than the row", true,
       with(plain(), [](auto& m) { m.swizzle = Swizzle::b128, m.box[2] = 4; })},
      {"NaN fill for tf32", true,
       with(plain(), [](auto& m) { m.type = ElementType::tf32, m.oob_fill = OobFill::nan; })},
      {"NaN fill for f64", true,
       with(plain(),
            [](auto& m) {
              m.type = ElementType::f64, m.strides[2] = 8, m.strides[1] = 512, m.oob_fill = OobFill::nan;
            })},
      {"im2col: more channels than the tensor has", true,
       with(images(), [](auto& m) { m.pixel_box.channels = 64; })},
      {"im2col: traversal stride 2 of images", true,
       with(images(), [](auto& m) { m.element_strides[0] = 2; })},
      {"im2col: traversal stride 2 of channels", true,
       with(images(), [](auto& m) { m.element_strides[3] = 2; })},
      {"im2col: a bounding box of one place", true,
       with(images(),
            [](auto& m) {
              m.pixel_box.upper = {-20, -30};
            })},
      {"im2col: a bounding box without a place in the first dimension", false,
       with(images(),
            [](auto& m) {
              m.pixel_box.upper = {-21, -1};
            })},
      {"im2col: a bounding box without a place in the second dimension", false,
       with(images(),
            [](auto& m) {
              m.pixel_box.upper = {-1, -31};
            })},
      {"im2col: a stride of images of 0", true, with(images(), [](auto& m) { m.strides[0] = 0; })},
      {"im2col: rows of pixels that overlap", true, with(images(), [](auto& m) { m.strides[2] = 16; })},
      {"NaN fill for i32", false,
       with(plain(), [](auto& m) { m.type = ElementType::i32, m.oob_fill = OobFill::nan; })},
  };
}

}  // namespace

namespace {

/// Maps by which the driver shows how it counts the bytes of an im2col map, and which dimensions it regards
/// as the image's.
std::vector<Question> im2col_questions() {
  std::vector<Question> questions;
  const auto ask = [&](std::string text, bool expected, TensorMapSpec map, const auto& change) {
    change(map);
    questions.push_back({"im2col" + std::move(text), expected, map});
  };
  constexpr std::array layouts{std::pair("", Interleave::none),
                               std::pair(", interleave 16B", Interleave::b16),
                               std::pair(", interleave 32B", Interleave::b32)};
  for (const auto& [name, interleave] : layouts) {
    const bool plain = interleave == Interleave::none;
    const auto map = plain ? images() : interleaved_images(interleave);
    const auto text = [name = name](std::string_view what) { return fmt::format("{}: {}", name, what); };
    for (const std::uint32_t pixels : {227U, 228U, 229U, 1024U}) {
      ask(text(fmt::format("256 channels of {0} pixels, {0} KiB", pixels)), pixels <= 228, map,
          [&](auto& m) { m.pixel_box.channels = 256, m.pixel_box.pixels = pixels; });
    }
    for (const std::uint32_t channels : {4U, 8U, 12U, 64U, 256U}) {
      ask(text(fmt::format("{} channels of 64 pixels", channels)), true, map,
          [&](auto& m) { m.pixel_box.channels = channels; });
    }
    // Images are 20 × 30, or 30 × 32; lower corners are -1.
    ask(text("upper corners -1, -31"), !plain, map, [](auto& m) { m.pixel_box.upper = {-1, -31}; });
    ask(text("upper corners -20, -1"), true, map, [](auto& m) { m.pixel_box.upper = {-20, -1}; });
    ask(text("upper corners -21, -1"), !plain, map, [](auto& m) { m.pixel_box.upper = {-21, -1}; });
    ask(text("upper corners -31, -1"), false, map, [](auto& m) { m.pixel_box.upper = {-31, -1}; });
    for (const std::uint32_t d : {1U, 2U, 3U}) {
      const bool image = plain ? d < 3 : d > 1;
      for (const std::int64_t end : {(1LL << 31) - 1, 1LL << 31}) {
        ask(text(fmt::format("dimension {} of 2^31 - 1, upper corners {}", d, end - (1LL << 31) + 1)),
            !image || end < (1LL << 31), map, [&](auto& m) {
              m.shape[d] = (1ULL << 31) - 1;
              const auto upper = static_cast<std::int32_t>(end - (1LL << 31) + 1);
              m.pixel_box.upper = {upper, upper};
            });
      }
    }
  }
  ask(": 4 channels of 1024 pixels under swizzle 128B, mostly padding", true, images(),
      [](auto& m) { m.pixel_box.channels = 4, m.pixel_box.pixels = 1024, m.swizzle = Swizzle::b128; });
  return questions;
}

}  // namespace

TEST_CASE("the driver decides tensor maps that its documentation leaves open as validate() does", "[gpu]") {
  REQUIRE_HOPPER(device)
  const Buffer buffer(device, 4096);
  std::cout << '\n';
  auto asked = questions();
  std::ranges::move(im2col_questions(), std::back_inserter(asked));
  for (const auto& question : asked) {
    const bool accepted = accepts(*device, question.map, buffer.address());
    std::cout << fmt::format("settle: {:56} {}{}\n", question.text, accepted ? "accepted" : "refused",
                             accepted == question.expected ? "" : "   <-- not as expected");
    CHECK(accepted == question.expected);
  }
  std::cout << "settle: address aligned to 16 bytes under swizzle 128B           ";
  auto map = plain();
  map.swizzle = Swizzle::b128;
  const bool accepted = accepts(*device, map, buffer.address() + 16);
  std::cout << (accepted ? "accepted" : "refused") << '\n' << std::flush;
  CHECK(accepted);
}
