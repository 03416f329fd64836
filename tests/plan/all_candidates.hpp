#pragma once

#include "families/list.hpp"
#include "kernel/plan_state.hpp"
#include "operations/list.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tests {

// Helpers for tests of candidates. A candidate is a kernel that can solve a problem: a family, the facts that
// the kernel is specialised for, and a choice of launch parameters such as the tile and the threads.

/// The candidates of all families for a problem, in the order in which the planner collects them.
[[nodiscard]] inline std::vector<tmajit::Candidate> candidates_of(const tmajit::Problem& problem) {
  std::vector<tmajit::Candidate> candidates;
  for (const tmajit::Family* family : tmajit::all_families()) {
    if (family->info().does(problem.operation())) family->add_candidates(problem, candidates);
  }
  return candidates;
}
[[nodiscard]] inline std::vector<tmajit::Candidate> candidates_of(const tmajit::Move& move) {
  return candidates_of(tmajit::make_problem(move));
}

/// `candidate` with its facts and choice replaced. `Facts` and `Choice` must be its family's types, and the
/// family must have no layout.
template <class Facts, class Choice>
[[nodiscard]] tmajit::Candidate with_facts(tmajit::Candidate candidate, const Facts& facts,
                                           const Choice& choice) {
  using Data = typename tmajit::TypedFamily<Facts, Choice>::Data;
  candidate.data = std::make_shared<const Data>(facts, choice, tmajit::NoLayout{});
  return candidate;
}

/// The number with this name in a choice, which must have one. Can be assigned: number_in(choice, "order")
/// = 1.
[[nodiscard]] inline std::uint32_t& number_in(tmajit::KernelChoice& choice, std::string_view name) {
  return std::ranges::find(choice.numbers, name, &tmajit::KernelChoice::Number::name)->values[0];
}

/// The family and the choice of a candidate as text: "transpose 64x64, 256 threads".
[[nodiscard]] inline std::string choice_text(const tmajit::Candidate& candidate) {
  return candidate.family->choice(candidate).text();
}

/// Whether a candidate is a kernel of the family with this name.
[[nodiscard]] inline bool is_of_family(const tmajit::Candidate& candidate, std::string_view family) {
  return candidate.family->name() == family;
}

}  // namespace tests
