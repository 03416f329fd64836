#pragma once

/// Finds the parts of a kernel that a check of paths can skip: events that change nothing for the check,
/// conditions that no later guard tests, and blocks from which no event of the check can be reached.
#include "lint/kernel.hpp"

TMAJIT_BEGIN
namespace lint {

class PathCheck;

/// The relevant parts for states with memory (PathState::memory is not 0), or for states without.
class Relevance {
 public:
  /// For states with memory.
  explicit Relevance(const PathCheck& check) : Relevance(check, true, nullptr) {}
  /// For states without memory. They become states with memory and pass on their facts, so the facts that
  /// `with_memory` needs are relevant, too.
  Relevance(const PathCheck& check, const Relevance& with_memory) : Relevance(check, false, &with_memory) {}

  [[nodiscard]] bool concerns(std::uint32_t event) const { return concerns_[event]; }
  /// Whether anything that concerns the check can follow after the block's start.
  [[nodiscard]] bool reaches_event(std::uint32_t block) const { return reaches_[block]; }
  /// Whether it matters which edge a path takes at the block's end. It does not if all paths meet again
  /// before anything that concerns the check.
  [[nodiscard]] bool decides(std::uint32_t block) const { return decides_[block]; }
  /// Whether a guard tests the subject.
  [[nodiscard]] bool tests(SubjectId subject) const { return last_test_[subject] >= 0; }
  /// Drops facts about subjects that no guard tests after the block's start.
  void trim(std::uint32_t block, Facts& facts) const;

 private:
  Relevance(const PathCheck& check, bool remembers, const Relevance* with_memory);
  void find_events(const PathCheck& check);
  /// Repeats find_deciding() and find_tests() until they need no further arrival.
  void find_needed_facts(const PathCheck& check);
  void find_deciding(const PathCheck& check);
  [[nodiscard]] bool may_matter(std::uint32_t block, bool ends_matter) const;
  void find_tests();
  void find_loops();

  const Kernel& kernel_;
  bool remembers_;
  bool asks_threads_;
  std::vector<bool> concerns_;     ///< by event
  std::vector<bool> has_event_;    ///< by block
  std::vector<bool> reaches_;      ///< see reaches_event()
  std::vector<bool> decides_;      ///< see decides()
  std::vector<bool> has_arrival_;  ///< blocks with an arrival whose subject a guard tests
  /// By subject: the highest rank of a block that tests it; −1 if no block does.
  std::vector<std::int32_t> last_test_;
  // By rank: the rank at which the outermost and the innermost loop around it begin. An edge from a rank to a
  // lower one is taken as a loop over all ranks between them.
  std::vector<std::int32_t> outermost_;
  std::vector<std::int32_t> innermost_;
};

}  // namespace lint
TMAJIT_END
