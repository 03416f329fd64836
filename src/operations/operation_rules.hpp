#pragma once

#include "kernel/problem.hpp"
#include "operations/shared/move_rules.hpp"

TMAJIT_BEGIN

/// The rules of one operation's moves and their canonical problem, for the checks and the planner. Each
/// operation that has its own descriptor defines one, in its folder.
struct OperationRules {
  /// Whether a source may be the destination. Only the thread that writes a destination element may then read
  /// the source elements with the same coordinates.
  bool in_place = false;
  /// Adds the operation's own rules that a move breaks. Its views are within their limits.
  void (*check)(MoveRules& rules) = nullptr;
  /// For an operation whose kernels see the tensors without rewriting: adds all rules that a move breaks. If
  /// set, it replaces `check` and the rules that all moves share.
  void (*check_alone)(const Move& move, Violations& violations) = nullptr;
  /// The canonical problem of a legal move, which families see.
  Problem (*problem)(const Move& move) = nullptr;
  /// Whether a move writes an element; null: it does if the destination has one.
  bool (*writes)(const Move& move) = nullptr;
  /// The problem of several moves with the same sources, which one kernel computes; null: each move has a
  /// kernel of its own.
  Problem (*joint_problem)(std::span<const Move> moves) = nullptr;
  /// Whether one kernel computes both moves. Set if `joint_problem` is.
  bool (*are_joint)(const Move& a, const Move& b) = nullptr;
  /// Whether every kernel stores the same bits for a legal move (shared/rounding.hpp); null: kernels may
  /// round in different ways.
  bool (*same_bits)(const Move& move) = nullptr;
};

TMAJIT_END
