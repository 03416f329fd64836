#pragma once

/// Combines the memory accesses of one instruction's lanes into as few pieces as possible (piece.hpp).
#include "sim/races/shadow.hpp"

#include <array>
#include <vector>

TMAJIT_BEGIN
namespace sim {

/// A cache of access patterns of instructions whose lanes access a single line. Warps and loop iterations
/// repeat such patterns.
class GatherPatterns {
 public:
  struct Pattern {
    static constexpr std::uint32_t max_pieces = 3;
    std::uint32_t location = ~0U;
    std::uint32_t log = 0;                      ///< log2 of the bytes per lane
    std::array<std::uint8_t, lanes> offsets{};  ///< by lane: offset in the line
    std::uint32_t count = 0;                    ///< number of pieces
    bool folded = false;
    std::array<Piece, max_pieces> pieces;
  };
  [[nodiscard]] Pattern& of(std::uint32_t location) noexcept {
    return patterns_[location % patterns_.size()];
  }

 private:
  std::vector<Pattern> patterns_ = std::vector<Pattern>(512);
};

/// The pieces of one instruction's accesses.
class Gather {
 public:
  struct Entry {
    std::uint64_t line = 0;  ///< address of the line
    Piece piece;
  };

  /// Lane i of `mask` accesses `bytes` bytes at address at[i], which is a multiple of `bytes`. `bytes` is a
  /// power of two up to 16. If both halves of a warp read the same words, a piece is folded: it stands for
  /// both halves.
  Gather(const Touch& touch, const std::array<std::uint64_t, lanes>& at, Mask mask, std::uint32_t bytes,
         GatherPatterns& patterns);
  /// The same accesses, without folding.
  Gather(const Touch& touch, const std::array<std::uint64_t, lanes>& at, Mask mask, std::uint32_t bytes);

  [[nodiscard]] const Entry* begin() const noexcept { return entries_.data(); }
  [[nodiscard]] const Entry* end() const noexcept { return entries_.data() + count_; }
  /// Whether every entry is in a different line.
  [[nodiscard]] bool distinct_lines() const noexcept { return distinct_lines_; }
  /// Whether pieces stand for both halves of the warp. Reports need unfolded pieces.
  [[nodiscard]] bool folded() const noexcept { return folded_; }

 private:
  Gather(const Touch& touch, std::uint32_t bytes);
  /// Adds the accesses of a full warp to one line. Takes the pieces from the pattern if it matches, else
  /// updates the pattern.
  void add_line(const std::array<std::uint64_t, lanes>& at, GatherPatterns::Pattern& pattern);
  void add_folded(const std::array<std::uint64_t, lanes>& at, const std::array<std::uint8_t, lanes>& offsets);
  void add_all(const std::array<std::uint64_t, lanes>& at, Mask mask);
  /// Adds the access of a lane that begins at byte `byte` of a line.
  void add(std::uint32_t lane, std::uint64_t line, std::uint32_t byte);
  /// Adds the lane's bytes to a piece if the piece can represent them; returns whether it can.
  bool join(Piece& piece, std::uint32_t lane, ByteMask mask, std::uint32_t byte) const;

  std::uint32_t log_;
  ByteMask lane_bytes_;
  Access access_;  ///< the access of a single lane; `first` is not set
  std::uint32_t count_ = 0;
  bool distinct_lines_ = true;
  bool folded_ = false;
  /// Hash table by line: 1 + the index of the last entry of a line.
  std::array<std::uint8_t, 64> latest_{};
  union {
    std::array<Entry, lanes> entries_;  ///< only the first count_ are constructed
  };
};

}  // namespace sim
TMAJIT_END
