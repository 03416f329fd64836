// The list of measured cases: the operations' cases, and cases with a tile of the caller's choice.
// docs/movement.md describes the groups.
#include "case_list.hpp"

#include "operations/cases.hpp"
#include "operations/drawing/expressions.hpp"
#include "planning.hpp"

#include <tmajit/combine.hpp>
#include <tmajit/tiles.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace bench {

using tmajit::ElementType;

namespace {

/// The groups of the operations' cases, the most important first; other groups follow.
constexpr auto group_order = std::to_array<std::string_view>(
    {"peers",  "1 GiB",     "small",   "copy",    "map",   "slice",  "odd",
     "layout", "cast",      "made up", "random",  "pad",   "flip",   "concat",
     "split",  "broadcast", "size",    "stencil", "scans", "ragged", "windows"});

/// Rows of 4096 elements, or one row; `bytes` is the size in the larger of the two types.
Shape shape_of(const CaseBuilder& list, bool flat, std::uint64_t bytes, ElementType from, ElementType to) {
  constexpr std::uint64_t columns = 4096;
  const std::uint64_t elements = bytes / std::max(tmajit::size_of(from), tmajit::size_of(to));
  if (flat) return {list.count(elements)};
  return list.tiny() ? Shape{37, 144} : Shape{elements / columns, columns};
}

/// Expressions of one, two and three inputs.
constexpr std::array tile_expressions{"2a+1", "a+b", "a+b+c"};

/// A case of `family` in all sizes. An empty expression moves bits.
void add_tile(CaseBuilder& list, const ListOptions& options, std::string_view group,
              const tmajit::FamilyInfo& family, std::size_t inputs, const std::string& expression,
              ElementType from, ElementType to) {
  for (const std::uint64_t bytes : options.sizes) {
    const Shape shape = shape_of(list, family.flat, bytes, from, to);
    const std::vector<Array> sources(inputs, {from, shape});
    Case bench_case = expression.empty() ? make_case({}, {}, "copy", sources)
                                         : map_or_cast({}, {}, expression, sources, {to, shape});
    if (family.writes_images) bench_case.operation = "snapshot";
    if (family.does("reduce_into")) {
      bench_case.operation = "reduce_into";
      bench_case.arguments.set("op", "add");
    }
    bench_case.group = fmt::format("tile {}", group);
    bench_case.name = human_bytes(bytes) + (expression.empty() ? "" : " ") + expression;
    bench_case.family = family.name;
    bench_case.peers = Peers::none;
    list.add(with_tile(std::move(bench_case), {}));
  }
}

void add_tile_casts(CaseBuilder& list, const ListOptions& options, const tmajit::FamilyInfo& family) {
  using enum ElementType;
  add_tile(list, options, "cast", family, 1, "a", f32, bf16);
  add_tile(list, options, "cast", family, 1, "a", bf16, f32);
  add_tile(list, options, "cast", family, 1, "a", u8, f32);
  add_tile(list, options, "cast", family, 1, "100a", f32, u8);
}

void add_tiles(CaseBuilder& list, const ListOptions& options) {
  bool casts = false;
  for (const tmajit::FamilyInfo& family : tmajit::families()) {
    if (!family.does("tiles")) continue;
    const std::size_t input_limit =
        family.computes ? std::min<std::size_t>(family.max_inputs, tile_expressions.size()) : 1;
    for (std::size_t inputs = 1; inputs <= input_limit; ++inputs) {
      const char* const expression = family.computes ? tile_expressions.at(inputs - 1) : "";
      for (const ElementType type : options.types) {
        if (family.does("reduce_into") && !tmajit::combined_as(tmajit::CombineOp::add, type)) continue;
        add_tile(list, options, family.name, family, inputs, expression, type, type);
      }
    }
    if (!casts && family.computes && !family.flat) {
      add_tile_casts(list, options, family);
      casts = true;
    }
  }
}

CaseBuilder measured(const ListOptions& options) {
  CaseBuilder all(options.seed, options.tiny);
  for (const std::string_view operation : reference::all_operations()) {
    const auto& add = reference::cases_of(operation).measured;
    if (add != nullptr) add(all);
  }
  std::vector<Case> cases = all.take();
  std::ranges::stable_sort(cases, {}, [](const Case& bench_case) {
    return std::ranges::find(group_order, bench_case.group) - group_order.begin();
  });
  for (Case& bench_case : cases) all.add(std::move(bench_case));
  return all;
}

/// Distinct random cases, which the seed determines.
class DrawnCases {
 public:
  explicit DrawnCases(const ListOptions& options) : drawer_(options.seed, options.tiny) {}

  /// Adds random case `number` of an operation; `type` is its element type, if the operation has several.
  void add(std::string_view operation, std::size_t number, ElementType type) {
    drawer_.number = number;
    drawer_.type = type;
    cases_.add([&] { return reference::cases_of(operation).drawn(drawer_); });
  }
  [[nodiscard]] std::vector<Case> take() { return cases_.take(); }

 private:
  CaseDrawer drawer_;
  UniqueCases cases_;
};

/// The operations of --random-views, in the order in which their cases are drawn. Published figures depend on
/// this order.
constexpr auto views = std::to_array<std::string_view>({"pad", "slice", "flip", "broadcast", "cast", "map"});
constexpr std::array drawn_types{ElementType::f32, ElementType::bf16, ElementType::u8, ElementType::f64};

std::vector<Case> drawn(const ListOptions& options) {
  DrawnCases cases(options);
  const std::size_t types = options.random_f64 ? 4 : 3;
  for (std::size_t k = 0; k < options.random; ++k) {
    if (!options.operation.empty()) {
      cases.add(options.operation, k, ElementType::f32);
    } else if (options.random_views) {
      for (const std::string_view operation : views) cases.add(operation, k, drawn_types.at(k % 3));
    } else {
      for (std::size_t t = 0; t < types; ++t) cases.add("permute", k, drawn_types.at(t));
    }
  }
  return cases.take();
}

}  // namespace

std::vector<Case> list_cases(const ListOptions& options) {
  if (options.random > 0) return drawn(options);
  if (!options.operation.empty()) {
    CaseBuilder list(options.seed, options.tiny);
    const reference::OperationCases& cases = reference::cases_of(options.operation);
    (cases.suite != nullptr ? cases.suite : cases.measured)(list);
    return list.take();
  }
  CaseBuilder list = measured(options);
  add_tiles(list, options);
  return list.take();
}

}  // namespace bench
