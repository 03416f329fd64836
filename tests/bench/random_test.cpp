/// The benchmark's random cases are unique and of the right size. The bytes counted for them and their
/// results are right.
#include "case_list.hpp"
#include "machine.hpp"
#include "reference/random_maps.hpp"
#include "workload.hpp"

#include <tmajit/sim.hpp>

#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

using namespace bench;

namespace {

/// The indices of the 32-byte sectors that a slice reads, found element by element.
std::set<std::uint64_t> touched_sectors(const Case& bench_case) {
  const Shape& shape = bench_case.destinations[0].shape;
  const Shape& source_shape = bench_case.sources[0].shape;
  const std::vector<std::uint32_t> order = bench_case.order(0);
  const std::vector<tmajit::Slice> slices = bench_case.arguments.slices("slices");
  std::set<std::uint64_t> sectors;
  for (std::uint64_t n = 0; n < bench_case.destinations[0].elements(); ++n) {
    Shape index(shape.size());
    std::uint64_t rest = n;
    for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d]) {
      index[order.empty() ? d : order[d]] = static_cast<std::uint64_t>(slices[d].start.value()) +
                                            rest % shape[d] * static_cast<std::uint64_t>(slices[d].step);
    }
    std::uint64_t at = 0;
    for (std::size_t d = 0; d < source_shape.size(); ++d) at = at * source_shape[d] + index[d];
    sectors.insert(at * tmajit::size_of(bench_case.sources[0].type) / 32);
  }
  return sectors;
}

}  // namespace

TEST_CASE("random cases are unique, within the size limits, and the same for the same seed") {
  const bool views = GENERATE(false, true);
  const ListOptions options{.seed = 5, .random = 60, .random_views = views};
  const std::vector<Case> cases = list_cases(options);
  const std::vector<Case> again = list_cases(options);
  CHECK(cases.size() == (views ? 6 : 3) * options.random);
  std::set<std::string> labels;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& bench_case = cases[i];
    CAPTURE(bench_case.label());
    CHECK(labels.insert(bench_case.label()).second);
    CHECK(bench_case.label() == again[i].label());
    CHECK(bench_case.destinations[0].elements() >= 8 * Mi);
    CHECK(bench_case.destinations[0].elements() <= 256 * Mi);
    for (const Array& source : bench_case.sources) CHECK(source.elements() <= 512 * Mi);
  }
}

TEST_CASE("random views cover all operations and types, with permuted sources") {
  std::map<std::string, std::set<std::string>> types;
  std::map<std::string, std::size_t> permuted;
  for (const Case& bench_case : list_cases({.seed = 5, .random = 60, .random_views = true})) {
    types[bench_case.operation].insert(bench_case.types());
    permuted[bench_case.operation] += bench_case.orders.empty() ? 0 : 1;
  }
  CHECK(types.size() == 6);
  for (const auto& [operation, names] : types) {
    CAPTURE(operation);
    CHECK(names.size() == (operation == "cast" ? 20 : operation == "map" ? 6 : 3));
    CHECK(permuted[operation] > 5);
  }
}

TEST_CASE("the sectors of random slices are those counted element by element") {
  const std::uint64_t seed = reference::seed(20261122);
  for (const Case& bench_case :
       list_cases({.seed = seed, .tiny = true, .random = 300, .random_views = true})) {
    if (bench_case.operation != "slice") continue;
    INFO("TMAJIT_SEED=" << seed << ": " << bench_case.label());
    REQUIRE(traffic(bench_case).sector_bytes ==
            32 * touched_sectors(bench_case).size() + bench_case.destinations[0].bytes());
  }
}

TEST_CASE("random cases give the results that the host computes") {
  const std::uint64_t seed = reference::seed(20261122);
  const bool views = GENERATE(true, false);
  constexpr std::size_t count = 100;
  std::cout << "TMAJIT_SEED=" << seed << ", " << count << " of each kind" << std::endl;
  Machine machine(tmajit::make_sim_device());
  for (const Case& bench_case :
       list_cases({.seed = seed, .tiny = true, .random = views ? count : count / 3, .random_views = views})) {
    INFO("TMAJIT_SEED=" << seed << ": " << bench_case.label());
    const Workload workload(machine, bench_case, 1, seed);
    workload.require_right(bench_case, workload.prepare(bench_case).front());
  }
}
