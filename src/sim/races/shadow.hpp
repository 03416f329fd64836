#pragma once

/// The last accesses to each byte of memory, in lines of 128 bytes. If all accesses to a line cover it as a
/// whole, it has one record for writes and one for reads. Any other line has a list of pieces, exact to the
/// byte.
#include "sim/memory/region.hpp"
#include "sim/races/clock.hpp"
#include "sim/races/piece_list.hpp"

#include <atomic>
#include <optional>
#include <thread>

TMAJIT_BEGIN
namespace sim {

class Imports;

enum class Memory : std::uint8_t { shared, global };

/// The present access, and the knowledge of its threads or its copy: which earlier accesses happen before it.
struct Touch {
  Access access;
  const Clock* clock = nullptr;          ///< known to all participating lanes
  const Knowledge* knowledge = nullptr;  ///< the clock of each lane; null for a copy
  Imports* imports = nullptr;            ///< imports of this cluster from other clusters
  Memory memory = Memory::shared;
  bool write = false;
  bool quiet = false;       ///< another rule has been reported already for this access
  bool same_value = false;  ///< a write of the value that is in memory already

  /// Whether both accesses are writes by one instruction, and this one writes the value that memory holds
  /// already. Such writes do not race: memory holds the same in either order.
  [[nodiscard]] bool repeats_write(const Access& earlier) const noexcept {
    return same_value && (earlier.location & Access::written) != 0 &&
           (earlier.location & Access::location_mask) == (access.location & Access::location_mask);
  }
  /// Whether all participating lanes know the earlier access, or the same threads made both.
  [[nodiscard]] bool follows(const Access& earlier, const Access& now) const noexcept {
    return earlier.time == 0 ||
           (earlier.cluster == now.cluster &&
            (earlier.time <= clock->time_of(earlier.agent) || earlier.same_threads(now)));
  }
  /// Whether all participating lanes know all of the earlier access.
  [[nodiscard]] bool ordered_after(const Access& earlier) const noexcept {
    return earlier.cluster == access.cluster && earlier.time <= clock->time_of(earlier.agent);
  }
  /// Whether lane `lane` knows the part of lane `of` in the earlier access.
  [[nodiscard]] bool knows(std::uint32_t lane, const Access& earlier, std::uint32_t of) const;
};

/// An earlier access that no edge orders before the present one.
struct Conflict {
  Access earlier;
  std::uint32_t earlier_lane = 0;
  bool earlier_write = false;
  std::uint32_t lane = 0;  ///< lane of the present access
  std::uint32_t byte = 0;  ///< offset in the line
};

/// The shadow of 4 KiB of memory.
class Block {
 public:
  /// `slabs` must outlive the block.
  explicit Block(Slabs& slabs) : slabs_(slabs) {}
  ~Block() {
    if (Lists* const lists = lists_.load()) std::destroy_at(lists);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  static constexpr std::uint32_t bytes = 4096;
  static constexpr std::uint32_t lines = bytes / line_bytes;

  /// Checks and records an access to a whole line. Returns false, and does nothing, if the line has pieces or
  /// an earlier access may conflict; then the caller must use check() and add().
  bool record_whole_line(std::uint32_t line, const Touch& touch, Access now) {
    if ((split_ >> line & 1) != 0 || !touch.follows(writes_.at(line), now) ||
        !touch.follows(reads_.at(line), now))
      return false;
    if (touch.write && !now.is_weak_write() && writes_.at(line).is_weak_write()) return false;
    if (touch.write) {
      writes_.set(line, now, spare_);
      reads_.forget(line);
    } else {
      reads_.set(line, now, spare_);
    }
    return true;
  }
  /// Whether the line has only whole-line records, and `touch` knows the accesses in them.
  [[nodiscard]] bool follows(std::uint32_t line, const Touch& touch) const noexcept {
    return (split_ >> line & 1) == 0 && touch.follows(writes_.at(line), touch.access) &&
           touch.follows(reads_.at(line), touch.access);
  }
  /// With `writes`, the last write to any of the bytes `accessed`; else one of the last accesses to them.
  /// nullopt if there is none.
  [[nodiscard]] std::optional<Conflict> last(std::uint32_t line, ByteMask accessed, bool writes);
  /// An earlier access that conflicts with `piece`; nullopt if there is none.
  [[nodiscard]] std::optional<Conflict> check(std::uint32_t line, const Piece& piece, const Touch& touch);
  void add(std::uint32_t line, const Piece& piece, const Touch& touch);
  void clear();

  /// Prefetches the data that record_whole_line() needs.
  void prefetch(std::uint32_t line) const noexcept {
    __builtin_prefetch(this);
    __builtin_prefetch(&first_[line]);
  }
  // To prefetch the data that check() and add() need, call the next two functions in this order.

  void prefetch_list(std::uint32_t line) const noexcept {
    if (const Lists* const lists = lists_.load(std::memory_order_acquire))
      __builtin_prefetch(&(*lists)[line]);
  }
  void prefetch_pieces(std::uint32_t line) const noexcept {
    if (const Lists* const lists = lists_.load(std::memory_order_acquire)) (*lists)[line].prefetch();
  }

  void lock() noexcept {
    while (locked_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() noexcept { locked_.clear(std::memory_order_release); }

 private:
  using Lists = std::array<PieceList, lines>;
  using Records = std::array<Access, lines>;

  /// The whole-line records of reads, or of writes. Most memory is only read or only written. So the kind
  /// that occurs first uses the records in the block (`spare`), and the other kind allocates its own when it
  /// occurs.
  class Whole {
   public:
    [[nodiscard]] const Access& at(std::uint32_t line) const noexcept { return (*records_)[line]; }
    void set(std::uint32_t line, Access access, Records*& spare) {
      if (own_ == nullptr) take(spare);
      (*own_)[line] = access;
    }
    void forget(std::uint32_t line) noexcept {
      if (own_ != nullptr) (*own_)[line].time = 0;
    }
    void clear() noexcept {
      if (own_ != nullptr) *own_ = {};
    }

   private:
    void take(Records*& spare);

    static const Records none;
    const Records* records_ = &none;
    Records* own_ = nullptr;
    std::unique_ptr<Records> allocated_;
  };

  /// Returns the pieces of a line. If it has none yet, makes them from its whole-line records.
  PieceList& split(std::uint32_t line) {
    if ((split_ >> line & 1) == 0) [[unlikely]]
      begin_pieces(line);
    return (*lists_.load(std::memory_order_relaxed))[line];
  }
  void begin_pieces(std::uint32_t line);

  Slabs& slabs_;
  Whole writes_;
  Whole reads_;
  Records* spare_ = &first_;  ///< null once one kind uses first_
  std::uint32_t split_ = 0;   ///< mask of lines that have pieces
  std::atomic_flag locked_;
  std::atomic<Lists*> lists_ = nullptr;
  Records first_{};
};

/// The shadow of global memory for one launch. The first access to a block of memory creates its shadow.
/// Thread-safe: users lock the block.
class GlobalShadow {
 public:
  /// `slabs` must outlive the shadow.
  GlobalShadow(const std::vector<Region>& regions, Slabs& slabs);
  ~GlobalShadow();
  GlobalShadow(const GlobalShadow&) = delete;
  GlobalShadow& operator=(const GlobalShadow&) = delete;

  struct Found {
    Block* block;
    std::uint32_t line;
  };
  // `hint` belongs to the caller: the index of the last region found, which the search tries first.

  /// Prefetches the shadow of an address.
  void prefetch(std::uint64_t address, std::size_t& hint) const noexcept;
  /// Returns the shadow of an address, which must be in a region. Creates the block if it is missing.
  [[nodiscard]] Found find(std::uint64_t address, std::size_t& hint);
  /// Returns the shadow of an address; nothing if no region holds it, or if its block has had no access.
  [[nodiscard]] std::optional<Found> touched(std::uint64_t address) const noexcept;

 private:
  struct Part {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    std::unique_ptr<std::atomic<Block*>[]> blocks;
  };
  [[nodiscard]] static std::size_t blocks_of(const Part& part) {
    return static_cast<std::size_t>((part.bytes + Block::bytes - 1) / Block::bytes);
  }

  /// The shadow of the region that holds an address.
  [[nodiscard]] const Part& part(std::uint64_t address, std::size_t& hint) const noexcept {
    if (hint >= parts_.size() || address - parts_[hint].begin >= parts_[hint].bytes) search(address, hint);
    return parts_[hint];
  }
  void search(std::uint64_t address, std::size_t& hint) const noexcept;

  Slabs& slabs_;
  std::vector<Part> parts_;
};

}  // namespace sim
TMAJIT_END
