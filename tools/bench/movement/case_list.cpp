#include "case_list.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <random>
#include <span>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace movement {
namespace {

using tmajit::ElementType;
using tmajit::Slice;
using Axes = std::vector<std::uint32_t>;

constexpr std::uint64_t KiB = 1024;
constexpr std::uint64_t MiB = 1024 * KiB;
constexpr std::uint64_t GiB = 1024 * MiB;

struct Permutation {
  Shape shape;
  Axes axes;
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

constexpr std::array table_types{ElementType::f32, ElementType::bf16, ElementType::u8, ElementType::f64};
constexpr std::array common_types{ElementType::f32, ElementType::bf16, ElementType::u8};

/// Of the driver's copy, for transposes and permutes of 1 GiB.
double least_ratio_of_permute(ElementType type) {
  switch (tmajit::size_of(type)) {
    case 1: return 0.85;
    case 2: return 0.93;
    default: return 0.95;
  }
}

std::string title(const Permutation& p) {
  return fmt::format("({})->({})", fmt::join(p.shape, ","), fmt::join(p.axes, ","));
}

/// Makes the list, group by group.
class List {
 public:
  explicit List(const ListOptions& options) : options_(options) {}
  std::vector<Case> take() { return std::move(cases_); }

  void table_of_peers();
  void one_gibibyte();
  void small();
  void elementwise();
  void slices();
  void odd_extents();
  void layouts();
  void casts();
  void random_permutations();
  void pads_and_flips();
  void concats_and_splits();
  void broadcasts();
  void sizes();

 private:
  /// An extent of a permutation.
  [[nodiscard]] std::uint64_t extent(std::uint64_t n) const { return options_.tiny && n > 4 ? 2 + n % 7 : n; }
  /// An extent of, or a position in, a matrix of about 16384 rows or columns.
  [[nodiscard]] std::uint64_t at(std::uint64_t n) const { return options_.tiny ? n * 40 / 16384 : n; }
  /// Elements of a tensor of one dimension.
  [[nodiscard]] std::uint64_t count(std::uint64_t n) const { return options_.tiny ? 1000 + n % 97 : n; }

  Case& add(Case c) { return cases_.emplace_back(std::move(c)); }
  Case& permute(const char* group, const Permutation& permutation, ElementType type,
                const std::string& name = {});
  Case& copy(const char* group, std::uint64_t bytes, ElementType type, const std::string& name);
  /// Three moves of `bytes` each, named with that size.
  void series(const char* group, std::uint64_t bytes, ElementType type,
              const std::function<void(Case&)>& finish);
  Case& slice(const std::string& name, ElementType type, const std::array<Slice, 2>& slices);
  void map(const char* group, const std::string& expression, std::size_t inputs, ElementType from,
           ElementType to, std::uint64_t elements);

  ListOptions options_;
  std::vector<Case> cases_;
};

Case& List::permute(const char* group, const Permutation& permutation, ElementType type,
                    const std::string& name) {
  Shape from;
  Shape to;
  for (const std::uint64_t n : permutation.shape) from.push_back(extent(n));
  for (const std::uint32_t axis : permutation.axes) to.push_back(from[axis]);
  return add({.group = group,
              .name = name.empty() ? title(permutation) : name,
              .operation = Operation::permute,
              .sources = {{type, from}},
              .destinations = {{type, to}},
              .axes = permutation.axes,
              .slices = {},
              .expression = {}});
}

Case& List::copy(const char* group, std::uint64_t bytes, ElementType type, const std::string& name) {
  const Array array{type, {count(bytes / tmajit::size_of(type))}};
  return add({.group = group,
              .name = name,
              .operation = Operation::copy,
              .sources = {array},
              .destinations = {array},
              .axes = {},
              .slices = {},
              .expression = {}});
}

void List::table_of_peers() {
  for (const ElementType type : table_types) {
    for (std::size_t row = 0; row < table().size(); ++row) {
      Case& c = permute("peers", table()[row], type);
      c.odd = row == 2;
      // The table has no f64, and its peers nothing that is fast there.
      c.peers = type == ElementType::f64 ? Peers::none : Peers::all;
      c.quick = type != ElementType::f64 && (row == 0 || row == 2 || row == 3 || row == 4 || row == 7);
    }
  }
}

void List::one_gibibyte() {
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
      Case& c = permute("1 GiB", p, type);
      c.peers = Peers::none;
      c.least_ratio = least_ratio_of_permute(type);
      c.quick = row == 0 || row == 7;
    }
  }
}

