// The groups of the list; docs/movement.md says what each is for.
#include "case_list.hpp"

#include "expressions.hpp"
#include "planning.hpp"
#include "ragged_cases.hpp"
#include "random_cases.hpp"
#include "scan_cases.hpp"
#include "stencil_cases.hpp"
#include "window_cases.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <random>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace bench {

using tmajit::ElementType;
using tmajit::Slice;

namespace {

/// Types of the table of permutations; those that other libraries were measured with.
constexpr std::array table_types{ElementType::f32, ElementType::bf16, ElementType::u8, ElementType::f64};
constexpr std::array common_types{ElementType::f32, ElementType::bf16, ElementType::u8};

struct Permutation {
  Shape shape;
  std::vector<std::uint32_t> axes;
};

/// "(64,128)->(1,0)"
std::string title(const Permutation& p) {
  return fmt::format("({})->({})", fmt::join(p.shape, ","), fmt::join(p.axes, ","));
}

/// The list as it grows. A case that it added can be changed until the next is added.
class CaseBuilder {
 public:
  explicit CaseBuilder(const ListOptions& options) : options_(options) {}

  [[nodiscard]] const ListOptions& options() const { return options_; }
  [[nodiscard]] std::vector<Case> take() { return std::move(cases_); }

  /// An extent of a permutation.
  [[nodiscard]] std::uint64_t extent(std::uint64_t n) const { return options_.tiny && n > 4 ? 2 + n % 7 : n; }
  /// An extent of, or a position in, a matrix of about 16384 rows or columns.
  [[nodiscard]] std::uint64_t at(std::uint64_t n) const { return options_.tiny ? n * 40 / 16384 : n; }
  /// Elements of a tensor of one dimension.
  [[nodiscard]] std::uint64_t count(std::uint64_t n) const { return options_.tiny ? 1000 + n % 97 : n; }

  Case& add(Case c) { return cases_.emplace_back(std::move(c)); }
  Case& add(const char* group, std::string name, std::string operation, std::vector<Array> sources,
            tmajit::Arguments arguments = {}) {
    return add(
        make_case(group, std::move(name), std::move(operation), std::move(sources), std::move(arguments)));
  }

  /// Named by its shape and axes unless it has a name.
  Case& permute(const char* group, const Permutation& permutation, ElementType type,
                const std::string& name = {}) {
    Shape from;
    for (const std::uint64_t n : permutation.shape) from.push_back(extent(n));
    return add(group, name.empty() ? title(permutation) : name, "permute", {{type, from}},
               {{"axes", tmajit::Dims(permutation.axes)}});
  }

  Case& copy(const char* group, std::uint64_t bytes, ElementType type, const std::string& name) {
    return add(group, name, "copy", {{type, {count(bytes / tmajit::size_of(type))}}});
  }

  /// An expression over arrays of one dimension, named by the expression.
  Case& map(const char* group, const std::string& expression, std::size_t inputs, ElementType from,
            ElementType to, std::uint64_t elements) {
    const Shape shape{count(elements)};
    return add(
        computation(group, expression, expression, std::vector<Array>(inputs, {from, shape}), {to, shape}));
  }

  /// A copy, a transpose and an exchange of the middle dimensions, of `bytes` each and named with that size.
  void series(const char* group, std::uint64_t bytes, ElementType type,
              const std::function<void(Case&)>& finish) {
    const std::string size = human_bytes(bytes);
    const std::uint64_t elements = bytes / tmajit::size_of(type);
    const auto bits = static_cast<std::uint32_t>(std::countr_zero(elements));
    finish(copy(group, bytes, type, size + " copy"));
    finish(
        permute(group, {{1ULL << (bits / 2), 1ULL << (bits - bits / 2)}, {1, 0}}, type, size + " transpose"));
    finish(permute(group, {{2, elements >> 10, 8, 64}, {0, 2, 1, 3}}, type, size + " heads"));
  }

