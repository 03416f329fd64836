#pragma once

/// The pieces of a line of memory, in the order in which they came.
#include "sim/piece.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

TMAJIT_BEGIN
namespace sim {

/// Tables of lanes are apart, and there only once a piece has one: there can be many pieces, far apart in
/// memory. Another thread may bring the parts nearer while they change.
class PieceList {
 public:
  PieceList() = default;
  ~PieceList() { std::free(begin()); }
  PieceList(const PieceList&) = delete;
  PieceList& operator=(const PieceList&) = delete;

  [[nodiscard]] std::uint32_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool has_writes() const noexcept { return writes_ != 0; }

  void push(const Piece& piece) {
    const std::uint32_t last = size();
    if (last == room_) grow();
    begin()[last] = piece;
    if (piece.has_table()) {
      if (tables_ == nullptr) tables_.reset(new LaneTable[room_]);  // NOLINT: filled where a part has one
      tables_[last] = piece.table;
    }
    writes_ += piece.access.writes() ? 1 : 0;
    resize(last + 1);
  }
  /// Calls visit(piece) for those of which look(part) is true, until it gives false. What it changes of the
  /// piece, but for its access, is kept.
  template <typename Look, typename Visit>
  void for_each(const Look& look, const Visit& visit) {
    Part* const all = begin();
    const std::uint32_t count = size();
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!look(all[i])) continue;
      Piece piece;
      static_cast<Part&>(piece) = all[i];
      LaneTable* const table = piece.has_table() ? &tables_[i] : nullptr;
      if (table != nullptr) piece.table = *table;
      const bool more = visit(piece);
      all[i].bytes = piece.bytes;
      if (table != nullptr) *table = piece.table;
      if (!more) return;
    }
  }
  /// Takes `bytes` away from all, and those that have no others.
  void erase(ByteMask bytes) {
    Part* const all = begin();
    const std::uint32_t count = size();
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      all[i].bytes &= ~bytes;
      if (all[i].bytes == 0) {
        writes_ -= all[i].access.writes() ? 1 : 0;
        continue;
      }
      if (kept != i) {
        all[kept] = all[i];
        if (all[i].has_table()) tables_[kept] = tables_[i];
      }
      ++kept;
    }
    resize(kept);
  }
  void clear() noexcept {
    writes_ = 0;
    resize(0);
  }
  /// The first parts, and where the next comes.
  void prefetch() const noexcept {
    const Part* const first = begin();
    __builtin_prefetch(first);
    __builtin_prefetch(first + size());
  }

 private:
  static_assert(std::is_trivially_copyable_v<Part> && alignof(Part) <= alignof(std::max_align_t));
  static constexpr std::uint32_t least_room = 4;

  [[nodiscard]] Part* begin() const noexcept { return parts_.load(std::memory_order_relaxed); }
  void resize(std::uint32_t size) noexcept { size_.store(size, std::memory_order_relaxed); }
  void grow() {
    const std::uint32_t wanted = std::max(least_room, 2 * room_);
    auto* const more = static_cast<Part*>(std::realloc(begin(), wanted * sizeof(Part)));
    if (more == nullptr) throw std::bad_alloc();
    parts_.store(more, std::memory_order_relaxed);
    if (tables_ != nullptr) {
      std::unique_ptr<LaneTable[]> tables(new LaneTable[wanted]);  // NOLINT: as above
      std::copy_n(tables_.get(), size(), tables.get());
      tables_ = std::move(tables);
    }
    room_ = wanted;
  }

  std::atomic<Part*> parts_ = nullptr;
  std::atomic<std::uint32_t> size_ = 0;
  std::uint32_t room_ = 0;
  std::uint32_t writes_ = 0;
  std::unique_ptr<LaneTable[]> tables_;
};

}  // namespace sim
TMAJIT_END
