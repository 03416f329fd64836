/// Plans of kernels whose CTAs work together: which problems they take, and that the parts that the CTAs load
/// make up the tiles.
#include "families/list.hpp"
#include "families/multicast/multicast_layout.hpp"
#include "plan/moves.hpp"
#include "reference/random_cluster_moves.hpp"

#include <tmajit/plan.hpp>
#include <tmajit/validate.hpp>

#include <bit>
#include <cstring>
#include <iostream>
#include <set>

#include <catch2/catch_test_macros.hpp>
#include <tmajit_params/cluster_grid.cuh>

using namespace tmajit;

namespace {

std::vector<Candidate> candidates_of(const Family& family, const Problem& problem) {
  std::vector<Candidate> candidates;
  if (!problem.nest.empty()) family.add_candidates(problem, candidates);
  return candidates;
}

Move move_of(const reference::ClusterMove& drawn) {
  Move move{
      .destination = {drawn.destination, tests::to_address}, .sources = {}, .body = Map{drawn.expression}};
  DevicePtr address = tests::from_address;
  for (const TensorView& source : drawn.sources) {
    move.sources.push_back({source, address});
    address += DevicePtr{1} << 40;
  }
  return move;
}

/// Whether the parts of all CTAs, one behind the other, are the tile, and each is what a load can bring.
void check_image(const MulticastFacts& facts, const MulticastImage& image, std::uint32_t s) {
  INFO("source " << s);
  CHECK(image.all_parts() % (facts.is_shared(s) ? facts.cluster : 1) == 0);
  CHECK(image.offset % 128 == 0);
  if (image.all_parts() > 1) CHECK(image.bytes / image.all_parts() % 128 == 0);
  bool cut = false;
  for (std::uint32_t k = image.rank; k-- > 0;) {
    const std::uint32_t side = facts.box[image.dimension[k]];
    CHECK(side % image.parts[k] == 0);
    // A part is contiguous: whole dimensions further in, single indices further out.
    if (cut) CHECK(side == image.parts[k]);
    cut = cut || image.parts[k] > 1;
  }
  CHECK(image.step[image.rank - 1] == size_of(facts.source_type(s)));
}

/// Clusters for all tiles, whose CTAs have a box each, side by side along one dimension.
void check_launch(const KernelPlan& plan, const MulticastFacts& facts, const CanonicalNest& nest) {
  const LaunchShape& shape = plan.launch_shape();
  CHECK(shape.cluster == std::array<std::uint32_t, 3>{facts.cluster, 1, 1});
  CHECK(shape.grid[0] % facts.cluster == 0);
  CHECK(shape.shared_bytes <= max_shared_bytes_per_cta);
  std::uint64_t tiles = 1;
  for (std::uint32_t d = 0; d < facts.rank; ++d) {
    const std::uint64_t side = std::uint64_t{facts.box[d]} * (d == facts.along ? facts.cluster : 1);
    tiles *= (nest.shape[d] + side - 1) / side;
  }
  for (const Parameter& parameter : plan.parameters()) {
    if (parameter.map)
      CHECK(validate(*parameter.map, plan.operand_address(static_cast<std::uint32_t>(parameter.map_of)))
                .empty());
    if (parameter.name != "grid") continue;
    struct {
      std::uint32_t count, share;
    } end{};
    std::memcpy(&end, &plan.parameter_bytes()[parameter.offset + parameter.bytes - sizeof end], sizeof end);
    CHECK(end.count == tiles);
    CHECK(std::uint64_t{end.share} * shape.grid[0] / facts.cluster >= tiles);
    CHECK(std::uint64_t{end.share} * (shape.grid[0] / facts.cluster - 1) < tiles);
  }
}

}  // namespace