 private:
  ListOptions options_;
  std::vector<Case> cases_;
};

/// The table of permutations that other libraries were measured with.
const std::vector<Permutation>& table() {
  static const std::vector<Permutation> rows{
      {{16384, 16384}, {1, 0}},
      {{32768, 32768}, {1, 0}},
      {{8191, 8209}, {1, 0}},
      {{64, 128, 256, 512}, {0, 2, 1, 3}},
      {{64, 128, 256, 512}, {3, 2, 1, 0}},
      {{64, 128, 256, 512}, {0, 3, 1, 2}},
      {{64, 256, 512, 128}, {0, 3, 1, 2}},
      {{32, 64, 32, 64, 64}, {4, 2, 0, 3, 1}},
      {{512, 512, 1024}, {2, 0, 1}},
      {{32, 2048, 32, 128}, {0, 2, 1, 3}},
  };
  return rows;
}

/// Of the driver's copy, for transposes and permutes of 1 GiB.
double least_ratio_of_permute(ElementType type) {
  switch (tmajit::size_of(type)) {
    case 1: return 0.85;
    case 2: return 0.93;
    default: return 0.95;
  }
}

void add_table_of_peers(CaseBuilder& list) {
  for (const ElementType type : table_types) {
    for (std::size_t row = 0; row < table().size(); ++row) {
      Case& c = list.permute("peers", table()[row], type);
      c.odd = row == 2;
      // The table has no f64, and its peers nothing that is fast there.
      c.peers = type == ElementType::f64 ? Peers::none : Peers::all;
      c.quick = type != ElementType::f64 && (row == 0 || row == 2 || row == 3 || row == 4 || row == 7);
    }
  }
}

void add_one_gibibyte(CaseBuilder& list) {
  for (const ElementType type : table_types) {
    for (std::size_t row = 0; row < table().size(); ++row) {
      if (row == 1 || row == 2) continue;  // the first again at this size; the odd one
      Permutation p = table()[row];
      const std::uint64_t elements = GiB / tmajit::size_of(type);
      if (p.shape.size() == 2) {
        const auto bits = static_cast<std::uint32_t>(std::countr_zero(elements));
        p.shape = {1ULL << (bits / 2), 1ULL << (bits - bits / 2)};
      } else {
        const auto rest =
            std::accumulate(p.shape.begin() + 1, p.shape.end(), std::uint64_t{1}, std::multiplies<>());
        p.shape[0] = elements / rest;
      }
      Case& c = list.permute("1 GiB", p, type);
      c.peers = Peers::none;
      c.least_ratio = least_ratio_of_permute(type);
      c.quick = row == 0 || row == 7;
    }
  }
}

void add_odd_extents(CaseBuilder& list) {
  const std::vector<Permutation> permutations{
      {{16381, 16411}, {1, 0}},
      {{63, 127, 255, 129}, {0, 3, 1, 2}},
      {{63, 127, 255, 129}, {3, 2, 1, 0}},
      {{31, 2047, 33, 127}, {0, 2, 1, 3}},
  };
  for (const ElementType type : common_types) {
    for (const Permutation& p : permutations) list.permute("odd", p, type).odd = true;
  }
}

void add_layouts(CaseBuilder& list) {
  const std::vector<std::pair<const char*, Permutation>> layouts{
      {"NCHW->NHWC", {{64, 256, 112, 112}, {0, 2, 3, 1}}},
      {"NHWC->NCHW", {{64, 112, 112, 256}, {0, 3, 1, 2}}},
      {"BSHD->BHSD", {{8, 4096, 32, 128}, {0, 2, 1, 3}}},
      {"BHSD->BSHD", {{8, 32, 4096, 128}, {0, 2, 1, 3}}},
      {"heads BS3HD->3BHSD", {{8, 4096, 3, 16, 128}, {2, 0, 3, 1, 4}}},
      {"quads kept", {{4096, 4096, 4}, {1, 0, 2}}},
      {"reversal of rank 5", {{32, 48, 40, 64, 36}, {4, 3, 2, 1, 0}}},
      {"reversal of rank 6", {{16, 24, 20, 32, 28, 18}, {5, 4, 3, 2, 1, 0}}},
  };
  for (const ElementType type : common_types) {
    for (const auto& [name, permutation] : layouts) list.permute("layout", permutation, type, name);
  }
}

void add_random_permutations(CaseBuilder& list) {
  constexpr std::size_t permutations = 8;
  std::mt19937_64 random(list.options().seed);
  // The standard's distributions differ between libraries; remainders do not.
  const auto below = [&](std::uint64_t n) { return random() % n; };
  for (std::size_t k = 0; k < permutations; ++k) {
    const std::size_t rank = 3 + k % 4;
    const std::uint64_t middle = 1ULL << (27 / rank);
    Permutation p;
    for (std::uint32_t d = 0; d < rank; ++d) {
      p.shape.push_back(middle / 2 + below(middle + 1));
      p.axes.push_back(d);
    }
    do {
      for (std::size_t d = rank; d-- > 1;) std::swap(p.axes[d], p.axes[below(d + 1)]);
    } while (std::is_sorted(p.axes.begin(), p.axes.end()));
    list.permute("random", p, common_types.at(k % common_types.size()));
  }
}

void add_small(CaseBuilder& list) {
  for (const std::uint64_t bytes : {64 * KiB, 256 * KiB, MiB, 4 * MiB, 16 * MiB}) {
    for (const ElementType type : common_types) {
      list.series("small", bytes, type, [&](Case& c) {
        c.peers = Peers::eager;
        c.quick = type == ElementType::f32;
        if (bytes <= 4 * MiB) c.most_extra_us = 0.3;
      });
    }
  }
}

void add_sizes(CaseBuilder& list) {
  for (const std::uint64_t bytes : {64 * MiB, 256 * MiB, 4 * GiB, 8 * GiB}) {
    for (const ElementType type : {ElementType::f32, ElementType::bf16}) {
      list.series("size", bytes, type, [](Case& c) { c.peers = Peers::eager; });
    }
  }
}

void add_elementwise(CaseBuilder& list) {
  for (const ElementType type : table_types) {
    Case& c = list.copy("copy", GiB, type, "1 GiB");
    c.least_ratio = 0.97;
    c.quick = type == ElementType::u8 || type == ElementType::f32;
  }
  const auto elements = [](ElementType type) { return GiB / tmajit::size_of(type); };
  for (const ElementType type :
       {ElementType::f32, ElementType::bf16, ElementType::u8, ElementType::i32, ElementType::f64}) {
    Case& c = list.map("map", "2a+1", 1, type, type, elements(type));
    c.least_ratio = 0.97;
    c.quick = type == ElementType::bf16;
  }
  for (const ElementType type : {ElementType::f32, ElementType::bf16, ElementType::f64}) {
    Case& c = list.map("map", "silu(a)*b+1", 2, type, type, elements(type));
    c.least_ratio = 0.97;
    c.quick = type == ElementType::f32;
  }
}

void add_casts(CaseBuilder& list) {
  using enum ElementType;
  constexpr std::uint64_t elements = GiB / 4;
  list.map("cast", "cast", 1, f32, bf16, elements);
  list.map("cast", "cast", 1, bf16, f32, elements);
  list.map("cast", "2.5a", 1, bf16, e4m3, 2 * elements).quick = true;
  list.map("cast", "normalise", 1, u8, f32, elements);
}

/// Between every two element types, in each direction; the wider one's array has 256 MiB.
void add_every_cast(CaseBuilder& list) {
  using enum ElementType;
  constexpr std::uint64_t bytes = 256 * MiB;
  constexpr std::array quick{f32, bf16, u8, e4m3, f64};
  const auto is_quick = [&](ElementType type) { return std::ranges::find(quick, type) != quick.end(); };
  for (const ElementType from : tmajit::all_element_types) {
    for (const ElementType to : tmajit::all_element_types) {
      if (from == to) continue;
      const std::uint64_t elements = bytes / std::max(tmajit::size_of(from), tmajit::size_of(to));
      Case& c = list.map("casts", "cast", 1, from, to, elements);
      c.name = human_bytes(bytes);
      c.peers = Peers::none;
      c.quick = is_quick(from) && is_quick(to);
      c.least_ratio = 0.93;
    }
  }
}

/// What families without inputs write.
void add_made_up(CaseBuilder& list) {
  for (const tmajit::FamilyInfo& family : tmajit::families()) {
    if (!family.computes || family.most_inputs > 0) continue;
    for (const ElementType type : {ElementType::f32, ElementType::bf16, ElementType::u8}) {
      list.map("made up", "3", 0, type, type, GiB / tmajit::size_of(type)).peers = Peers::none;
    }
  }
}

Case& slice(CaseBuilder& list, const std::string& name, ElementType type,
            const std::array<Slice, 2>& slices) {
  std::vector<Slice> scaled;
  for (const Slice& s : slices) {
    const std::uint64_t start = list.at(static_cast<std::uint64_t>(s.start.value_or(0)));
    const std::uint64_t stop = list.at(static_cast<std::uint64_t>(s.stop.value_or(16384)));
    scaled.push_back({static_cast<std::int64_t>(start), static_cast<std::int64_t>(stop), s.step});
  }
  Case& c =
      list.add("slice", name, "slice", {{type, {list.at(16384), list.at(16384)}}}, {{"slices", scaled}});
  c.least_ratio = 0.95;
  return c;
}

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
    const tmajit::Dims before{list.at(pad.top), list.at(pad.left)};
    const auto whole = static_cast<std::int64_t>(list.at(12288) - side);
    list.add("pad", fmt::format("12000x12000 at ({},{}) of 12288x12288", pad.top, pad.left), "pad",
             {{pad.type, {side, side}}},
             {{"widths", tmajit::PadWidths{before, {whole - before[0], whole - before[1]}}}, {"value", 1.0}})
        .quick = pad.type == bf16;
  }
  struct Flip {
    ElementType type;
    std::vector<std::uint32_t> axes;
  };
  for (const Flip& flip :
       {Flip{f32, {0}}, Flip{f32, {1}}, Flip{bf16, {1}}, Flip{u8, {1}}, Flip{f32, {0, 1}}}) {
    list.add("flip", fmt::format("16384x16384 along {}", fmt::join(flip.axes, ",")), "flip",
             {{flip.type, {list.at(16384), list.at(16384)}}}, {{"axes", tmajit::Dims(flip.axes)}})
        .quick = flip.type == bf16;
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
  for (const bool joins : {true, false}) {
    for (const Parts& part : parts) {
      std::vector<Array> pieces;
      std::vector<std::uint64_t> extents;
      for (const std::uint64_t n : part.extents) {
        pieces.push_back({f32, {list.at(16384), list.at(16384)}});
        pieces.back().shape[part.axis] = list.at(n);
        extents.push_back(list.at(n));
      }
      const std::int64_t axis = part.axis;
      if (joins) {
        list.add("concat", part.name, "concat", pieces, {{"axis", axis}});
        continue;
      }
      Array whole = pieces.front();
      whole.shape[part.axis] = std::accumulate(extents.begin(), extents.end(), std::uint64_t{0});
      list.add("split", part.name, "split", {whole}, {{"axis", axis}, {"parts", tmajit::Dims(extents)}});
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
      list.add("broadcast", fmt::format("{} to 16384x16384", name), "broadcast", {{type, from}},
               {{"shape", tmajit::Dims(whole)}});
    }
    list.add(computation("broadcast", "row + column to 16384x16384", "a+b", {{type, row}, {type, column}},
                         {type, whole}));
  }
}

