#pragma once

/// Who touched each byte of memory last: lines of 128 bytes. A line that a warp, a thread or a copy touches
/// as a whole is one record for writes and one for reads; any other has a list of pieces, exact to the byte.
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

/// Who touches memory now, and what is known then.
struct Touch {
  Access access;
  const Clock* clock = nullptr;          ///< known to all who take part
  const Knowledge* knowledge = nullptr;  ///< lane by lane; null for a copy
  Imports* imports = nullptr;            ///< what is known of other clusters
  Memory memory = Memory::shared;
  bool write = false;
  bool quiet = false;    ///< a rule has been reported already
  bool repeats = false;  ///< a write of what stood there already

  /// Whether both are writes by one instruction, and the later of what the earlier wrote: whoever comes last,
  /// memory holds the same.
  [[nodiscard]] bool repeats_write(const Access& earlier) const noexcept {
    return repeats && (earlier.place & Access::written) != 0 &&
           (earlier.place & Access::place_mask) == (access.place & Access::place_mask);
  }
  /// Whether the access is known, or of the same threads, whatever lane is asked.
  [[nodiscard]] bool follows(const Access& earlier, const Access& now) const noexcept {
    return earlier.time == 0 || (earlier.cluster == now.cluster &&
                                 (earlier.time <= clock->all(earlier.agent) || earlier.same_threads(now)));
  }
  /// Whether all of an access is known.
  [[nodiscard]] bool ordered_after(const Access& earlier) const noexcept {
    return earlier.cluster == access.cluster && earlier.time <= clock->all(earlier.agent);
  }
  /// Whether lane `lane` knows what lane `of` did in an access.
  [[nodiscard]] bool knows(std::uint32_t lane, const Access& earlier, std::uint32_t of) const;
};

/// Two accesses that no edge orders.
struct Conflict {
  Access earlier;
  std::uint32_t earlier_lane = 0;
  bool earlier_write = false;
  std::uint32_t lane = 0;  ///< of the later
  std::uint32_t byte = 0;  ///< of the line
};

/// The shadow of 4 KiB.
class Block {
 public:
  /// `slabs` outlive the block.
  explicit Block(Slabs& slabs) : slabs_(slabs) {}
  ~Block() {
    if (Lists* const lists = lists_.load()) std::destroy_at(lists);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  static constexpr std::uint32_t bytes = 4096;
  static constexpr std::uint32_t lines = bytes / line_bytes;

  /// Looks at a line all of which is touched, and remembers it. False: nothing done, use check() and add().
  bool touch(std::uint32_t line, const Touch& by, Access now) {
    if ((split_ >> line & 1) != 0 || !by.follows(writes_.at(line), now) || !by.follows(reads_.at(line), now))
      return false;
    if (by.write && !now.is_weak_write() && writes_.at(line).is_weak_write()) return false;
    if (by.write) {
      writes_.set(line, now, spare_);
      reads_.forget(line);
    } else {
      reads_.set(line, now, spare_);
    }
    return true;
  }
  /// Whether all accesses of a line are known that are remembered as a whole.
  [[nodiscard]] bool follows(std::uint32_t line, const Touch& by) const noexcept {
    return (split_ >> line & 1) == 0 && by.follows(writes_.at(line), by.access) &&
           by.follows(reads_.at(line), by.access);
  }
  /// The last access to `some` bytes, if there is one, or the last write.
  [[nodiscard]] std::optional<Conflict> last(std::uint32_t line, ByteMask some, bool writes);
  /// The first earlier access that `piece` conflicts with.
  [[nodiscard]] std::optional<Conflict> check(std::uint32_t line, const Piece& piece, const Touch& by);
  void add(std::uint32_t line, const Piece& piece, const Touch& by);
  void clear();

  /// Brings what touch() needs nearer.
  void prefetch(std::uint32_t line) const noexcept {
    __builtin_prefetch(this);
    __builtin_prefetch(&first_[line]);
  }
  // What check() and add() need besides, in two steps.

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

  /// One access a line. Most memory is only read or only written: the first kind has room in the block, the
  /// other gets it when it occurs.
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
    std::unique_ptr<Records> more_;
  };

  /// The pieces of a line, which has them from now on.
  PieceList& split(std::uint32_t line) {
    if ((split_ >> line & 1) == 0) [[unlikely]]
      begin_pieces(line);
    return (*lists_.load(std::memory_order_relaxed))[line];
  }
  void begin_pieces(std::uint32_t line);

  Slabs& slabs_;
  Whole writes_;
  Whole reads_;
  Records* spare_ = &first_;
  std::uint32_t split_ = 0;  ///< lines that have pieces
  std::atomic_flag locked_;
  std::atomic<Lists*> lists_ = nullptr;
  Records first_{};
};

/// The shadow of global memory for one launch; what nobody touches takes no room. Thread-safe: blocks come
/// into being once, and are locked to be used.
class GlobalShadow {
 public:
  /// `slabs` outlive the shadow.
  GlobalShadow(const std::vector<Region>& regions, Slabs& slabs);
  ~GlobalShadow();
  GlobalShadow(const GlobalShadow&) = delete;
  GlobalShadow& operator=(const GlobalShadow&) = delete;

  struct Found {
    Block* block;
    std::uint32_t line;
  };
  /// The shadow of an address of a region; `hint` is the caller's, to find it faster.
  void prefetch(std::uint64_t address, std::size_t& hint) const noexcept;
  [[nodiscard]] Found find(std::uint64_t address, std::size_t& hint);
  /// Nothing if the launch had no such region, or nobody touched what is near in it.
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

  /// The part that holds an address.
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
