#include "lint/relevance.hpp"

#include "lint/checks.hpp"

#include <algorithm>
#include <limits>

#include <llvm/ADT/DenseSet.h>
#include <llvm/ADT/STLExtras.h>

TMAJIT_BEGIN
namespace lint {
namespace {

constexpr std::int32_t no_loop = std::numeric_limits<std::int32_t>::max();
/// Limit of the blocks examined between a branch and the block in which its paths meet.
constexpr std::size_t max_blocks_between = 64;

}  // namespace

Relevance::Relevance(const PathCheck& check, bool remembers, const Relevance* with_memory)
    : kernel_(check.kernel()), remembers_(remembers), asks_threads_(check.asks_threads()) {
  find_events(check);
  if (with_memory != nullptr) {
    last_test_ = with_memory->last_test_;
  } else {
    last_test_.assign(kernel_.conditions.subjects(), -1);
  }
  find_needed_facts(check);
  find_loops();
}

void Relevance::find_needed_facts(const PathCheck& check) {
  has_arrival_.assign(kernel_.flow.blocks().size(), false);
  for (bool changed = true; changed;) {
    const std::vector<std::int32_t> before = last_test_;
    for (const std::uint32_t block : kernel_.flow.order()) {
      has_arrival_[block] = llvm::any_of(kernel_.arrivals[block],
                                         [&](const Arrival& arrival) { return tests(arrival.subject); });
    }
    find_deciding(check);
    find_tests();
    changed = before != last_test_;
  }
}

void Relevance::find_events(const PathCheck& check) {
  const std::size_t blocks = kernel_.flow.blocks().size();
  concerns_.assign(kernel_.events.size(), false);
  has_event_.assign(blocks, false);
  reaches_.assign(blocks, false);
  std::vector<std::uint32_t> open;
  for (const std::uint32_t block : kernel_.flow.order()) {
    for (std::uint32_t e = kernel_.first_event[block]; e < kernel_.first_event[block + 1]; ++e) {
      concerns_[e] = check.concerns(e, remembers_);
      has_event_[block] = has_event_[block] || concerns_[e];
    }
    if (has_event_[block] || (remembers_ && check.ends_matter() && kernel_.flow.ends(block)))
      open.push_back(block);
  }
  while (!open.empty()) {
    const std::uint32_t block = open.back();
    open.pop_back();
    if (reaches_[block]) continue;
    reaches_[block] = true;
    llvm::append_range(open, kernel_.flow.predecessors(block));
  }
}

void Relevance::find_deciding(const PathCheck& check) {
  const bool ends_matter = remembers_ && check.ends_matter();
  decides_.assign(kernel_.flow.blocks().size(), false);
  for (const std::uint32_t block : kernel_.flow.order()) {
    if (reaches_[block] && kernel_.flow.blocks()[block].edges.size() > 1)
      decides_[block] = may_matter(block, ends_matter);
    // A guard decides whether an exit ends the thread.
    if (kernel_.flow.ends(block)) decides_[block] = true;
  }
}

bool Relevance::may_matter(std::uint32_t block, bool ends_matter) const {
  const std::uint32_t meet = kernel_.flow.post_dominator(block);
  llvm::SmallVector<std::uint32_t, 16> open{block};
  llvm::SmallDenseSet<std::uint32_t, 16> seen;
  while (!open.empty()) {
    const std::uint32_t from = open.pop_back_val();
    for (const ptx::Edge& edge : kernel_.flow.blocks()[from].edges) {
      // An iteration of a loop redefines numbers, and drops facts about them.
      if (kernel_.flow.retreats(from, edge.target) || has_arrival_[edge.target]) return true;
      if (edge.target == meet || !seen.insert(edge.target).second) continue;
      if (has_event_[edge.target] || (ends_matter && kernel_.flow.ends(edge.target))) return true;
      if (seen.size() > max_blocks_between) return true;
      open.push_back(edge.target);
    }
  }
  return false;
}

void Relevance::find_tests() {
  const auto note_subject_test = [&](SubjectId id, std::uint32_t block) {
    last_test_[id] = std::max(last_test_[id], static_cast<std::int32_t>(kernel_.flow.rank(block)));
  };
  const auto note_test = [&](Formula guard, std::uint32_t block) {
    kernel_.conditions.for_each_subject(guard, [&](SubjectId id) { note_subject_test(id, block); });
  };
  for (const std::uint32_t block : kernel_.flow.order()) {
    for (std::uint32_t e = kernel_.first_event[block]; e < kernel_.first_event[block + 1]; ++e) {
      if (concerns_[e]) note_test(kernel_.events[e].guard, block);
    }
    const ptx::BasicBlock& basic_block = kernel_.flow.blocks()[block];
    if (decides_[block] && basic_block.first != basic_block.last)
      note_test(kernel_.guards[basic_block.last - 1], block);
    // The content of an arrival is needed in the block that it comes from.
    for (const Arrival& arrival : kernel_.arrivals[block]) {
      if (!tests(arrival.subject)) continue;
      if (arrival.content.formula) note_test(*arrival.content.formula, arrival.from);
      if (!arrival.content.value) continue;
      if (const auto source = kernel_.conditions.compared_subject(*arrival.content.value))
        note_subject_test(*source, arrival.from);
      for (const Term& term : arrival.content.value->terms) {
        if (const auto& formula = kernel_.values.symbol(term.symbol).indicates)
          note_test(*formula, arrival.from);
      }
    }
  }
}

void Relevance::find_loops() {
  const auto& order = kernel_.flow.order();
  const std::size_t count = order.size();
  // By the rank at which back edges begin: the lowest rank that they lead to, and all such ranks.
  std::vector<std::int32_t> least(count, no_loop);
  std::vector<std::vector<std::uint32_t>> heads(count);
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    for (const ptx::Edge& edge : kernel_.flow.blocks()[order[rank]].edges) {
      const std::uint32_t to = kernel_.flow.rank(edge.target);
      if (to > rank) continue;
      least[rank] = std::min(least[rank], static_cast<std::int32_t>(to));
      heads[rank].push_back(to);
    }
  }
  outermost_.assign(count, no_loop);
  innermost_.assign(count, -1);
  std::int32_t outermost = no_loop;
  std::vector<std::uint32_t> open;  // heads of loops that end at the rank or after it
  for (std::uint32_t rank = static_cast<std::uint32_t>(count); rank-- > 0;) {
    outermost = std::min(outermost, least[rank]);
    for (const std::uint32_t head : heads[rank]) {
      open.push_back(head);
      std::ranges::push_heap(open);
    }
    while (!open.empty() && open.front() > rank) {
      std::ranges::pop_heap(open);
      open.pop_back();
    }
    if (outermost <= static_cast<std::int32_t>(rank)) outermost_[rank] = outermost;
    if (!open.empty()) innermost_[rank] = static_cast<std::int32_t>(open.front());
  }
}

void Relevance::trim(std::uint32_t block, Facts& facts) const {
  const auto rank = static_cast<std::int32_t>(kernel_.flow.rank(block));
  llvm::erase_if(facts, [&](const Fact& fact) {
    const std::int32_t last = last_test_[fact.subject];
    if (last >= rank) return false;
    // A guard earlier in a loop tests the subject in the next iteration, if the loop does not redefine it.
    if (last >= outermost_[rank] && kernel_.conditions.subject(fact.subject).home < innermost_[rank])
      return false;
    return !asks_threads_ || !kernel_.conditions.tells_threads(fact.subject);
  });
}

}  // namespace lint
TMAJIT_END
