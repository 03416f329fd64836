#pragma once

/// The record of an access: the agent, and which lanes accessed which bytes of a line of 128 bytes.
#include "sim/program/program.hpp"

#include <array>
#include <bit>

TMAJIT_BEGIN
namespace sim {

/// The number of an entity with a time of its own. Numbers 0 and up are the warps of a cluster, CTA by CTA.
/// Then come asynchronous agents: the loads of an mbarrier, the bulk stores of a thread, the wgmma products
/// of a warp, and the releases of other clusters that a set of lanes has acquired (imports).
using Agent = std::uint16_t;

inline constexpr std::uint32_t line_bytes = 128;

/// Bytes of a line, one bit each.
__extension__ using ByteMask = unsigned __int128;
inline constexpr ByteMask whole_line = ~ByteMask{0};

[[nodiscard]] inline ByteMask byte_range(std::uint32_t begin, std::uint32_t end) noexcept {
  const auto below = [](std::uint32_t n) { return n == line_bytes ? whole_line : (ByteMask{1} << n) - 1; };
  return below(end) & ~below(begin);
}
[[nodiscard]] inline bool has(ByteMask mask, std::uint32_t byte) noexcept {
  return (mask >> byte & 1) != 0;
}
/// The first address of the line that holds `at`.
[[nodiscard]] constexpr std::uint64_t line_of(std::uint64_t at) noexcept {
  return at & ~std::uint64_t{line_bytes - 1};
}
/// The bytes of [at, end) in the line that begins at `line`.
[[nodiscard]] inline ByteMask bytes_in(std::uint64_t line, std::uint64_t at, std::uint64_t end) noexcept {
  return byte_range(at <= line ? 0 : static_cast<std::uint32_t>(at - line),
                    static_cast<std::uint32_t>(std::min<std::uint64_t>(end - line, line_bytes)));
}
/// The lowest byte in a mask, which must not be empty.
[[nodiscard]] inline std::uint32_t first_of(ByteMask mask) noexcept {
  const auto low = static_cast<std::uint64_t>(mask);
  return static_cast<std::uint32_t>(low != 0 ? std::countr_zero(low)
                                             : 64 + std::countr_zero(static_cast<std::uint64_t>(mask >> 64)));
}

/// The mapping of the bytes of a line to the lanes of a warp.
enum Spread : std::uint8_t {
  // `first` is Access::first. Spreads 0 … 4: byte b belongs to lane first + (b >> spread).
  one_lane = 5,  ///< all bytes belong to lane `first`
  a_set = 6,     ///< each byte belongs to every lane of LaneTable::set
  a_map = 7,  ///< LaneTable::map gives the lane of each byte; `first` encodes the map's range (Part::map_of)
  no_lane = 8,  ///< a copy or product; bits 0–1 of the spread and `first` encode the issuing thread's number
  a_product = 16,  ///< with no_lane: a wgmma
};

/// An access as the shadow records it.
struct Access {
  std::uint32_t time = 0;  ///< the agent's time; 0: no access
  std::uint32_t cluster = 0;
  std::uint32_t location = 0;  ///< index into Program::locations, plus the flags below and the CTA's rank
  Agent agent = 0;
  std::int8_t first = 0;
  std::uint8_t spread = 0;

  static constexpr std::uint32_t strong = 1U << 31;     ///< relaxed, volatile or atomic
  static constexpr std::uint32_t cta_scope = 1U << 30;  ///< strong at CTA scope only
  static constexpr std::uint32_t object = 1U << 29;     ///< the access is to an mbarrier object
  static constexpr std::uint32_t rank_at = 25;          ///< first bit of the rank
  static constexpr std::uint32_t written = 1U << 24;    ///< the access is a write
  static constexpr std::uint32_t location_mask = written - 1;
  static_assert(max_cluster << rank_at <= object && written << 1 == 1U << rank_at);

  /// The rank of the CTA whose thread accesses memory or has issued the copy.
  [[nodiscard]] std::uint32_t rank() const noexcept { return (location & (object - 1)) >> rank_at; }
  [[nodiscard]] bool is_copy() const noexcept { return (spread & no_lane) != 0; }
  [[nodiscard]] bool writes() const noexcept { return (location & written) != 0; }
  [[nodiscard]] bool is_weak_write() const noexcept { return (location & (written | strong)) == written; }