/// Rows of 4096 elements, or one row; `bytes` count the larger of the two types.
Shape shape_of(const CaseBuilder& list, bool flat, std::uint64_t bytes, ElementType from, ElementType to) {
  constexpr std::uint64_t columns = 4096;
  const std::uint64_t elements = bytes / std::max(tmajit::size_of(from), tmajit::size_of(to));
  if (flat) return {list.count(elements)};
  return list.options().tiny ? Shape{37, 144} : Shape{elements / columns, columns};
}

/// What a family computes of one, two and three inputs.
constexpr std::array tile_expressions{"2a+1", "a+b", "a+b+c"};

/// A case of `family` in all sizes. An empty expression moves bits.
void add_tile(CaseBuilder& list, std::string_view group, const tmajit::FamilyInfo& family, std::size_t inputs,
              const std::string& expression, ElementType from, ElementType to) {
  for (const std::uint64_t bytes : list.options().sizes) {
    const Shape shape = shape_of(list, family.flat, bytes, from, to);
    const std::vector<Array> sources(inputs, {from, shape});
    Case c = expression.empty() ? make_case({}, {}, "copy", sources)
                                : computation({}, {}, expression, sources, {to, shape});
    if (family.writes_images) c.operation = "snapshot";
    if (family.does("reduce_into")) {
      c.operation = "reduce_into";
      c.arguments.set("op", "add");
    }
    c.group = fmt::format("tile {}", group);
    c.name = human_bytes(bytes) + (expression.empty() ? "" : " ") + expression;
    c.family = family.name;
    c.peers = Peers::none;
    list.add(with_tile(std::move(c), {}));
  }
}

