// The list of measured cases: the operations' cases, and cases of the kernel families whose callers may
// choose the tile. The latter use their family's default tile; `tmajit-bench --sweep` tries others.
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

/// The groups of the operations' cases, the most important first; other groups follow. The group "peers" is
/// the table of permutations with which tmajit is compared with its peers, other libraries.
constexpr auto group_order = std::to_array<std::string_view>(
    {"peers",  "1 GiB",     "small",   "copy",    "map",   "slice",  "odd",
     "layout", "cast",      "made up", "random",  "pad",   "flip",   "concat",
     "split",  "broadcast", "size",    "stencil", "scans", "ragged", "windows"});

/// Rows of 4096 elements, or one row. The tensor of the larger of the two types has `bytes` bytes.
Shape shape_of(const CaseBuilder& list, bool flat, std::uint64_t bytes, ElementType from, ElementType to) {
  constexpr std::uint64_t columns = 4096;
  const std::uint64_t elements = bytes / std::max(tmajit::size_of(from), tmajit::size_of(to));
  if (flat) return {list.scaled_length(elements)};
  return list.tiny() ? Shape{37, 144} : Shape{elements / columns, columns};
}

/// Expressions of one, two and three sources.
constexpr std::array tile_expressions{"2a+1", "a+b", "a+b+c"};

/// Adds a case of `family` for each size. Without an expression it copies bits.
void add_tile(CaseBuilder& list, const ListOptions& options, std::string_view group,
              const tmajit::FamilyInfo& family, std::size_t source_count, const std::string& expression,
              ElementType from, ElementType to) {
  for (const std::uint64_t bytes : options.sizes) {
    const Shape shape = shape_of(list, family.flat, bytes, from, to);
    const std::vector<Array> sources(source_count, {from, shape});
    Case bench_case = expression.empty() ? make_case({}, {}, "copy", sources)
                                         : map_or_cast({}, {}, expression, sources, {to, shape});
    // The destination gets the bytes of each tile in shared memory instead of elements.
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
    if (!family.does("tiles")) continue;  // its callers cannot choose the tile
    const std::size_t max_sources =
        family.computes ? std::min<std::size_t>(family.max_inputs, tile_expressions.size()) : 1;
    for (std::size_t sources = 1; sources <= max_sources; ++sources) {
      const char* const expression = family.computes ? tile_expressions.at(sources - 1) : "";
      for (const ElementType type : options.types) {
        if (family.does("reduce_into") && !tmajit::combined_as(tmajit::CombineOp::add, type)) continue;
        add_tile(list, options, family.name, family, sources, expression, type, type);
      }
    }
    if (!casts && family.computes && !family.flat) {
      add_tile_casts(list, options, family);
      casts = true;
    }
  }
}

/// The operations' cases, in the order of their groups.
CaseBuilder operation_cases(const ListOptions& options) {
  CaseBuilder all(options.seed, options.tiny);
  for (const std::string_view operation : reference::all_operations()) {
    const auto& add_cases = reference::cases_of(operation).add_benchmark_cases;
    if (add_cases != nullptr) add_cases(all);
  }
  std::vector<Case> cases = all.take();
  std::ranges::stable_sort(cases, {}, [](const Case& bench_case) {
    return std::ranges::find(group_order, bench_case.group) - group_order.begin();
  });
  for (Case& bench_case : cases) all.add(std::move(bench_case));
  return all;
}

/// Distinct random cases, which the seed determines.
class RandomBenchmarkCases {
 public:
  explicit RandomBenchmarkCases(const ListOptions& options) : draw_(options.seed, options.tiny) {}

  /// Adds random case `number` of an operation. `type` is its element type, unless the operation draws its
  /// types itself, as cast does.
  void add(std::string_view operation, std::size_t number, ElementType type) {
    draw_.number = number;
    draw_.type = type;
    cases_.add([&] { return reference::cases_of(operation).draw_benchmark_case(draw_); });
  }
  [[nodiscard]] std::vector<Case> take() { return cases_.take(); }

 private:
  BenchmarkCaseDraw draw_;
  UniqueCases cases_;
};

/// The operations of --random-views: those that see their source through a view, and cast and map. Their
/// cases are drawn in this order, on which published figures depend.
constexpr auto random_view_operations =
    std::to_array<std::string_view>({"pad", "slice", "flip", "broadcast", "cast", "map"});
constexpr std::array random_types{ElementType::f32, ElementType::bf16, ElementType::u8, ElementType::f64};

std::vector<Case> random_cases(const ListOptions& options) {
  RandomBenchmarkCases cases(options);
  const std::size_t type_count = options.random_f64 ? 4 : 3;
  for (std::size_t k = 0; k < options.random; ++k) {
    if (!options.operation.empty()) {
      cases.add(options.operation, k, ElementType::f32);
    } else if (options.random_views) {
      for (const std::string_view operation : random_view_operations)
        cases.add(operation, k, random_types.at(k % 3));
    } else {
      for (std::size_t t = 0; t < type_count; ++t) cases.add("permute", k, random_types.at(t));
    }
  }
  return cases.take();
}

}  // namespace

std::vector<Case> list_cases(const ListOptions& options) {
  if (options.random > 0) return random_cases(options);
  if (!options.operation.empty()) {
    CaseBuilder list(options.seed, options.tiny);
    const reference::OperationCases& cases = reference::cases_of(options.operation);
    const bool has_dedicated_cases = cases.add_dedicated_cases != nullptr;
    (has_dedicated_cases ? cases.add_dedicated_cases : cases.add_benchmark_cases)(list);
    return list.take();
  }
  CaseBuilder list = operation_cases(options);
  add_tiles(list, options);
  return list.take();
}

}  // namespace bench
