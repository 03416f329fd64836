/// Which kernels the planner considers: the method that fits the views, few choices of sizes, and limits that
/// hold for any problem.
#include "plan/engine_tiles.hpp"
#include "plan/moves.hpp"
#include "reference/random_maps.hpp"

#include <algorithm>
#include <iostream>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::permutation;

namespace {

constexpr std::uint32_t most_shared = 96 * 1024;
constexpr std::uint32_t most_of_cta = 227 * 1024;  // static and dynamic

std::vector<MoveCandidate> candidates_of(const Move& move) {
  return move_candidates(move_problem(move));
}

std::uint64_t rounded(std::uint64_t extent, std::uint64_t unit) {
  return (extent + unit - 1) / unit * unit;
}

/// Elements of a dimension that no tile can do without: its extent, in whole vectors or chunks where those
/// are.
std::uint64_t most_of_box(const MoveCandidate& candidate, std::uint32_t d) {
  const MoveKernel& kernel = candidate.kernel;
  const std::uint64_t extent = d < candidate.nest.rank ? candidate.nest.shape[d] : 1;
  const std::uint32_t vector = kernel.method == MoveMethod::rows ? 16 / kernel.element_bytes : kernel.chunk;
  if (kernel.method == MoveMethod::gather) return extent;
  if (kernel.method == MoveMethod::general)
    return d + 1 == kernel.rank ? rounded(extent, kernel.chunk) : extent;
  const bool by_vectors = d + 1 == kernel.rank || (kernel.transposes() && d == kernel.column);
  return by_vectors ? rounded(extent, vector) : extent;
}

/// What kernels rely on: the lines of images and of a transpose's blocks run forwards in memory, without
/// gaps.
void check_lines(const MoveCandidate& candidate) {
  const MoveKernel& kernel = candidate.kernel;
  if (kernel.transposes()) {
    CHECK(kernel.column + 1 < kernel.rank);
    CHECK(kernel.source_order[kernel.rank - 1] == kernel.column);
    CHECK(candidate.nest.operand[1].strides[kernel.column] == 1);
  }
  if (kernel.method != MoveMethod::general) return;
  for (std::uint32_t i = 0; i < kernel.sources; ++i) {
    const SourcePlan& plan = kernel.source[i];
    if (plan.access != SourceAccess::image) continue;
    INFO("source " << i);
    CHECK(plan.run >= 1);
    CHECK(candidate.nest.operand[i + 1].strides[plan.order[kernel.rank - 1]] == 1);
    CHECK(plan.pitch % 16 == 0);
    CHECK(plan.offset % 16 == 0);
  }
}

/// Boxes that the copy engine can load, in rows of whole 16-byte chunks.
void check_engine(const MoveCandidate& candidate) {
  const MoveKernel& kernel = candidate.kernel;
  const EngineLayout layout = engine_layout(kernel);
  CHECK(map_order(kernel).rank() <= max_map_rank);
  CHECK(layout.part_bytes % 128 == 0);
  CHECK(layout.load_bytes <= layout.parts * layout.part_bytes);
  const std::uint32_t row = kernel.box[kernel.rank - 1] * kernel.element_bytes;
  CHECK(row % 16 == 0);
  CHECK(row <= rounded(candidate.nest.shape[kernel.rank - 1] * kernel.element_bytes, 16 * layout.parts));
}

void check_limits(const MoveCandidate& candidate) {
  check_lines(candidate);
  const MoveKernel& kernel = candidate.kernel;
  CHECK(kernel.shared_bytes() <= (kernel.uses_engine() ? most_of_cta : most_shared));
  CHECK(kernel.image_bytes() <= most_of_cta);
  CHECK(kernel.threads % 32 == 0);
  CHECK(kernel.threads >= 32);
  CHECK(kernel.threads <= 1024);
  if (kernel.uses_engine()) return check_engine(candidate);
  const std::uint32_t unit = kernel.method == MoveMethod::rows ? 16 / kernel.element_bytes : kernel.chunk;
  if (kernel.method != MoveMethod::gather) CHECK(kernel.box[kernel.rank - 1] % unit == 0);
  if (kernel.transposes()) CHECK(kernel.box[kernel.column] % unit == 0);
  for (std::uint32_t d = 0; d < kernel.rank; ++d) {
    INFO("dimension " << d);
    CHECK(kernel.box[d] >= 1);
    CHECK(kernel.box[d] <= most_of_box(candidate, d));
  }
}

/// Different first candidates of dense transposes to a matrix of `rows` by each of `extents`.
std::size_t kernels_of_transposes(ElementType type, const std::vector<std::uint64_t>& extents) {
  std::set<std::string> recipes;
  for (const std::uint64_t extent : extents) {
    const Move move = permutation(type, {extent, 2048}, {1, 0});
    recipes.insert(move_recipe(candidates_of(move).front().kernel, {}));
  }
  return recipes.size();
}

std::vector<std::uint64_t> multiples(std::uint64_t first, std::uint64_t last, std::uint64_t step) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t n = first; n <= last; n += step) all.push_back(n);
  return all;
}

}  // namespace

