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

/// The candidates of all families for a problem, in the planner's order.
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

/// A copy of the candidate with other facts and another choice.
template <class Facts, class Choice>
[[nodiscard]] tmajit::Candidate with(tmajit::Candidate candidate, const Facts& facts, const Choice& choice) {
  using Data = typename tmajit::TypedFamily<Facts, Choice>::Data;
  candidate.data = std::make_shared<const Data>(facts, choice, tmajit::NoLayout{});
  return candidate;
}

/// A reference to the number `name` of a choice.
[[nodiscard]] inline std::uint32_t& number_of(tmajit::KernelChoice& choice, std::string_view name) {
  return std::ranges::find(choice.numbers, name, &tmajit::KernelChoice::Number::name)->values[0];
}

/// "transpose 64x64, 256 threads".
[[nodiscard]] inline std::string choice_text(const tmajit::Candidate& candidate) {
  return candidate.family->choice(candidate).text();
}

[[nodiscard]] inline bool is_of(const tmajit::Candidate& candidate, std::string_view family) {
  return candidate.family->name() == family;
}

}  // namespace tests
