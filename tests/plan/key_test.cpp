/// Keys of kernels in memory. A key must contain all facts, or moves would get the kernels of other moves.
#include "plan/cost_model.hpp"
#include "plan/moves.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/codegen.hpp>

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <set>
#include <string>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

std::string key_of(const Candidate& candidate, const Problem& problem) {
  return std::string(make_kernel_plan(candidate, problem).key());
}

/// The same move with other addresses of the same alignment.
Move at_other_addresses(Move move) {
  move.destination.address += 1 << 20;
  DevicePtr distance = 1 << 20;
  for (Tensor& source : move.sources) {
    distance += 1 << 20;
    source.address += distance;
  }
  return move;
}

}  // namespace

TEST_CASE("a key consists of the family, all bytes of its facts, and the expression") {
  std::set<std::string_view> families;
  for (const auto& [name, move, traits] : tests::known_moves()) {
    INFO(name);
    const Problem problem = make_problem(move);
    const std::vector<Candidate> candidates = tests::candidates_of(problem);
    std::set<std::string_view> done;
    for (const Candidate& candidate : candidates) {
      if (!done.insert(candidate.family->name()).second) continue;
      families.insert(candidate.family->name());
      // One candidate of each family suffices.
      const KernelPlan plan = make_kernel_plan(candidate, problem);
      std::string expected(candidate.family->name());
      expected += '\0';
      expected += candidate.data->facts_bytes();
      expected += problem.expression();
      CHECK(plan.key() == expected);
      CHECK(plan.expression() == problem.expression());
    }
  }
  CHECK(families.size() >= 7);
}

TEST_CASE("a key changes with the number of sources and the expression") {
  std::set<std::string> keys;
  // Candidates of one problem that differ only in the tile may share a kernel.
  const auto all_new = [&](const Problem& problem) {
    std::set<std::string> own;
    for (const Candidate& candidate : tests::candidates_of(problem)) own.insert(key_of(candidate, problem));
    const std::size_t before = keys.size();
    keys.insert(own.begin(), own.end());
    return keys.size() == before + own.size();
  };
  const Tensor to = tests::dense(ElementType::f32, {512, 512}, tests::destination_address);
  for (std::size_t sources = 1; sources <= max_inputs; ++sources) {
    for (const char* expression : {"x0", "x0 ", "x0 + x0", "x0 + 1"}) {
      const Move move{to, std::vector(sources, tests::dense(ElementType::f32, {512, 512})), Map{expression}};
      const Problem problem = make_problem(move);
      CHECK(all_new(problem));
    }
  }
  const Problem bits = make_problem({to, {tests::dense(ElementType::f32, {512, 512})}});
  CHECK(all_new(bits));
}

TEST_CASE("equal moves at other addresses have equal keys and sources") {
  for (const auto& [name, move, traits] : tests::known_moves()) {
    INFO(name);
    const Problem from = make_problem(move);
    const Problem to = make_problem(at_other_addresses(move));
    const std::vector<Candidate> here = tests::candidates_of(from);
    const std::vector<Candidate> there = tests::candidates_of(to);
    REQUIRE(here.size() == there.size());
    for (std::size_t i = 0; i < here.size(); ++i) {
      CHECK(here[i] == there[i]);
      CHECK(key_of(here[i], from) == key_of(there[i], to));
    }
    const KernelPlan first = plan_kernels(Operation::of({move})).at(0);
    const KernelPlan second = plan_kernels(Operation::of({at_other_addresses(move)})).at(0);
    CHECK(source(first).text == source(second).text);
    CHECK(source(first).entry == "tmajit_" + std::string(first.family().name));
  }
}

TEST_CASE("random moves have equal keys if and only if their sources are equal") {
  const std::uint64_t seed = reference::seed(20261121);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  std::map<std::string, std::string> source_of;
  std::map<std::string, std::string> key_of_source;
  std::uint64_t repeated = 0;
  const std::uint64_t cases = reference::from_environment("TMAJIT_CASES", 250);
  for (std::uint64_t n = 0; n < cases; ++n) {
    INFO("TMAJIT_SEED=" << seed << ", case " << n);
    // Few patterns of sizes, so that keys repeat.
    const Move drawn = tests::random_move(seed + n % 200, 60);
    for (const Move& move : {drawn, at_other_addresses(drawn)}) {
      const Problem problem = make_problem(move);
      const std::vector<Candidate> candidates = tests::candidates_of(problem);
      for (const std::size_t i : {default_of(candidates), candidates.size() - 1}) {
        const KernelPlan plan = make_kernel_plan(candidates[i], problem);
        const std::string text = source(plan).text;
        const std::string key(plan.key());
        INFO(plan.choice().text());
        const auto [known, is_new] = source_of.emplace(key, text);
        repeated += is_new ? 0 : 1;
        REQUIRE(known->second == text);
        REQUIRE(key_of_source.emplace(text, key).first->second == key);
      }
    }
  }
  CHECK(repeated > cases * 2 / 5);
}