void List::series(const char* group, std::uint64_t bytes, ElementType type,
                  const std::function<void(Case&)>& finish) {
  const std::string size = bytes >= GiB   ? fmt::format("{} GiB", bytes / GiB)
                           : bytes >= MiB ? fmt::format("{} MiB", bytes / MiB)
                                          : fmt::format("{} KiB", bytes / KiB);
  const std::uint64_t elements = bytes / tmajit::size_of(type);
  const auto bits = static_cast<std::uint32_t>(std::countr_zero(elements));
  finish(copy(group, bytes, type, size + " copy"));
  finish(
      permute(group, {{1ULL << (bits / 2), 1ULL << (bits - bits / 2)}, {1, 0}}, type, size + " transpose"));
  finish(permute(group, {{2, elements >> 10, 8, 64}, {0, 2, 1, 3}}, type, size + " heads"));
}

void List::small() {
  for (const std::uint64_t bytes : {64 * KiB, 256 * KiB, MiB, 4 * MiB, 16 * MiB}) {
    for (const ElementType type : common_types) {
      series("small", bytes, type, [&](Case& c) {
        c.peers = Peers::eager;
        c.quick = type == ElementType::f32;
        if (bytes <= 4 * MiB) c.most_extra_us = 0.3;
      });
    }
  }
}

void List::map(const char* group, const std::string& expression, std::size_t inputs, ElementType from,
               ElementType to, std::uint64_t elements) {
  add({.group = group,
       .name = expression,
       .operation = Operation::map,
       .sources = std::vector<Array>(inputs, {from, {count(elements)}}),
       .destinations = {{to, {count(elements)}}},
       .axes = {},
       .slices = {},
       .expression = expression});
}

void List::elementwise() {
  for (const ElementType type : table_types) {
    Case& c = copy("copy", GiB, type, "1 GiB");
    c.least_ratio = 0.97;
    c.quick = type == ElementType::u8 || type == ElementType::f32;
  }
  const auto elements = [](ElementType type) { return GiB / tmajit::size_of(type); };
  for (const ElementType type :
       {ElementType::f32, ElementType::bf16, ElementType::u8, ElementType::i32, ElementType::f64}) {
    map("map", "2a+1", 1, type, type, elements(type));
    cases_.back().least_ratio = 0.97;
    cases_.back().quick = type == ElementType::bf16;
  }
  for (const ElementType type : {ElementType::f32, ElementType::bf16, ElementType::f64}) {
    map("map", "silu(a)*b+1", 2, type, type, elements(type));
    cases_.back().least_ratio = 0.97;
    cases_.back().quick = type == ElementType::f32;
  }
}

Case& List::slice(const std::string& name, ElementType type, const std::array<Slice, 2>& slices) {
  Shape to;
  std::vector<Slice> scaled;
  for (const Slice& s : slices) {
    const std::uint64_t start = at(static_cast<std::uint64_t>(s.start.value_or(0)));
    const std::uint64_t stop = at(static_cast<std::uint64_t>(s.stop.value_or(16384)));
    const auto step = static_cast<std::uint64_t>(s.step);
    to.push_back((stop - start + step - 1) / step);
    scaled.push_back({static_cast<std::int64_t>(start), static_cast<std::int64_t>(stop), s.step});
  }
  Case& c = add({.group = "slice",
                 .name = name,
                 .operation = Operation::slice,
                 .sources = {{type, {at(16384), at(16384)}}},
                 .destinations = {{type, to}},
                 .axes = {},
                 .slices = std::move(scaled),
                 .expression = {}});
  c.least_ratio = 0.95;
  return c;
}

void List::slices() {
  using enum ElementType;
  slice("12000x12000 of 16384x16384", f32, {Slice{0, 12000}, Slice{0, 12000}}).quick = true;
  slice("[100:12100,64:12064]", f32, {Slice{100, 12100}, Slice{64, 12064}});
  slice("[101:12101,67:12067]", f32, {Slice{101, 12101}, Slice{67, 12067}}).quick = true;
  slice("[101:12101,67:12067]", bf16, {Slice{101, 12101}, Slice{67, 12067}});
  slice("[101:12101,67:12067]", u8, {Slice{101, 12101}, Slice{67, 12067}});
  slice("[::2,64:12064]", f32, {Slice{0, 16384, 2}, Slice{64, 12064}});
  slice("[100:12100,64:12064:2]", f32, {Slice{100, 12100}, Slice{64, 12064, 2}});
  slice("[::3,1::3]", f32, {Slice{0, 16384, 3}, Slice{1, 16384, 3}});
}

void List::odd_extents() {
  const std::vector<Permutation> permutations{
      {{16381, 16411}, {1, 0}},
      {{63, 127, 255, 129}, {0, 3, 1, 2}},
      {{63, 127, 255, 129}, {3, 2, 1, 0}},
      {{31, 2047, 33, 127}, {0, 2, 1, 3}},
  };
  for (const ElementType type : common_types) {
    for (const Permutation& p : permutations) permute("odd", p, type).odd = true;
  }
}