void add_tile_casts(CaseBuilder& list, const tmajit::FamilyInfo& family) {
  using enum ElementType;
  add_tile(list, "cast", family, 1, "a", f32, bf16);
  add_tile(list, "cast", family, 1, "a", bf16, f32);
  add_tile(list, "cast", family, 1, "a", u8, f32);
  add_tile(list, "cast", family, 1, "100a", f32, u8);
}

void add_tiles(CaseBuilder& list) {
  bool casts = false;
  for (const tmajit::FamilyInfo& family : tmajit::families()) {
    if (!family.takes_tiles) continue;
    const std::size_t most =
        family.computes ? std::min<std::size_t>(family.most_inputs, tile_expressions.size()) : 1;
    for (std::size_t inputs = 1; inputs <= most; ++inputs) {
      const char* const expression = family.computes ? tile_expressions.at(inputs - 1) : "";
      for (const ElementType type : list.options().types) {
        if (family.does("reduce_into") && !tmajit::combined_as(tmajit::CombineOp::add, type)) continue;
        add_tile(list, family.name, family, inputs, expression, type, type);
      }
    }
    if (!casts && family.computes && !family.flat) {
      add_tile_casts(list, family);
      casts = true;
    }
  }
}

}  // namespace

std::vector<Case> list_cases(const ListOptions& options) {
  if (options.reductions)
    return reductions({.count = options.random, .seed = options.seed, .tiny = options.tiny});
  if (options.scans) return scans({.count = options.random, .seed = options.seed, .tiny = options.tiny});
  if (options.random > 0) {
    const RandomOptions random{
        .count = options.random, .seed = options.seed, .tiny = options.tiny, .f64 = options.random_f64};
    return options.random_views ? random_views(random) : random_permutations(random);
  }
  CaseBuilder list(options);
  if (options.casts) {
    add_every_cast(list);
    return list.take();
  }
  add_table_of_peers(list);
  add_one_gibibyte(list);
  add_small(list);
  add_elementwise(list);
  add_slices(list);
  add_odd_extents(list);
  add_layouts(list);
  add_casts(list);
  add_made_up(list);
  add_random_permutations(list);
  add_pads_and_flips(list);
  add_concats_and_splits(list);
  add_broadcasts(list);
  add_sizes(list);
  for (Case& c : stencil_cases(options.tiny)) list.add(std::move(c));
  for (Case& c : scans({.tiny = options.tiny})) list.add(std::move(c));
  for (Case& c : ragged_cases(options.tiny)) list.add(std::move(c));
  for (Case& c : window_cases(options.tiny)) list.add(std::move(c));
  add_tiles(list);
  return list.take();
}

}  // namespace bench
