/// The candidates that the planner considers: their families, their tiles, and limits that hold for any
/// problem.
#include "plan/candidates.hpp"

#include "families/general/general_facts.hpp"
#include "families/list.hpp"
#include "families/shared/blocks.hpp"
#include "families/shared/shape_class.hpp"
#include "plan/cost_model.hpp"
#include "plan/moves.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/validate.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iostream>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include <catch2/catch_test_macros.hpp>
#include <tmajit_params/engine_grid.cuh>

using namespace tmajit;
using tests::candidates_of, tests::is_of_family, tests::permutation, tests::default_candidate;

namespace {

constexpr std::uint32_t max_shared = 96 * 1024;
constexpr std::uint32_t max_cta_bytes = 227 * 1024;  // static and dynamic shared memory

std::uint64_t rounded(std::uint64_t extent, std::uint64_t unit) {
  return (extent + unit - 1) / unit * unit;
}

bool transposes(const Candidate& candidate) {
  return is_of_family(candidate, "transpose") || is_of_family(candidate, "direct_transpose");
}

bool through_maps(const Candidate& candidate) {
  return is_of_family(candidate, "engine_rows");
}

/// The number of elements in a vector or chunk along the last dimension, and along the column of a transpose.
std::uint32_t unit_of(const Candidate& candidate, const Problem& problem) {
  if (is_of_family(candidate, "rows")) return 16 / problem.element_bytes(0);
  if (transposes(candidate)) return facts_of<BlockFacts>(candidate).vector;
  return is_of_family(candidate, "general") ? facts_of<GeneralFacts>(candidate).chunk : 1;
}

/// Whether the kernel takes tiles of any size as launch parameters.
bool any_size(const Candidate& candidate) {
  if (is_of_family(candidate, "general")) return !facts_of<GeneralFacts>(candidate).has_image();
  return !transposes(candidate) && !is_of_family(candidate, "linear");
}

/// The largest useful extent of a tile in a dimension: the dimension's extent, rounded up to whole vectors or
/// chunks.
std::uint64_t max_box_extent(const Candidate& candidate, const Problem& problem, std::uint32_t d) {
  const std::uint64_t extent = d < candidate.nest.rank ? candidate.nest.shape[d] : 1;
  const bool last = d + 1 >= candidate.nest.rank;
  const bool by_vectors = last || (transposes(candidate) && d == facts_of<BlockFacts>(candidate).column);
  const std::uint64_t unit = by_vectors ? unit_of(candidate, problem) : 1;
  // Tiles of any size have extents of powers of two. Transposes of small problems do not limit their tiles.
  if (any_size(candidate)) return std::bit_ceil(rounded(extent, unit) / unit) * unit;
  if (transposes(candidate) && is_small(problem)) return std::numeric_limits<std::uint64_t>::max();
  return rounded(extent, unit);
}

/// Checks that the lines of images and of a transpose's blocks have stride 1 in memory, on which kernels
/// rely.
void check_lines(const Candidate& candidate) {
  if (transposes(candidate)) {
    const auto facts = facts_of<BlockFacts>(candidate);
    CHECK(facts.column + 1 < facts.rank);
    CHECK(facts.source_order[facts.rank - 1] == facts.column);
    CHECK(candidate.nest.operand[1].strides[facts.column] == 1);
  }
  if (!is_of_family(candidate, "general")) return;
  const auto facts = facts_of<GeneralFacts>(candidate);
  for (std::uint32_t i = 0; i < facts.sources; ++i) {
    const SourceFacts& source = facts.source[i];
    if (source.access != Access::image) continue;
    INFO("source " << i);
    CHECK(source.run >= 1);
    CHECK(candidate.nest.operand[i + 1].strides[source.order[facts.rank - 1]] == 1);
    CHECK(source.pitch % 16 == 0);
    CHECK(source.offset % 16 == 0);
  }
}

/// Checks that the tensor maps of a plan are legal.
void check_maps(const KernelPlan& plan) {
  std::uint32_t maps = 0;
  for (const Parameter& parameter : plan.parameters()) {
    if (!parameter.map) continue;
    ++maps;
    INFO("map of operand " << parameter.map_of);
    CHECK(parameter.map->rank <= max_map_rank);
    CHECK(
        validate(*parameter.map, plan.operand_address(static_cast<std::uint32_t>(parameter.map_of))).empty());
  }
  CHECK(maps > 0);
}

void check_engine(const Candidate& candidate, const Problem& problem, const Footprint& footprint) {
  check_maps(make_kernel_plan(candidate, problem));
  params::EngineBox box{};
  const KernelPlan plan = make_kernel_plan(candidate, problem);
  const std::vector<Parameter> parameters = plan.parameters();
  const auto found = std::ranges::find(parameters, "box", &Parameter::name);
  REQUIRE(found != parameters.end());
  std::memcpy(&box, &plan.parameter_bytes()[found->offset], sizeof box);
  const std::uint32_t parts = box.parts;
  CHECK(box.part_bytes % 128 == 0);
  CHECK(box.load_bytes <= parts * box.part_bytes);
  const std::uint32_t last = candidate.nest.rank - 1;
  // Rows have elements of 8 bytes if they are only moved.
  const std::uint32_t row = footprint.box[last] * problem.element_bytes(0);
  CHECK(row % 16 == 0);
  CHECK(row <= rounded(candidate.nest.shape[last] * problem.element_bytes(0), 16ULL * parts));
}

void check_limits(const Candidate& candidate, const Problem& problem) {
  INFO(tests::choice_text(candidate));
  check_lines(candidate);
  const Footprint footprint = candidate.family->footprint(candidate, problem);
  CHECK(footprint.dynamic_shared_bytes <= (footprint.by_engine ? max_cta_bytes : max_shared));
  CHECK(footprint.dynamic_shared_bytes + footprint.static_shared_bytes <= max_cta_bytes);
  CHECK(footprint.threads % 32 == 0);
  CHECK(footprint.threads >= 32);
  CHECK(footprint.threads <= 1024);
  if (through_maps(candidate)) return check_engine(candidate, problem, footprint);
  // Tiles of the copy engine may extend beyond a tensor. tests/spec tests their rules.
  if (candidate.family->info().does("tiles")) {
    if (!candidate.family->info().flat) check_maps(make_kernel_plan(candidate, problem));
    return;
  }
  const std::uint32_t unit = unit_of(candidate, problem);
  const std::uint32_t rank = std::max(candidate.nest.rank, 1U);
  CHECK(footprint.box[rank - 1] % unit == 0);
  if (transposes(candidate)) CHECK(footprint.box[facts_of<BlockFacts>(candidate).column] % unit == 0);
  for (std::uint32_t d = 0; d < rank; ++d) {
    INFO("dimension " << d);
    CHECK(footprint.box[d] >= 1);
    CHECK(footprint.box[d] <= max_box_extent(candidate, problem, d));
  }
}

std::string default_key(const Move& move) {
  const Problem problem = make_problem(move);
  return std::string(make_kernel_plan(default_candidate(problem), problem).key());
}

/// The number of different default kernels for dense transposes of matrices with each of `extents` rows.
std::size_t kernels_of_transposes(ElementType type, const std::vector<std::uint64_t>& extents) {
  std::set<std::string> keys;
  for (const std::uint64_t extent : extents) {
    keys.insert(default_key(permutation(type, {extent, 2048}, {1, 0})));
  }
  return keys.size();
}

std::vector<std::uint64_t> multiples(std::uint64_t first, std::uint64_t last, std::uint64_t step) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t n = first; n <= last; n += step) all.push_back(n);
  return all;
}

}  // namespace

