#include "lint/outlook.hpp"

#include <algorithm>
#include <unordered_map>

TMAJIT_BEGIN
namespace lint {
namespace {

/// More conditions and blocks than this make too many paths in any case.
constexpr std::size_t most_bits = 4'000'000;

}  // namespace

Outlook::Outlook(const ControlFlow& flow, const Conditions& conditions, llvm::ArrayRef<Formula> guards)
    : conditions_(conditions), asked_(flow.blocks().size()) {
  std::unordered_map<AtomId, std::vector<std::uint32_t>> askers;
  for (std::uint32_t i = 0; i < guards.size(); ++i) {
    conditions.for_each_atom(guards[i], [&](AtomId atom) {
      if (conditions.atom(atom).tests > 1) askers[atom].push_back(flow.block_of(i));
    });
  }
  if (askers.size() * asked_.size() > most_bits) return;
  for (const auto& [atom, blocks] : askers) spread(flow, atom, blocks);
  complete_ = true;
}

void Outlook::spread(const ControlFlow& flow, AtomId atom, std::vector<std::uint32_t> blocks) {
  while (!blocks.empty()) {
    const std::uint32_t block = blocks.back();
    blocks.pop_back();
    if (!asked_[block].test_and_set(atom)) continue;
    for (const std::uint32_t before : flow.predecessors(block)) blocks.push_back(before);
  }
}

void Outlook::trim(std::uint32_t block, Facts& facts) const {
  if (!complete_) return;
  facts.erase(std::remove_if(facts.begin(), facts.end(),
                             [&](std::uint32_t fact) {
                               return !asked_[block].test(fact / 2) && !conditions_.atom(fact / 2).one_thread;
                             }),
              facts.end());
}

}  // namespace lint
TMAJIT_END