void List::layouts() {
  const std::vector<std::pair<const char*, Permutation>> layouts{
      {"NCHW->NHWC", {{64, 256, 112, 112}, {0, 2, 3, 1}}},
      {"NHWC->NCHW", {{64, 112, 112, 256}, {0, 3, 1, 2}}},
      {"BSHD->BHSD", {{8, 4096, 32, 128}, {0, 2, 1, 3}}},
      {"BHSD->BSHD", {{8, 32, 4096, 128}, {0, 2, 1, 3}}},
      {"heads BS3HD->3BHSD", {{8, 4096, 3, 16, 128}, {2, 0, 3, 1, 4}}},
      {"reversal of rank 5", {{32, 48, 40, 64, 36}, {4, 3, 2, 1, 0}}},
      {"reversal of rank 6", {{16, 24, 20, 32, 28, 18}, {5, 4, 3, 2, 1, 0}}},
  };
  for (const ElementType type : common_types) {
    for (const auto& [name, permutation] : layouts) permute("layout", permutation, type, name);
  }
}

void List::casts() {
  using enum ElementType;
  constexpr std::uint64_t elements = GiB / 4;
  map("cast", "cast", 1, f32, bf16, elements);
  map("cast", "cast", 1, bf16, f32, elements);
  map("cast", "2.5a", 1, bf16, e4m3, 2 * elements);
  map("cast", "normalise", 1, u8, f32, elements);
  for (Case& c : std::span(cases_).last(4)) {
    if (c.expression == "cast") c.operation = Operation::cast;
    c.quick = c.expression == "2.5a";
  }
}

void List::random_permutations() {
  constexpr std::size_t permutations = 8;
  std::mt19937_64 random(options_.seed);
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
    permute("random", p, common_types.at(k % common_types.size()));
  }
}

void List::pads_and_flips() {
  using enum ElementType;
  struct Pad {
    ElementType type;
    std::uint64_t top, left;
  };
  for (const Pad& pad : {Pad{f32, 128, 64}, Pad{f32, 101, 67}, Pad{bf16, 128, 64}, Pad{u8, 101, 67}}) {
    add({.group = "pad",
         .name = fmt::format("12000x12000 at ({},{}) of 12288x12288", pad.top, pad.left),
         .operation = Operation::pad,
         .sources = {{pad.type, {at(12000) - 2, at(12000) - 2}}},
         .destinations = {{pad.type, {at(12288), at(12288)}}},
         .axes = {},
         .slices = {},
         .before = {static_cast<std::int64_t>(at(pad.top)), static_cast<std::int64_t>(at(pad.left))},
         .value = 1,
         .expression = {},
         .quick = pad.type == bf16});
    // At full size the source is what the name says; the tiny one needs room for its border.
    if (!options_.tiny) cases_.back().sources.front().shape = {12000, 12000};
  }
  struct Flip {
    ElementType type;
    Axes axes;
  };
  for (const Flip& flip :
       {Flip{f32, {0}}, Flip{f32, {1}}, Flip{bf16, {1}}, Flip{u8, {1}}, Flip{f32, {0, 1}}}) {
    const Array array{flip.type, {at(16384), at(16384)}};
    add({.group = "flip",
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

void List::concats_and_splits() {
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
        pieces.push_back({f32, {at(16384), at(16384)}});
        pieces.back().shape[part.axis] = at(n);
        sum += at(n);
      }
      Array whole{f32, {at(16384), at(16384)}};
      whole.shape[part.axis] = sum;
      const bool joins = operation == Operation::concat;
      add({.group = name(operation),
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

void List::broadcasts() {
  using enum ElementType;
  const Shape whole{at(16384), at(16384)};
  const Shape row{1, at(16384)};
  const Shape column{at(16384), 1};
  for (const ElementType type : {f32, bf16}) {
    for (const auto& [name, from] : {std::pair{"a row", row}, std::pair{"a column", column}}) {
      add({.group = "broadcast",
           .name = fmt::format("{} to 16384x16384", name),
           .operation = Operation::broadcast,
           .sources = {{type, from}},
           .destinations = {{type, whole}},
           .axes = {},
           .slices = {},
           .expression = {}});
    }
    add({.group = "broadcast",
         .name = "row + column to 16384x16384",
         .operation = Operation::map,
         .sources = {{type, row}, {type, column}},
         .destinations = {{type, whole}},
         .axes = {},
         .slices = {},
         .expression = "a+b"});
  }
}

void List::sizes() {
  for (const std::uint64_t bytes : {64 * MiB, 256 * MiB, 4 * GiB, 8 * GiB}) {
    for (const ElementType type : {ElementType::f32, ElementType::bf16}) {
      series("size", bytes, type, [](Case& c) { c.peers = Peers::eager; });
    }
  }
}

}  // namespace

std::vector<Case> list_cases(const ListOptions& options) {
  List list(options);
  list.table_of_peers();
  list.one_gibibyte();
  list.small();
  list.elementwise();
  list.slices();
  list.odd_extents();
  list.layouts();
  list.casts();
  list.random_permutations();
  list.pads_and_flips();
  list.concats_and_splits();
  list.broadcasts();
  list.sizes();
  return list.take();
}

}  // namespace movement
