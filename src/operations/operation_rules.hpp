#pragma once

#include "kernel/problem.hpp"
#include "operations/shared/move_rules.hpp"

TMAJIT_BEGIN

/// The rules of one operation's moves and their canonical problem, for the checks and the planner. Each
/// operation that has its own descriptor defines one, in its folder.
struct OperationRules {
  /// Each element of the sources is read by the thread that writes the destination's element of the same
  /// coordinates, and by no other: a source may be the destination.
  bool in_place = false;
  /// Adds the operation's own rules that a move breaks. Its views are within their limits.
  void (*check)(MoveRules& rules) = nullptr;
  /// Adds all rules that a move breaks whose kernel sees tensors without rewriting. If set, it replaces
  /// `check` and the rules of every move.
  void (*check_alone)(const Move& move, Violations& violations) = nullptr;
  /// The canonical problem of a legal move, which families see.
  Problem (*problem)(const Move& move) = nullptr;
};

TMAJIT_END
