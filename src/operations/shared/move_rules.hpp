#pragma once

#include "spec/violations.hpp"

#include <tmajit/operation.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

TMAJIT_BEGIN

/// Violation::source of the rules that all moves share.
inline constexpr auto source_of_rules = "tmajit, Move";

/// The extents of a view, of at most `max_view_rank` dimensions.
[[nodiscard]] std::span<const std::uint64_t> extents(const TensorView& view) noexcept;

/// How violations name a move's tensors: "the destination", or "the destination of move 2" where there are
/// several.
[[nodiscard]] std::string destination_name(std::span<const Move> moves, std::size_t move);
[[nodiscard]] std::string source_name(std::span<const Move> moves, std::size_t move, std::size_t source);

/// Checks the rules of one move and collects the broken ones. An operation's own rules are checked after
/// those of views, so that they can rely on legal ranks. Names of tensors are built only for a violation.
class MoveRules {
 public:
  MoveRules(std::span<const Move> moves, std::size_t index, Violations& violations)
      : moves_(moves), move_(moves[index]), index_(index), violations_(violations) {}

  [[nodiscard]] const Move& move() const noexcept { return move_; }
  [[nodiscard]] std::string destination() const { return destination_name(moves_, index_); }
  [[nodiscard]] std::string source(std::size_t k) const { return source_name(moves_, index_, k); }
  [[nodiscard]] Violations& violations() noexcept { return violations_; }

  void add(std::string_view rule, std::string subject, std::string found, std::string need,
           std::string legal);

  /// Checks that there are `least` to max_inputs sources, and returns whether there are.
  bool check_min_sources(std::size_t least);
  /// Checks that there is one source, whose elements have the size of the destination's: bits are copied.
  void check_bits();
  /// Checks that each source has the destination's shape.
  void check_shapes();
  /// Checks that numbers are sources, after all tensors.
  void check_numbers();
  /// Checks that an expression is one line of at most max_expression printable characters, and its numbers.
  void check_expression(std::string_view text);
  /// Checks that the numbers p0 … that an expression reads exist.
  void check_numbers_read(std::string_view text);
  /// Checks that numbers in g[…] are dimensions of the destination.
  void check_coordinates(std::string_view expression);
  /// Checks the limits of views, then the operation's own `rules`, then that the destination is written once,
  /// and the addresses.
  void check(void (*rules)(MoveRules&));

 private:
  bool check_views();
  void check_shape(std::size_t k);

  std::span<const Move> moves_;
  const Move& move_;
  std::size_t index_;
  Violations& violations_;
};

TMAJIT_END
