#include "lint/threads.hpp"

#include <algorithm>

#include <llvm/ADT/STLExtras.h>

TMAJIT_BEGIN
namespace lint {
namespace {

constexpr std::uint64_t lanes = 32;
constexpr std::uint64_t max_threads = 1024;

/// Blocks with a path to `block` without back edges; `block` is one of them.
std::vector<bool> blocks_before(const ptx::ControlFlow& flow, std::uint32_t block) {
  std::vector<bool> before(flow.blocks().size());
  llvm::SmallVector<std::uint32_t, 16> waiting{block};
  before[block] = true;
  while (!waiting.empty()) {
    const std::uint32_t to = waiting.pop_back_val();
    for (const std::uint32_t from : flow.predecessors(to)) {
      if (flow.rank(from) == ptx::ControlFlow::unreachable || flow.retreats(from, to) || before[from])
        continue;
      before[from] = true;
      waiting.push_back(from);
    }
  }
  return before;
}

/// Whether every path from `from` reaches `block`.
bool always_reaches(const ptx::ControlFlow& flow, std::uint32_t block, std::uint32_t from) {
  while (from != block && from != ptx::ControlFlow::unreachable) from = flow.post_dominator(from);
  return from == block;
}

/// Whether the subject is equal in all lanes of a warp that have computed it equally often.
bool shared_by_lanes(const Kernel& kernel, const Subject& subject) {
  const auto varies = [&](const Value& value) { return kernel.values.varies(value); };
  return !subject.thread_index && !subject.values.empty() && llvm::none_of(subject.values, varies);
}

/// Whether a loop that this guard repeats ends in the same iteration for all lanes of a warp, or waits for an
/// mbarrier.
bool ends_for_all(const Kernel& kernel, Formula guard) {
  bool all = true;
  kernel.conditions.for_each_subject(guard, [&](SubjectId id) {
    const Subject& subject = kernel.conditions.subject(id);
    all = all && (!subject.per_thread || subject.waits || shared_by_lanes(kernel, subject));
  });
  return all;
}

/// Whether the block's edges lead to a block of `before` if its last instruction's guard is `truth`.
bool leads_on(const ptx::BasicBlock& block, const std::vector<bool>& before, bool truth) {
  return llvm::any_of(block.edges, [&](const ptx::Edge& edge) {
    return before[edge.target] && (!edge.conditional || edge.when == truth);
  });
}

/// The conditions under which a thread executes the instruction; nullopt if paths to it differ in other ways.
std::optional<llvm::SmallVector<Formula, 4>> conditions_of(const Kernel& kernel, std::uint32_t instruction) {
  const ptx::ControlFlow& flow = kernel.flow;
  const std::uint32_t target = flow.block_of(instruction);
  const std::vector<bool> before = blocks_before(flow, target);
  llvm::SmallVector<Formula, 4> all{kernel.guards[instruction]};
  for (const std::uint32_t number : flow.order()) {
    if (number == target || !before[number]) continue;
    const ptx::BasicBlock& block = flow.blocks()[number];
    const auto comes_back = [&](const ptx::Edge& edge) { return always_reaches(flow, number, edge.target); };
    if (block.edges.size() > 1 && llvm::any_of(block.edges, comes_back)) {
      // Lanes may leave a loop in different iterations, and then do different work.
      if (!ends_for_all(kernel, kernel.guards[block.last - 1])) return {};
      continue;
    }
    const bool if_true = leads_on(block, before, true);
    const bool if_false = leads_on(block, before, false);
    const auto jumps = llvm::count_if(block.edges, [](const ptx::Edge& edge) { return !edge.conditional; });
    const bool stays = llvm::all_of(block.edges, [&](const ptx::Edge& edge) { return before[edge.target]; });
    if (jumps > 1 && !stays) return {};
    if (if_true && if_false) continue;
    if (!flow.dominates(number, target)) return {};
    const Formula guard = kernel.guards[block.last - 1];
    all.push_back(if_true ? guard : negation(guard));
  }
  return all;
}

/// Splits a value into two summands: one that all lanes of a warp share, with the constant, and one that may
/// differ between threads.
std::pair<Value, Value> parts_of(const Values& values, const Value& value) {
  Value shared = value;
  Value own = Values::constant(0, value.width);
  const auto varies = [&](const Term& term) {
    const Symbol& symbol = values.symbol(term.symbol);
    return symbol.per_thread && !symbol.same_each_time;
  };
  llvm::copy_if(shared.terms, std::back_inserter(own.terms), varies);
  llvm::erase_if(shared.terms, varies);
  return {shared, own};
}

template <typename Holds>
bool any_number(const NumberSet& set, const Holds& holds) {
  for (const Range& range : set) {
    for (std::uint64_t number = range.first; number <= range.last; ++number) {
      if (holds(number)) return true;
    }
  }
  return false;
}

/// The most threads that a CTA can have; 0 if the kernel does not say.
std::uint64_t bound_of(const Kernel& kernel) {
  for (const ptx::Tuning& tuning : kernel.function.function->tuning) {
    if (tuning.name != "reqntid" && tuning.name != "maxntid") continue;
    std::uint64_t threads = 1;
    for (const std::uint64_t extent : tuning.values) threads *= std::min(extent, max_threads);
    return std::min(threads, max_threads);
  }
  return 0;
}

}  // namespace

std::optional<Threads> threads_of(const Kernel& kernel, const Facts& facts) {
  const std::uint64_t bound = bound_of(kernel);
  Threads threads{.numbers = {{0, (bound == 0 ? max_threads : bound) - 1}}};
  for (const Fact& fact : facts) {
    const Subject& subject = kernel.conditions.subject(fact.subject);
    if (!subject.per_thread) continue;
    if (shared_by_lanes(kernel, subject)) {
      threads.by_warp = true;
      continue;
    }
    if (subject.thread_index) {
      threads.numbers = intersection(threads.numbers, kernel.conditions.numbers(fact.set));
      threads.by_condition = true;
    } else if (subject.one_thread) {
      threads.one_per_warp = threads.one_per_warp || kernel.conditions.numbers(fact.set).front().first == 1;
    } else {
      return {};
    }
  }
  return threads;
}

std::optional<llvm::SmallVector<Threads, 2>> threads_at(const Kernel& kernel, std::uint32_t instruction) {
  const auto conditions = conditions_of(kernel, instruction);
  if (!conditions) return {};
  llvm::SmallVector<Facts, 2> cases(1);
  for (const Formula condition : *conditions) {
    llvm::SmallVector<Facts, 2> next;
    for (const Facts& facts : cases) next.append(kernel.conditions.assume_each(condition, true, facts));
    cases = std::move(next);
  }
  llvm::SmallVector<Threads, 2> all;
  for (const Facts& facts : cases) {
    // If there were too many cases, the facts say less than the conditions.
    const bool says_all = llvm::all_of(
        *conditions, [&](Formula condition) { return kernel.conditions.decide(condition, facts) == true; });
    const auto threads = threads_of(kernel, facts);
    if (!says_all || !threads) return {};
    all.push_back(*threads);
  }
  return all;
}

std::optional<std::pair<std::uint64_t, std::uint64_t>> two_lanes(const Kernel& kernel,
                                                                 const Threads& threads) {
  // Without a condition, the CTA may have a single thread.
  if (threads.one_per_warp || (!threads.by_condition && bound_of(kernel) == 0)) return {};
  std::optional<std::uint64_t> before;
  for (const Range& range : threads.numbers) {
    for (std::uint64_t number = range.first; number <= range.last; ++number) {
      if (before && *before / lanes == number / lanes) return std::pair(*before, number);
      before = number;
    }
  }
  return {};
}

bool reads_of_others(const Values& values, llvm::ArrayRef<Threads> writers, const Value& written,
                     std::uint64_t written_bytes, const Threads& readers, const Value& read,
                     std::uint64_t bytes) {
  const auto [write_base, write_part] = parts_of(values, values.convert(written, 32, false));
  const auto [read_base, read_part] = parts_of(values, values.convert(read, 32, false));
  const auto distance = Values::difference32(write_base, read_base);
  const auto thread = values.base(write_part);
  if (!distance || !thread || !values.symbol(*thread).thread_index) return false;
  if (!read_part.terms.empty() && values.base(read_part) != thread) return false;
  // A value that differs between warps can be compared only within one warp.
  const auto by_warp = [&](const Value& value) {
    return llvm::any_of(value.terms, [&](const Term& term) { return values.symbol(term.symbol).per_thread; });
  };
  const bool in_warp = readers.by_warp || by_warp(write_base) ||
                       llvm::any_of(writers, [](const Threads& each) { return each.by_warp; });
  const auto is_read = [&, &write_offset = write_part, &read_offset = read_part](std::uint64_t writer,
                                                                                 std::uint64_t reader) {
    const auto write_minus_read = static_cast<std::int32_t>(
        static_cast<std::uint32_t>(values.at(write_offset, writer) - values.at(read_offset, reader)) +
        static_cast<std::uint32_t>(*distance));
    return write_minus_read >= 0
               ? static_cast<std::uint64_t>(write_minus_read) < bytes
               : static_cast<std::uint64_t>(-std::int64_t{write_minus_read}) < written_bytes;
  };
  const auto reads_other = [&](std::uint64_t reader) {
    return llvm::any_of(writers, [&](const Threads& each) {
      return any_number(each.numbers, [&](std::uint64_t writer) {
        return writer != reader && (!in_warp || writer / lanes == reader / lanes) && is_read(writer, reader);
      });
    });
  };
  return !readers.numbers.empty() &&
         !any_number(readers.numbers, [&](std::uint64_t reader) { return !reads_other(reader); });
}

bool is_equal_in_both(const Values& values, const Value& value,
                      const std::pair<std::uint64_t, std::uint64_t>& threads) {
  if (!value.exact()) return false;
  const Value own = parts_of(values, value).second;
  if (own.terms.empty()) return true;
  const auto thread = values.base(own);
  return thread && values.symbol(*thread).thread_index &&
         values.at(own, threads.first) == values.at(own, threads.second);
}

}  // namespace lint
TMAJIT_END