TEST_CASE("every known move has the default kernel that suits its views") {
  for (const auto& [name, move, traits] : tests::known_moves()) {
    INFO(name);
    const Problem problem = make_problem(move);
    const std::vector<Candidate> candidates = candidates_of(problem);
    REQUIRE(!candidates.empty());
    const Candidate& chosen = candidates[default_of(candidates)];
    CHECK(chosen.default_choice != DefaultChoice::no);
    CHECK(tests::traits(chosen, problem) == traits);
    for (const Candidate& candidate : candidates) {
      // Vectors of 8 bytes are aligned more often, so their kernels suit more views.
      const bool narrow = transposes(candidate) && facts_of<BlockFacts>(candidate).vector_bytes() == 8;
      // Candidates of other families have other traits.
      if (candidate.family == chosen.family && !narrow && !is_tiny_strided_copy(problem))
        CHECK(tests::traits(candidate, problem) == traits);
      check_limits(candidate, problem);
    }
  }
}

TEST_CASE("all candidates of a problem differ, in their choices and texts") {
  for (const auto& [name, move, traits] : tests::known_moves()) {
    INFO(name);
    std::set<std::string> choices;
    std::set<std::string> keys;
    const Problem problem = make_problem(move);
    const std::vector<Candidate> candidates = candidates_of(problem);
    for (const Candidate& candidate : candidates) {
      choices.insert(tests::choice_text(candidate));
      const std::string key(make_kernel_plan(candidate, problem).key());
      // Only kernels that take tiles of any size serve several candidates.
      CHECK((keys.insert(key).second || any_size(candidate)));
    }
    CHECK(choices.size() == candidates.size());
  }
}

