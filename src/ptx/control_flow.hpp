#pragma once

/// A function's basic blocks, the edges between them, and their dominators.
#include "ptx/resolve.hpp"

#include <cstdint>
#include <vector>

#include <llvm/ADT/SmallVector.h>

TMAJIT_BEGIN
namespace ptx {

/// An edge to block `target`; if `conditional`, taken only when the guard of the block's last instruction is
/// `when`.
struct Edge {
  std::uint32_t target = 0;
  bool conditional = false;
  bool when = true;
};

/// Instructions [first, last) that run one after the other.
struct BasicBlock {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  llvm::SmallVector<Edge, 2> edges;
};

/// Whether control may not continue with the next instruction: branches, and instructions that end a thread.
[[nodiscard]] bool ends_block(Opcode opcode);

class ControlFlow {
 public:
  explicit ControlFlow(const FlatFunction& function);

  /// The last block is empty. A thread reaches it if it runs past the end of the function.
  [[nodiscard]] const std::vector<BasicBlock>& blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::uint32_t block_of(std::uint32_t instruction) const { return block_of_[instruction]; }
  /// Blocks that the entry reaches, in reverse postorder.
  [[nodiscard]] const std::vector<std::uint32_t>& order() const noexcept { return order_; }
  /// A block's index in order(), or `unreachable`.
  [[nodiscard]] std::uint32_t rank(std::uint32_t block) const { return rank_[block]; }
  static constexpr std::uint32_t unreachable = ~0U;

  /// Whether the edge goes to an earlier block in order() or to the same block: every cycle has such an edge,
  /// to its first block.
  [[nodiscard]] bool retreats(std::uint32_t from, std::uint32_t to) const { return rank_[to] <= rank_[from]; }
  /// Whether every path from the entry to block `b` passes `a`. Both must be reachable.
  [[nodiscard]] bool dominates(std::uint32_t a, std::uint32_t b) const {
    return entered_[a] <= entered_[b] && left_[b] <= left_[a];
  }
  /// The immediate post-dominator: the first block that all paths from the block's end pass. `unreachable` if
  /// there is none: paths end in different blocks, or never.
  [[nodiscard]] std::uint32_t post_dominator(std::uint32_t block) const { return post_dominator_[block]; }
  /// Whether a thread can end at the block's end.
  [[nodiscard]] bool ends(std::uint32_t block) const { return ends_[block]; }
  [[nodiscard]] const std::vector<std::uint32_t>& predecessors(std::uint32_t block) const {
    return predecessors_[block];
  }

 private:
  void split(const FlatFunction& function);
  void connect(const FlatFunction& function);
  void rank_blocks();
  void find_dominators();
  void number_dominators();
  void find_post_dominators();

  std::vector<BasicBlock> blocks_;
  std::vector<std::uint32_t> block_of_;
  std::vector<std::vector<std::uint32_t>> predecessors_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> rank_;
  std::vector<std::uint32_t> dominator_;  ///< immediate dominator of each block
  // Times at which a depth-first walk of the dominator tree enters and leaves each block.
  std::vector<std::uint32_t> entered_;
  std::vector<std::uint32_t> left_;
  std::vector<std::uint32_t> post_dominator_;
  std::vector<bool> ends_;
};

}  // namespace ptx
TMAJIT_END