TEST_CASE("views of every known kind get the kernel that fits them") {
  for (const auto& [name, move, traits] : tests::known_moves()) {
    INFO(name);
    const std::vector<MoveCandidate> candidates = candidates_of(move);
    REQUIRE(!candidates.empty());
    for (const MoveCandidate& candidate : candidates) {
      const MoveKernel& kernel = candidate.kernel;
      // Vectors of 8 bytes are aligned, and fit, more often.
      const bool narrow = kernel.transposes() && kernel.vector_bytes() == 8;
      // Others come after the method that fits best.
      const bool fits = kernel.method == candidates.front().kernel.method;
      if (fits && !narrow) CHECK(tests::traits(kernel) == traits);
      check_limits(candidate);
    }
  }
}

TEST_CASE("candidates differ from each other, and say so") {
  for (const auto& [name, move, traits] : tests::known_moves()) {
    INFO(name);
    std::set<std::string> choices;
    std::set<std::string> recipes;
    const std::vector<MoveCandidate> candidates = candidates_of(move);
    for (const MoveCandidate& candidate : candidates) {
      choices.insert(candidate.kernel.choice());
      recipes.insert(move_recipe(candidate.kernel, move.expression));
    }
    CHECK(choices.size() == candidates.size());
    CHECK(recipes.size() == candidates.size());
  }
}

TEST_CASE("the first candidate for large tensors has tiles of 256 bytes a side, or 8 KiB of a row") {
  const auto box = [](const Move& move) {
    const MoveKernel kernel = candidates_of(move).front().kernel;
    return std::vector(kernel.box.begin(), kernel.box.begin() + kernel.rank);
  };
  using Box = std::vector<std::uint32_t>;
  CHECK(box(permutation(ElementType::f32, {4096, 4096}, {1, 0})) == Box{64, 64});
  CHECK(box(permutation(ElementType::f16, {4096, 4096}, {1, 0})) == Box{128, 128});
  CHECK(box(permutation(ElementType::f64, {4096, 4096}, {1, 0})) == Box{32, 32});
  // 64 channels are shorter than a side, 3136 pixels go on over both their dimensions.
  CHECK(box(permutation(ElementType::f32, {8, 64, 56, 56}, {0, 2, 3, 1})) == Box{1, 64, 64});
  CHECK(box({tests::dense(ElementType::f32, {4096, 4096}, tests::to_address),
             {tests::dense(ElementType::f32, {4096, 4096})}}) == Box{1024});
}

TEST_CASE("large transposes may take their tiles in other orders, small ones not") {
  using Dimensions = std::vector<std::uint32_t>;
  const auto orders = [](const Move& move) {
    std::map<std::string_view, Dimensions> found;
    for (const MoveCandidate& candidate : candidates_of(move)) {
      const auto order = candidate.kernel.tile_dimensions();
      found[name(candidate.kernel.tile_order)] =
          Dimensions(order.begin(), order.begin() + candidate.kernel.rank);
    }
    return found;
  };
  const auto reversal = orders(permutation(ElementType::f32, {64, 128, 256, 512}, {3, 2, 1, 0}));
  CHECK(reversal.at("destination") == Dimensions{0, 1, 2, 3});
  CHECK(reversal.at("source") == Dimensions{3, 2, 1, 0});
  CHECK(reversal.at("square") == Dimensions{1, 2, 0, 3});
  CHECK(reversal.at("grouped") == Dimensions{0, 1, 2, 3});
  // Of a matrix, a square would be the usual order.
  const auto matrix = orders(permutation(ElementType::f64, {8192, 16384}, {1, 0}));
  CHECK(matrix.size() == 3);
  CHECK(!matrix.contains("square"));
  CHECK(orders(permutation(ElementType::f32, {64, 128, 256}, {2, 1, 0})).size() == 1);
  // A column of one tile has no groups.
  CHECK(!orders(permutation(ElementType::f32, {4096, 512, 16}, {2, 1, 0})).contains("grouped"));
}

TEST_CASE("groups of tiles that extents end in take CTAs for all of a group") {
  const Move move = permutation(ElementType::f32, {8192, 8000}, {1, 0});
  MoveCandidate candidate = candidates_of(move).front();
  CHECK(move_shape(candidate.kernel, candidate.nest).grid[0] == 125 * 128);
  candidate.kernel.tile_order = TileOrder::grouped;
  CHECK(move_shape(candidate.kernel, candidate.nest).grid[0] == 128 * 128);
}