TEST_CASE("the order of families changes neither the default candidate nor the shape class") {
  const auto families = all_families();
  std::vector<const Family*> order(families.begin(), families.end());
  reference::Random random(20261201);
  const auto candidates_in_order = [&](const Problem& problem) {
    std::vector<Candidate> candidates;
    for (const Family* family : order) {
      if (family->info().does(problem.operation())) family->add_candidates(problem, candidates);
    }
    return candidates;
  };
  const auto check = [&](const Move& move) {
    const Problem problem = make_problem(move);
    if (problem.nest.empty()) return;
    const std::vector<Candidate> expected = candidates_of(problem);
    const Candidate& chosen = expected[default_of(expected)];
    CHECK(chosen.default_choice != DefaultChoice::no);
    CHECK(std::ranges::count(expected, chosen.default_choice, &Candidate::default_choice) == 1);
    for (int n = 0; n < 4; ++n) {
      n == 0 ? std::ranges::reverse(order) : std::ranges::shuffle(order, random);
      const std::vector<Candidate> candidates = candidates_in_order(problem);
      CHECK(candidates.size() == expected.size());
      const Candidate& found = candidates[default_of(candidates)];
      CHECK(found == chosen);
      CHECK(shape_class_of(problem, found) == shape_class_of(problem, chosen));
      CHECK(shape_class_of(problem, found) == shape_class(move, {}));
    }
  };
  for (const auto& [name, move, traits] : tests::known_moves()) {
    INFO(name);
    check(move);
  }
  const std::uint64_t seed = reference::seed(20261121);
  for (std::uint64_t n = 0; n < 300; ++n) {
    INFO("TMAJIT_SEED=" << seed << ", case " << n);
    check(tests::random_move(seed + n));
  }
}

TEST_CASE("for large tensors the default tile has sides of 256 bytes, or 4 KiB of a row") {
  const auto box = [](const Move& move) {
    const Problem problem = make_problem(move);
    const KernelPlan plan = make_kernel_plan(default_candidate(problem), problem);
    return plan.shape().tile;
  };
  using Box = std::vector<std::uint32_t>;
  CHECK(box(permutation(ElementType::f32, {4096, 4096}, {1, 0})) == Box{64, 64});
  CHECK(box(permutation(ElementType::f16, {4096, 4096}, {1, 0})) == Box{128, 128});
  CHECK(box(permutation(ElementType::f64, {4096, 4096}, {1, 0})) == Box{32, 32});
  // The 64 channels fill one side. The pixels' two dimensions merge into one of 3136.
  CHECK(box(permutation(ElementType::f32, {8, 64, 56, 56}, {0, 2, 3, 1})) == Box{1, 64, 64});
  CHECK(box({tests::dense(ElementType::f32, {4096, 4096}, tests::destination_address),
             {tests::dense(ElementType::f32, {4096, 4096})}}) == Box{1024});
}

