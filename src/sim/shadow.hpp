#pragma once

/// Who touched each byte of memory last: lines of 128 bytes. A line that a warp, a thread or a copy touches
/// as a whole is one record for writes and one for reads; any other has a list of pieces, exact to the byte.
#include "sim/clock.hpp"
#include "sim/launch.hpp"

#include <atomic>
#include <optional>

TMAJIT_BEGIN
namespace sim {

inline constexpr std::uint32_t line_bytes = 128;

/// Bytes of a line, a bit each.
__extension__ using ByteMask = unsigned __int128;
inline constexpr ByteMask whole_line = ~ByteMask{0};

[[nodiscard]] inline ByteMask byte_range(std::uint32_t begin, std::uint32_t end) noexcept {
  const auto below = [](std::uint32_t n) { return n == line_bytes ? whole_line : (ByteMask{1} << n) - 1; };
  return below(end) & ~below(begin);
}
[[nodiscard]] inline bool has(ByteMask mask, std::uint32_t byte) noexcept {
  return (mask >> byte & 1) != 0;
}
/// The first byte of those that are there.
[[nodiscard]] inline std::uint32_t first_of(ByteMask mask) noexcept {
  const auto low = static_cast<std::uint64_t>(mask);
  return static_cast<std::uint32_t>(low != 0 ? std::countr_zero(low)
                                             : 64 + std::countr_zero(static_cast<std::uint64_t>(mask >> 64)));
}

/// How the bytes of a line are shared out among the lanes of a warp.
enum Spread : std::uint8_t {
  // 0 … 4: byte b is lane first + (b >> spread)'s.
  one_lane = 5,    ///< all are lane first's
  a_set = 6,       ///< all are every lane's of a set
  a_map = 7,       ///< each has a lane of its own
  no_lane = 8,     ///< an agent's; bits 0–1 and `first`: the thread that asked for it
  a_product = 16,  ///< beside no_lane: of a wgmma
};

/// An access as memory remembers it.
struct Access {
  std::uint32_t time = 0;  ///< of the agent; 0: there was none
  std::uint32_t cluster = 0;
  std::uint32_t place = 0;  ///< index into Program::place, rank of the CTA, and how strong it is
  Agent agent = 0;
  std::int8_t first = 0;
  std::uint8_t spread = 0;

  static constexpr std::uint32_t strong = 1U << 31;  ///< relaxed, volatile or atomic
  static constexpr std::uint32_t narrow = 1U << 30;  ///< strong at CTA scope only
  static constexpr std::uint32_t object = 1U << 29;  ///< of an mbarrier as such
  static constexpr std::uint32_t rank_at = 26;
  static constexpr std::uint32_t place_mask = (1U << rank_at) - 1;
  static_assert(max_cluster << rank_at <= object);

  /// Of the CTA whose thread accesses memory, or has asked for the copy.
  [[nodiscard]] std::uint32_t rank() const noexcept { return (place & (object - 1)) >> rank_at; }
  [[nodiscard]] bool is_copy() const noexcept { return (spread & no_lane) != 0; }

  [[nodiscard]] bool same_threads(const Access& other) const noexcept {
    return agent == other.agent && first == other.first && spread == other.spread && !is_copy();
  }
  /// The same with another first lane. In one register: memory written byte by byte is slow to copy.
  [[nodiscard]] Access from(int lane) const noexcept {
    auto words = std::bit_cast<std::array<std::uint64_t, 2>>(*this);
    constexpr int at = 8 * 6;
    static_assert(std::endian::native == std::endian::little);
    words[1] = (words[1] & ~(0xffULL << at)) | std::uint64_t{static_cast<std::uint8_t>(lane)} << at;
    return std::bit_cast<Access>(words);
  }
  /// The thread of lane `lane` in its CTA, which has `warps`, or the one that issued the copy.
  [[nodiscard]] std::uint32_t thread(std::uint32_t lane, std::size_t warps) const noexcept {
    return is_copy() ? (spread & 3U) << 8 | static_cast<std::uint8_t>(first)
                     : static_cast<std::uint32_t>(agent % warps * 32U + lane);
  }
};

/// An access to some bytes of a line.
struct Piece {
  ByteMask bytes = 0;
  Access access;
  Mask set = 0;  ///< a_set: the lanes
  bool write = false;
  std::array<std::uint8_t, line_bytes> map;  // NOLINT: a_map, of the bytes it has

  /// Lanes that touched the byte.
  [[nodiscard]] Mask lanes_at(std::uint32_t byte) const noexcept {
    switch (access.spread) {
      case one_lane: return 1U << access.first;
      case a_set: return set;
      case a_map: return 1U << map[byte];
      case no_lane: return 1;
      default:
        return access.is_copy() ? 1
                                : 1U << (static_cast<std::uint32_t>(access.first +
                                                                    static_cast<int>(byte >> access.spread)) &
                                         31U);
    }
  }
};

class Imports;

enum class Memory : std::uint8_t { shared, global };

/// Who touches memory now, and what is known then.
struct Touch {
  Access access;
  const Clock* clock = nullptr;          ///< known to all who take part
  const Knowledge* knowledge = nullptr;  ///< lane by lane; null for a copy
  const Imports* imports = nullptr;      ///< what is known of other clusters
  Memory memory = Memory::shared;
  bool write = false;
  bool quiet = false;  ///< a rule has been reported already

  /// Whether the access is known, or of the same threads, whatever lane is asked.
  [[nodiscard]] bool follows(const Access& earlier, const Access& now) const noexcept {
    return earlier.time == 0 || (earlier.cluster == now.cluster &&
                                 (earlier.time <= clock->all(earlier.agent) || earlier.same_threads(now)));
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
  Block() = default;
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  static constexpr std::uint32_t bytes = 4096;
  static constexpr std::uint32_t lines = bytes / line_bytes;

  /// Looks at a line all of which is touched, and remembers it. False: nothing done, use check() and add().
  bool touch(std::uint32_t line, const Touch& by, Access now) {
    if ((split_ >> line & 1) != 0 || !by.follows(writes_.at(line), now) || !by.follows(reads_.at(line), now))
      return false;
    if (by.write) {
      writes_.set(line, now, spare_);
      reads_.forget(line);
    } else {
      reads_.set(line, now, spare_);
    }
    return true;
  }
  /// The first earlier access that `piece` conflicts with.
  [[nodiscard]] std::optional<Conflict> check(std::uint32_t line, const Piece& piece, const Touch& by);
  void add(std::uint32_t line, const Piece& piece, const Touch& by);
  void clear();

  /// Brings what touch() needs nearer.
  void prefetch(std::uint32_t line) const noexcept {
    __builtin_prefetch(this);
    __builtin_prefetch(&first_[line]);
  }

  void lock() noexcept {
    while (locked_.test_and_set(std::memory_order_acquire)) {
    }
  }
  void unlock() noexcept { locked_.clear(std::memory_order_release); }

 private:
  using Pieces = std::vector<Piece>;
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

  Pieces& split(std::uint32_t line);

  Whole writes_;
  Whole reads_;
  Records* spare_ = &first_;
  std::uint32_t split_ = 0;  ///< lines that have pieces
  std::atomic_flag locked_;
  std::unique_ptr<std::array<Pieces, lines>> pieces_;
  Records first_{};
};

/// The shadow of global memory for one launch; what nobody touches takes no room. Thread-safe: blocks come
/// into being once, and are locked to be used.
class GlobalShadow {
 public:
  explicit GlobalShadow(const std::vector<Region>& regions);
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

  std::vector<Part> parts_;
};

}  // namespace sim
TMAJIT_END
