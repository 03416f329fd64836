#pragma once

/// Finds the parts of a kernel that a check of paths can skip: events that change nothing for it, conditions
/// that are not tested again, and blocks from which no event that it looks for can be reached.
#include "lint/kernel.hpp"

TMAJIT_BEGIN
namespace lint {

class PathCheck;

/// Relevance for the states of a check with memory (not 0), or for those without.
class Relevance {
 public:
  /// For states with memory.
  explicit Relevance(const PathCheck& check) : Relevance(check, true, nullptr) {}
  /// For states without memory; their facts seed their successors.
  Relevance(const PathCheck& check, const Relevance& later) : Relevance(check, false, &later) {}

  [[nodiscard]] bool concerns(std::uint32_t event) const { return concerns_[event]; }
  /// Whether anything that concerns the check can follow from the block's begin.
  [[nodiscard]] bool reaches_event(std::uint32_t block) const { return reaches_[block]; }
  /// Whether it matters which edge a path takes at the block's end. It does not if all paths meet again
  /// before anything that concerns the check.
  [[nodiscard]] bool decides(std::uint32_t block) const { return decides_[block]; }
  /// Whether a guard asks for the subject.
  [[nodiscard]] bool asks(SubjectId subject) const { return last_asker_[subject] >= 0; }
  /// Drops facts about subjects that no guard needs from the block's begin on.
  void trim(std::uint32_t block, Facts& facts) const;

 private:
  Relevance(const PathCheck& check, bool remembers, const Relevance* later);
  void find_events(const PathCheck& check);
  /// Marks branches and askers, until no further arrival is asked for.
  void find_asked(const PathCheck& check);
  void find_deciding(const PathCheck& check);
  [[nodiscard]] bool may_matter(std::uint32_t block, bool ends_matter) const;
  void find_askers();
  void find_loops();

  const Kernel& kernel_;
  bool remembers_;
  bool asks_threads_;
  std::vector<bool> concerns_;  ///< by event
  std::vector<bool> has_event_;
  std::vector<bool> reaches_;
  std::vector<bool> decides_;
  std::vector<bool> has_arrival_;  ///< blocks with an arrival that a guard asks for
  /// The highest rank of a block that asks for a subject; −1 if none does.
  std::vector<std::int32_t> last_asker_;
  // Begin of the outermost and of the innermost loop around a rank, as far as ranks show loops.
  std::vector<std::int32_t> outermost_;
  std::vector<std::int32_t> innermost_;
};

}  // namespace lint
TMAJIT_END