TEST_CASE("only large transposes have candidates whose tiles follow the source's order") {
  using Dimensions = std::vector<std::uint32_t>;
  const auto orders = [](const Move& move) {
    std::map<TileOrder, Dimensions> found;
    for (const Candidate& candidate : candidates_of(move)) {
      if (!transposes(candidate)) continue;
      const auto facts = facts_of<BlockFacts>(candidate);
      const PerDimension order = tile_dimensions(facts);
      found[facts.order] = Dimensions(order.begin(), order.begin() + facts.rank);
    }
    return found;
  };
  const auto reversal = orders(permutation(ElementType::f32, {64, 128, 256, 512}, {3, 2, 1, 0}));
  CHECK(reversal.at(TileOrder::destination) == Dimensions{0, 1, 2, 3});
  CHECK(reversal.at(TileOrder::source) == Dimensions{3, 2, 1, 0});
  const auto matrix = orders(permutation(ElementType::f64, {8192, 16384}, {1, 0}));
  CHECK(matrix.size() == 2);
  CHECK(orders(permutation(ElementType::f32, {64, 128, 256}, {2, 1, 0})).size() == 1);
}

TEST_CASE("moves of similar extents share a kernel") {
  // Extents that are multiples of 16 bytes and those that are not have different kernels.
  CHECK(kernels_of_transposes(ElementType::f32, multiples(4000, 4800, 4)) == 1);
  CHECK(kernels_of_transposes(ElementType::f16, multiples(4000, 4800, 8)) == 1);
  CHECK(kernels_of_transposes(ElementType::f32, multiples(4001, 4801, 4)) == 1);
  // Tiles of 64, 48 or 32 lines.
  CHECK(kernels_of_transposes(ElementType::f32, multiples(260, 800, 4)) <= 3);

  std::set<std::string> keys;
  for (std::uint64_t n = 2048; n < 2348; ++n) {
    const Move move{.destination = tests::dense(ElementType::f32, {n, 1024}, tests::destination_address),
                    .sources = {tests::strided(ElementType::f32, {n, 1024}, {2048, 1})}};
    keys.insert(default_key(move));
  }
  CHECK(keys.size() == 1);

  keys.clear();
  for (std::uint64_t n = 8196; n < 9000; n += 4) {
    const Move move{.destination = tests::dense(ElementType::f32, {64, n}, tests::destination_address),
                    .sources = {tests::strided(ElementType::f32, {64, n}, {2LL * 9000, 2})}};
    keys.insert(default_key(move));
  }
  CHECK(keys.size() == 1);
}

TEST_CASE("a smaller tile is used if much of the last tile would be empty") {
  const auto side = [](std::uint64_t extent) {
    return facts_of<BlockFacts>(default_candidate(permutation(ElementType::f32, {extent, 65536}, {1, 0})))
        .box[1];
  };
  CHECK(side(4096) == 64);
  CHECK(side(96) == 48);  // two tiles of 48, not one and a half of 64
  CHECK(side(80) == 48);
  CHECK(side(40) == 40);
}

TEST_CASE("a nest whose direction is reversed for an image accesses the same elements") {
  const Move move{.destination = tests::dense(ElementType::f32, {512, 512}, tests::destination_address),
                  .sources = {tests::strided(ElementType::f32, {512, 512}, {-1, 512},
                                             tests::source_address + 511ULL * 4)}};
  const Problem problem = make_problem(move);
  const GeneralKernel kernel = plan_general(problem, {});
  CHECK(problem.nest.operand[1].strides[0] == -1);
  CHECK(kernel.nest.operand[1].strides[0] == 1);
  CHECK(kernel.nest.operand[0].strides[0] == -512);
  CHECK(kernel.nest.operand[0].offset == 511LL * 512);
  CHECK(kernel.nest.operand[1].offset == -511);
}