TEST_CASE("multicast kernels cut what repeats into one part for each CTA of a cluster") {
  const std::uint64_t seed = reference::seed(20261210);
  std::cout << "TMAJIT_SEED=" << seed << std::endl;
  std::set<std::uint32_t> clusters;
  std::set<std::uint32_t> cut_dimensions;
  for (std::uint64_t n = 0; n < 600; ++n) {
    INFO("TMAJIT_SEED=" << seed << ", case " << n);
    const Problem problem = make_problem(move_of(reference::random_repetition(seed + n, 200'000)));
    for (const Candidate& candidate : candidates_of(multicast_family(), problem)) {
      INFO(tests::choice_text(candidate));
      CHECK_FALSE(candidate.common);
      const auto facts = facts_of<MulticastFacts>(candidate);
      CHECK(facts.along + 1 < facts.rank);
      CHECK(facts.box[facts.along] == 1);
      CHECK(facts.cluster < 2 * problem.nest.shape[facts.along]);
      const MulticastLayout layout = multicast_layout(facts);
      std::uint32_t end = 0;
      std::uint32_t shared = 0;
      for (std::uint32_t s = 0; s < facts.sources; ++s) {
        const MulticastImage& image = layout.image[s];
        check_image(facts, image, s);
        CHECK(image.offset >= end);
        end = image.offset + image.bytes;
        if (facts.is_shared(s)) ++shared;
        for (std::uint32_t k = 0; k < image.rank; ++k) {
          if (image.parts[k] > 1) cut_dimensions.insert(image.rank - k);
        }
      }
      CHECK(end <= layout.stage_bytes);
      CHECK(shared > 0);
      for (std::uint32_t d = 0; d < facts.rank; ++d) CHECK(std::has_single_bit(facts.box[d]));
      check_launch(make_kernel_plan(candidate, problem), facts, problem.nest);
      clusters.insert(facts.cluster);
    }
  }
  CHECK(clusters == std::set<std::uint32_t>{1, 2, 4, 8});
  CHECK(cut_dimensions.size() > 2);
}

TEST_CASE("multicast kernels leave what they cannot load to others") {
  const auto count = [](const Tensor& source) {
    const Tensor destination = tests::dense(ElementType::f32, {16, 8, 512}, tests::to_address);
    return candidates_of(multicast_family(), make_problem({.destination = destination, .sources = {source}}))
        .size();
  };
  constexpr auto f32 = ElementType::f32;
  CHECK(count(tests::strided(f32, {16, 8, 512}, {0, 512, 1})) == 4);
  CHECK(count(tests::strided(f32, {16, 8, 512}, {512 * 8, 512, 1})) == 0);  // nothing repeats
  CHECK(count(tests::strided(f32, {16, 8, 512}, {0, 513, 1})) == 0);        // rows between 16 bytes
  CHECK(count(tests::strided(f32, {16, 8, 512}, {0, 1, 8})) == 0);          // rows that are no rows
  CHECK(count(tests::strided(f32, {16, 8, 512}, {512, 8192, 0})) == 0);     // repeated along the row alone
  CHECK(count(tests::strided(f32, {16, 8, 512}, {0, -512, 1}, tests::from_address + (1 << 20))) == 0);
  CHECK(count(tests::strided(f32, {16, 8, 512}, {0, 512, 1}, tests::from_address + 4)) == 0);
}

TEST_CASE("a planner takes kernels of clusters only by request") {
  const Tensor destination = tests::dense(ElementType::f32, {64, 1 << 20}, tests::to_address);
  const Move repeated{.destination = destination,
                      .sources = {tests::strided(ElementType::f32, {64, 1 << 20}, {0, 1})},
                      .body = Map{"x * 2"}};
  CHECK(plan(Operation::of({repeated}), {}).front().family().name != "multicast");
  const KernelPlan asked = plan(Operation::of({repeated}), {.family = "multicast"}).front();
  CHECK(asked.family().name == "multicast");
  CHECK(asked.choice().cluster == 2);
  CHECK(asked.choice().text().find("clusters of 2") != std::string::npos);
  CHECK(asked.why().find("2 CTAs of a cluster") != std::string::npos);
}