TEST_CASE("extents that differ a little share a kernel") {
  // Multiples of 16 bytes and others are two kinds.
  CHECK(kernels_of_transposes(ElementType::f32, multiples(4000, 4800, 4)) == 1);
  CHECK(kernels_of_transposes(ElementType::f16, multiples(4000, 4800, 8)) == 1);
  CHECK(kernels_of_transposes(ElementType::f32, multiples(4001, 4801, 4)) == 1);
  // Tiles of 64, 48 or 32 lines.
  CHECK(kernels_of_transposes(ElementType::f32, multiples(68, 800, 4)) <= 3);

  std::set<std::string> recipes;
  for (std::uint64_t n = 2048; n < 2348; ++n) {
    const Move move{.destination = tests::dense(ElementType::f32, {n, 1024}, tests::to_address),
                    .sources = {tests::strided(ElementType::f32, {n, 1024}, {2048, 1})}};
    recipes.insert(move_recipe(candidates_of(move).front().kernel, {}));
  }
  CHECK(recipes.size() == 1);

  recipes.clear();
  for (std::uint64_t n = 8196; n < 9000; n += 4) {
    const Move move{.destination = tests::dense(ElementType::f32, {64, n}, tests::to_address),
                    .sources = {tests::strided(ElementType::f32, {64, n}, {2 * 9000, 2})}};
    recipes.insert(move_recipe(candidates_of(move).front().kernel, {}));
  }
  CHECK(recipes.size() == 1);
}

TEST_CASE("a tile of 256 bytes gives way where much of the last would be empty") {
  const auto side = [](std::uint64_t extent) {
    return candidates_of(permutation(ElementType::f32, {extent, 4096}, {1, 0})).front().kernel.box[1];
  };
  CHECK(side(4096) == 64);
  CHECK(side(96) == 48);  // two, not one and a half
  CHECK(side(80) == 48);
  CHECK(side(40) == 40);
}

TEST_CASE("a nest turned round for an image still touches the same elements") {
  const Move move{
      .destination = tests::dense(ElementType::f32, {512, 512}, tests::to_address),
      .sources = {tests::strided(ElementType::f32, {512, 512}, {-1, 512}, tests::from_address + 511 * 4)}};
  const MoveProblem problem = move_problem(move);
  const MoveCandidate candidate = general_candidate(problem, {});
  CHECK(problem.nest.operand[1].strides[0] == -1);
  CHECK(candidate.nest.operand[1].strides[0] == 1);
  CHECK(candidate.nest.operand[0].strides[0] == -512);
  CHECK(candidate.nest.operand[0].offset == 511 * 512);
  CHECK(candidate.nest.operand[1].offset == -511);
}

TEST_CASE("limits hold for random problems of up to eight sources") {
  const std::uint64_t seed = reference::seed(20261121);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  std::uint32_t most_sources = 0;
  std::uint32_t most_seen = 0;
  std::set<std::string_view> methods;
  for (std::uint64_t n = 0; n < 2000; ++n) {
    INFO("TMAJIT_SEED=" << seed << ", case " << n);
    const MoveProblem problem = tests::random_problem(seed + n);
    INFO(problem.nest.text());
    std::vector<MoveCandidate> candidates = move_candidates(problem);
    // Sizes that no table has yet.
    for (const std::uint32_t run : {16U, 1024U, 4096U}) {
      candidates.push_back(general_candidate(problem, {.destination_run = run, .source_run = 4096}));
    }
    for (const MoveCandidate& candidate : candidates) {
      check_limits(candidate);
      methods.insert(name(candidate.kernel.method));
      most_seen = std::max(most_seen, candidate.kernel.shared_bytes());
    }
    most_sources = std::max(most_sources, problem.sources());
  }
  CHECK(most_sources == 8);
  CHECK(most_seen > most_shared / 2);  // the limit was met
  CHECK(methods.contains("general"));
}

TEST_CASE("limits hold for permutations of short dimensions, which runs of either side go beyond") {
  const std::uint64_t seed = reference::seed(20261123);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  std::mt19937_64 random(seed);
  std::size_t blocks = 0;
  for (std::uint64_t n = 0; n < 1000; ++n) {
    std::vector<std::uint64_t> shape(2 + random() % 3);
    for (std::uint64_t& extent : shape) extent = 1 + random() % 24;
    std::vector<std::uint32_t> axes(shape.size());
    std::iota(axes.begin(), axes.end(), 0U);
    std::shuffle(axes.begin(), axes.end(), random);
    constexpr ElementType types[] = {ElementType::u8, ElementType::u16, ElementType::f32, ElementType::f64};
    const MoveProblem problem = move_problem(permutation(types[random() % 4], shape, axes));
    INFO("TMAJIT_SEED=" << seed << ", case " << n << ": " << problem.nest.text());
    for (const MoveCandidate& candidate : move_candidates(problem)) {
      check_limits(candidate);
      blocks += candidate.kernel.transposes() ? 1 : 0;
    }
  }
  CHECK(blocks > 1000);
}
