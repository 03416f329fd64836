#include "ptx/control_flow.hpp"

#include <algorithm>

#include <llvm/ADT/STLExtras.h>

TMAJIT_BEGIN
namespace ptx {
namespace {

bool ends_thread(Opcode opcode) {
  return opcode == Opcode::exit || opcode == Opcode::ret || opcode == Opcode::trap;
}

/// The instructions that a branch may go to.
llvm::SmallVector<std::uint32_t, 2> targets_of(const FlatFunction& function, const FlatInstruction& branch) {
  for (const Binding& binding : branch.bindings) {
    if (const auto* label = std::get_if<LabelRef>(&binding)) return {label->index};
    if (const auto* table = std::get_if<BranchTableRef>(&binding)) {
      const auto& all = function.branch_tables[table->index];
      llvm::SmallVector<std::uint32_t, 2> targets(all.begin(), all.end());
      llvm::sort(targets);
      targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
      return targets;
    }
  }
  return {};
}

}  // namespace

bool ends_block(Opcode opcode) {
  return ends_thread(opcode) || opcode == Opcode::bra || opcode == Opcode::brx_idx;
}

ControlFlow::ControlFlow(const FlatFunction& function) {
  split(function);
  connect(function);
  rank_blocks();
  find_dominators();
  number_dominators();
  find_post_dominators();
}

void ControlFlow::split(const FlatFunction& function) {
  const auto count = static_cast<std::uint32_t>(function.instructions.size());
  std::vector<bool> starts(count + 1, false);
  starts[0] = true;
  starts[count] = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    const FlatInstruction& flat = function.instructions[i];
    if (!ends_block(flat.instruction->opcode)) continue;
    starts[i + 1] = true;
    for (const std::uint32_t target : targets_of(function, flat)) starts[target] = true;
  }
  block_of_.resize(count + 1);
  for (std::uint32_t i = 0; i <= count; ++i) {
    if (starts[i]) blocks_.push_back({i, i, {}});
    block_of_[i] = static_cast<std::uint32_t>(blocks_.size() - 1);
    if (i < count) blocks_.back().last = i + 1;
  }
  if (blocks_.size() == 1) blocks_.push_back({count, count, {}});
}

void ControlFlow::connect(const FlatFunction& function) {
  predecessors_.resize(blocks_.size());
  ends_.assign(blocks_.size(), false);
  ends_.back() = true;
  for (std::uint32_t b = 0; b + 1 < blocks_.size(); ++b) {
    BasicBlock& block = blocks_[b];
    const auto add = [&](Edge edge) {
      block.edges.push_back(edge);
      predecessors_[edge.target].push_back(b);
    };
    const FlatInstruction* last =
        block.first == block.last ? nullptr : &function.instructions[block.last - 1];
    if (last == nullptr || !ends_block(last->instruction->opcode)) {
      add({b + 1, false, true});
      continue;
    }
    ends_[b] = ends_thread(last->instruction->opcode);
    const bool guarded = last->instruction->guard.has_value();
    if (!ends_thread(last->instruction->opcode)) {
      for (const std::uint32_t target : targets_of(function, *last)) add({block_of_[target], guarded, true});
    }
    if (guarded) add({b + 1, true, false});
  }
}

void ControlFlow::rank_blocks() {
  // Depth first without recursion: a function may have very many blocks in a row.
  rank_.assign(blocks_.size(), unreachable);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{0, 0}};
  std::vector<bool> seen(blocks_.size(), false);
  seen[0] = true;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next == blocks_[block].edges.size()) {
      order_.push_back(block);
      stack.pop_back();
      continue;
    }
    const std::uint32_t target = blocks_[block].edges[next++].target;
    if (seen[target]) continue;
    seen[target] = true;
    stack.emplace_back(target, 0);
  }
  std::reverse(order_.begin(), order_.end());
  for (std::uint32_t i = 0; i < order_.size(); ++i) rank_[order_[i]] = i;
}

// K. Cooper, T. Harvey, K. Kennedy: A Simple, Fast Dominance Algorithm.
void ControlFlow::find_dominators() {
  dominator_.assign(blocks_.size(), unreachable);
  dominator_[0] = 0;
  const auto meet = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b) {
      while (rank_[a] > rank_[b]) a = dominator_[a];
      while (rank_[b] > rank_[a]) b = dominator_[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t block : order_) {
      if (block == 0) continue;
      std::uint32_t found = unreachable;
      // Late predecessors first: if many paths lead to one block, such as an early exit, each meet() then
      // takes one step.
      for (const std::uint32_t before : llvm::reverse(predecessors_[block])) {
        if (rank_[before] == unreachable || dominator_[before] == unreachable) continue;
        found = found == unreachable ? before : meet(found, before);
      }
      if (dominator_[block] == found) continue;
      dominator_[block] = found;
      changed = true;
    }
  }
}

void ControlFlow::number_dominators() {
  // By rank, a block comes after its dominator. So subtree sizes add up in reverse order, and entry times
  // follow in forward order.
  std::vector<std::uint32_t> size(blocks_.size(), 0);
  for (auto block = order_.rbegin(); block != order_.rend(); ++block) {
    ++size[*block];
    if (*block != 0) size[dominator_[*block]] += size[*block];
  }
  entered_.assign(blocks_.size(), 0);
  left_.assign(blocks_.size(), 0);
  std::vector<std::uint32_t> next(blocks_.size(), 0);
  for (const std::uint32_t block : order_) {
    if (block != 0) {
      std::uint32_t& place = next[dominator_[block]];
      entered_[block] = place;
      place += size[block];
    }
    next[block] = entered_[block] + 1;
    left_[block] = entered_[block] + size[block];
  }
}

// The same algorithm on reversed edges, from a virtual exit block that follows all ends of the thread.
void ControlFlow::find_post_dominators() {
  const auto count = static_cast<std::uint32_t>(blocks_.size());
  std::vector<std::uint32_t> ends;
  for (const std::uint32_t block : order_) {
    if (ends_[block]) ends.push_back(block);
  }
  const auto before = [&](std::uint32_t block) -> const std::vector<std::uint32_t>& {
    return block == count ? ends : predecessors_[block];
  };
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> place(count + 1, unreachable);
  std::vector<bool> seen(count + 1, false);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{count, 0}};
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next == before(block).size()) {
      order.push_back(block);
      stack.pop_back();
      continue;
    }
    const std::uint32_t target = before(block)[next++];
    if (seen[target] || rank_[target] == unreachable) continue;
    seen[target] = true;
    stack.emplace_back(target, 0);
  }
  std::reverse(order.begin(), order.end());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  post_dominator_.assign(count + 1, unreachable);
  post_dominator_[count] = count;
  const auto meet = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b) {
      while (place[a] > place[b]) a = post_dominator_[a];
      while (place[b] > place[a]) b = post_dominator_[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::uint32_t block : order) {
      if (block == count) continue;
      std::uint32_t found = ends_[block] ? count : unreachable;
      for (const Edge& edge : llvm::reverse(blocks_[block].edges)) {
        const std::uint32_t next = edge.target;
        if (place[next] == unreachable || post_dominator_[next] == unreachable) continue;
        found = found == unreachable ? next : meet(found, next);
      }
      if (post_dominator_[block] == found) continue;
      post_dominator_[block] = found;
      changed = true;
    }
  }
  post_dominator_.pop_back();
  // Paths that meet only after the thread's end have no common block.
  for (std::uint32_t& block : post_dominator_) {
    if (block == count) block = unreachable;
  }
}

}  // namespace ptx
TMAJIT_END