  /// Whether each byte belongs to the same lane in both accesses, neither of which has a LaneTable. False for
  /// copies.
  [[nodiscard]] bool same_threads(const Access& other) const noexcept {
    return agent == other.agent && first == other.first && spread == other.spread && !is_copy();
  }
  /// This access with `first` set to `lane`. Computed in a register, because loading a word right after a
  /// byte store into it is slow.
  [[nodiscard]] Access with_first(int lane) const noexcept {
    auto words = std::bit_cast<std::array<std::uint64_t, 2>>(*this);
    constexpr int at = 8 * 6;
    static_assert(std::endian::native == std::endian::little);
    words[1] = (words[1] & ~(0xffULL << at)) | std::uint64_t{static_cast<std::uint8_t>(lane)} << at;
    return std::bit_cast<Access>(words);
  }
  /// The number in its CTA of the thread in lane `lane`, or of the thread that issued the copy. CTAs have
  /// `warps` warps.
  [[nodiscard]] std::uint32_t thread(std::uint32_t lane, std::size_t warps) const noexcept {
    return is_copy() ? (spread & 3U) << 8 | static_cast<std::uint8_t>(first)
                     : static_cast<std::uint32_t>(agent % warps * 32U + lane);
  }
};

/// Whether both accesses are strong and their scopes include each other's threads: such accesses never race.
[[nodiscard]] inline bool morally_strong(const Access& a, const Access& b) noexcept {
  if ((a.location & b.location & Access::strong) == 0) return false;
  return (a.cluster == b.cluster && a.rank() == b.rank()) ||
         ((a.location | b.location) & Access::cta_scope) == 0;
}

/// An access to some bytes of a line, without the table of lanes (see Piece).
struct Part {
  ByteMask bytes = 0;
  Access access;

  [[nodiscard]] bool has_table() const noexcept { return access.spread == a_set || access.spread == a_map; }
  /// The value of Access::first for an a_map whose range contains `byte`. A map has 32 units of 1 << `log`
  /// bytes. If these are less than a line, its range is the aligned part of the line that contains `byte`.
  [[nodiscard]] static constexpr std::int8_t map_of(std::uint32_t log, std::uint32_t byte) noexcept {
    return static_cast<std::int8_t>(log | (log < 2 ? byte >> (5 + log) << log : 0) << 3);
  }
  // In a folded a_map each byte belongs to several lanes: to the lane in the table and the lane 16 above it
  // (twice), or to the 16 lanes from the lane in the table on (halves).
  static constexpr std::int8_t folded_twice = 1 << 5;
  static constexpr std::int8_t folded_halves = 1 << 6;
  static constexpr std::int8_t folded = folded_twice | folded_halves;
  /// a_map: the lanes of a byte for which the table has lane 0.
  [[nodiscard]] Mask lanes_of_first() const noexcept {
    return (access.first & folded_twice) != 0    ? 0x00010001U
           : (access.first & folded_halves) != 0 ? 0xffffU
                                                 : 1U;
  }
  /// Whether each byte belongs to a single lane.
  [[nodiscard]] bool one_lane_each() const noexcept {
    return access.spread < a_set || (access.spread == a_map && (access.first & folded) == 0);
  }
  /// a_map: the index of a byte's entry in the table.
  [[nodiscard]] std::uint32_t unit_of(std::uint32_t byte) const noexcept {
    return (byte - (static_cast<std::uint32_t>(access.first) >> 3 & 3U) * lanes) >> unit_log();
  }
  /// Size in bytes of the aligned units within which all bytes belong to the same lanes; a power of two.
  [[nodiscard]] std::uint32_t grain() const noexcept {
    return access.spread < one_lane ? 1U << access.spread
           : access.spread == a_map ? 1U << unit_log()
                                    : line_bytes;
  }

 private:
  [[nodiscard]] std::uint32_t unit_log() const noexcept { return access.first & 7U; }
};

union LaneTable {
  Mask set;                               ///< a_set: the lanes
  std::array<std::uint8_t, lanes> map{};  ///< a_map: by unit; only units with bytes in the part are set
};

/// An access to some bytes of a line.
struct Piece : Part {
  LaneTable table;

  /// The lanes that accessed the byte.
  [[nodiscard]] Mask lanes_at(std::uint32_t byte) const noexcept {
    switch (access.spread) {
      case one_lane: return 1U << access.first;
      case a_set: return table.set;
      case a_map: return lanes_of_first() << table.map[unit_of(byte)];
      case no_lane: return 1;
      default:
        return access.is_copy() ? 1
                                : 1U << (static_cast<std::uint32_t>(access.first +
                                                                    static_cast<int>(byte >> access.spread)) &
                                         31U);
    }
  }
};

}  // namespace sim
TMAJIT_END