TEST_CASE("limits hold for random problems of up to eight sources") {
  const std::uint64_t seed = reference::seed(20261121);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  std::uint32_t max_sources = 0;
  std::uint32_t max_shared_seen = 0;
  std::set<std::string_view> family_names;
  for (std::uint64_t n = 0; n < 2000; ++n) {
    INFO("TMAJIT_SEED=" << seed << ", case " << n);
    const Problem problem = make_problem(tests::random_move(seed + n));
    INFO(problem.nest.text());
    std::vector<Candidate> candidates = candidates_of(problem);
    // Sizes that no family proposes.
    for (const std::uint32_t run : {16U, 1024U, 4096U}) {
      GeneralKernel kernel = plan_general(problem, {.destination_run = run, .source_run = 4096});
      Candidate candidate = default_candidate(problem);
      candidate.family = &general_family();
      candidate.nest = kernel.nest;
      const ChunkChoice choice{kernel.facts.box, kernel.facts.threads};
      if (!kernel.facts.has_image()) (void)take_tile(kernel.facts);
      candidates.push_back(tests::with_facts(std::move(candidate), kernel.facts, choice));
    }
    for (const Candidate& candidate : candidates) {
      check_limits(candidate, problem);
      family_names.insert(candidate.family->name());
      const Footprint footprint = candidate.family->footprint(candidate, problem);
      if (!footprint.by_engine) max_shared_seen = std::max(max_shared_seen, footprint.dynamic_shared_bytes);
    }
    max_sources = std::max(max_sources, problem.sources());
  }
  CHECK(max_sources == 8);
  CHECK(max_shared_seen > max_shared / 2);  // some kernels came near the limit
  CHECK(family_names.contains("general"));
}

TEST_CASE("limits hold for permutations of short dimensions, over which contiguous runs extend") {
  const std::uint64_t seed = reference::seed(20261123);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  std::mt19937_64 random(seed);
  std::size_t transposes_seen = 0;
  for (std::uint64_t n = 0; n < 1000; ++n) {
    std::vector<std::uint64_t> shape(2 + random() % 3);
    for (std::uint64_t& extent : shape) extent = 1 + random() % 24;
    std::vector<std::uint32_t> axes(shape.size());
    std::iota(axes.begin(), axes.end(), 0U);
    std::shuffle(axes.begin(), axes.end(), random);
    constexpr ElementType types[] = {ElementType::u8, ElementType::u16, ElementType::f32, ElementType::f64};
    const Problem problem = make_problem(permutation(types[random() % 4], shape, axes));
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << problem.nest.text());
    for (const Candidate& candidate : candidates_of(problem)) {
      check_limits(candidate, problem);
      transposes_seen += transposes(candidate) ? 1 : 0;
    }
  }
  CHECK(transposes_seen > 1000);
}

TEST_CASE("no candidate needs more shared memory than a CTA can have") {
  const std::uint64_t seed = reference::seed(20261126);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  constexpr ElementType types[] = {ElementType::u8, ElementType::bf16, ElementType::f32, ElementType::f64};
  for (std::uint64_t n = 0; n < 3000; ++n) {
    reference::Random random(seed + n);
    tests::Shape shape;
    std::uint64_t elements = 1;
    for (std::uint64_t d = reference::between(random, 2, 7); d > 0; --d) {
      const std::uint64_t most = std::max<std::uint64_t>(2'000'000 / elements, 1);
      shape.push_back(std::min(reference::between(random, 1, reference::one_in(random, 3) ? 600 : 20), most));
      elements *= shape.back();
    }
    std::vector<std::uint32_t> axes(shape.size());
    std::iota(axes.begin(), axes.end(), 0U);
    std::shuffle(axes.begin(), axes.end(), random);
    const Problem problem = make_problem(tests::permutation(reference::one_of(random, types), shape, axes));
    if (problem.nest.empty()) continue;
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << problem.nest.text());
    for (const Candidate& candidate : tests::candidates_of(problem)) {
      const Footprint footprint = candidate.family->footprint(candidate, problem);
      INFO(candidate.family->name() << ' ' << candidate.family->choice(candidate).text());
      CHECK(footprint.static_shared_bytes + footprint.dynamic_shared_bytes <= max_shared_bytes_per_cta);
      CHECK(resident_ctas(footprint) > 0);
    }
  }
}
