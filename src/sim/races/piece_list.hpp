#pragma once

/// The accesses to a line of memory (pieces), in the order in which they were added.
#include "sim/races/piece.hpp"
#include "sim/races/slabs.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <type_traits>

TMAJIT_BEGIN
namespace sim {

/// To keep lists small, the lane tables are in a separate array, which exists only if some piece has a table.
/// Another thread may call prefetch() while the list changes.
class PieceList {
 public:
  PieceList() = default;
  PieceList(const PieceList&) = delete;
  PieceList& operator=(const PieceList&) = delete;

  [[nodiscard]] std::uint32_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

  /// All calls must pass the same `slabs`, which must outlive the list.
  void push(const Piece& piece, Slabs& slabs) {
    const std::uint32_t last = size();
    if (last == capacity_) grow(slabs);
    if (piece.access.cluster != cluster_ || last == 0) begin_run(piece.access.cluster, last);
    begin()[last] = piece;
    if (piece.has_table()) {
      if (tables_ == nullptr)
        tables_.reset(new LaneTable[capacity_]);  // NOLINT: an entry is set if its part has a table
      tables_[last] = piece.table;
    }
    writes_ += piece.access.writes() ? 1 : 0;
    resize(last + 1);
  }
  /// Calls visit(piece) for each piece whose look(part) is true, until visit returns false. The list keeps
  /// changes by visit to the piece's bytes and table, but not to its access.
  template <typename Look, typename Visit>
  void for_each(const Look& look, const Visit& visit) {
    Part* const all = begin();
    const std::uint32_t count = size();
    for (std::uint32_t i = 0; i < count; ++i) {
      if (look(all[i]) && !visit_piece(i, visit)) return;
    }
  }
  /// Like for_each(), for the pieces that write.
  template <typename Look, typename Visit>
  void for_each_write(const Look& look, const Visit& visit) {
    Part* const all = begin();
    std::uint32_t left = writes_;
    for (std::uint32_t i = 0; left != 0; ++i) {
      if (!all[i].access.writes()) continue;
      --left;
      if (look(all[i]) && !visit_piece(i, visit)) return;
    }
  }
  /// The result of look(part).
  enum class Look : std::uint8_t { nothing, something, all };
  /// Calls look(part) for the parts of one cluster. If look returns `something`, calls visit(piece) as
  /// for_each() does. If look returns `all`, stops. look may change the bytes of a part.
  template <typename See, typename Visit>
  void for_each_of(std::uint32_t cluster, const See& look, const Visit& visit) {
    Part* const all = begin();
    const std::uint32_t count = size();
    std::uint32_t i = cluster == cluster_ ? run_ : cluster > highest_ ? count : 0;
    for (; i < count; ++i) {
      if (all[i].access.cluster != cluster) continue;
      const Look found = look(all[i]);
      if (found == Look::all || (found == Look::something && !visit_piece(i, visit))) return;
    }
  }
  /// Removes `bytes` from all pieces, except from weak writes if `weak_writes_stay`. Drops pieces that have
  /// no bytes left.
  void erase(ByteMask bytes, bool weak_writes_stay = false) {
    Part* const all = begin();
    const std::uint32_t count = size();
    std::uint32_t remaining = 0;
    std::uint32_t run = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (i == run_) run = remaining;
      if ((all[i].bytes & bytes) != 0 && !(weak_writes_stay && all[i].access.is_weak_write()))
        all[i].bytes &= ~bytes;
      if (all[i].bytes == 0) {
        writes_ -= all[i].access.writes() ? 1 : 0;
        continue;
      }
      if (remaining != i) {
        all[remaining] = all[i];
        if (all[i].has_table()) tables_[remaining] = tables_[i];
      }
      ++remaining;
    }
    run_ = run;
    resize(remaining);
  }
  [[nodiscard]] bool has_weak_write() const noexcept {
    return std::any_of(begin(), begin() + size(),
                       [](const Part& part) { return part.access.is_weak_write(); });
  }
  void clear() noexcept {
    writes_ = 0;
    resize(0);
  }
  /// Prefetches the first parts, the last parts, and the memory for the next part.
  void prefetch() const noexcept {
    const Part* const first = begin();
    if (first == nullptr) return;
    const std::uint32_t count = size();
    __builtin_prefetch(first);
    __builtin_prefetch(first + 2);
    for (std::uint32_t back = 0; back <= std::min(count, 6U); back += 2)
      __builtin_prefetch(first + (count - back));
  }

 private:
  static_assert(std::is_trivially_copyable_v<Part> && alignof(Part) <= alignof(std::max_align_t));
  static constexpr std::uint32_t min_capacity = 4;

  /// A run of pieces of one cluster begins at index `at`. The cluster has earlier pieces only if another
  /// cluster added pieces in between, which is rare.
  void begin_run(std::uint32_t cluster, std::uint32_t at) noexcept {
    const bool fresh = at == 0 || cluster > highest_;
    run_ = fresh ? at : 0;
    highest_ = fresh ? cluster : highest_;
    cluster_ = cluster;
  }

  template <typename Visit>
  bool visit_piece(std::uint32_t i, const Visit& visit) {
    Piece piece;
    static_cast<Part&>(piece) = begin()[i];
    LaneTable* const table = piece.has_table() ? &tables_[i] : nullptr;
    if (table != nullptr) piece.table = *table;
    const bool continues = visit(piece);
    begin()[i].bytes = piece.bytes;
    if (table != nullptr) *table = piece.table;
    return continues;
  }
  [[nodiscard]] Part* begin() const noexcept { return parts_.load(std::memory_order_relaxed); }
  void resize(std::uint32_t size) noexcept { size_.store(size, std::memory_order_relaxed); }
  void grow(Slabs& slabs) {
    const std::uint32_t new_capacity = std::max(min_capacity, 2 * capacity_);
    auto* const new_parts = static_cast<Part*>(slabs.take(new_capacity * sizeof(Part)));
    std::uninitialized_copy_n(begin(), size(), new_parts);
    parts_.store(new_parts, std::memory_order_relaxed);
    if (tables_ != nullptr) {
      std::unique_ptr<LaneTable[]> new_tables(new LaneTable[new_capacity]);  // NOLINT: as above
      std::copy_n(tables_.get(), size(), new_tables.get());
      tables_ = std::move(new_tables);
    }
    capacity_ = new_capacity;
  }

  std::atomic<Part*> parts_ = nullptr;
  std::atomic<std::uint32_t> size_ = 0;
  std::uint32_t capacity_ = 0;
  std::uint32_t writes_ = 0;   ///< number of pieces that write
  std::uint32_t cluster_ = 0;  ///< cluster of the last piece
  std::uint32_t run_ = 0;      ///< no piece of cluster_ has a lower index
  std::uint32_t highest_ = 0;  ///< the highest cluster number so far
  std::unique_ptr<LaneTable[]> tables_;
};

}  // namespace sim
TMAJIT_END
