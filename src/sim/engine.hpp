#pragma once

/// The copy engines of a CTA: they do what they were asked as late as they may, or at moments drawn from the
/// seed.
#include "sim/launch.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

TMAJIT_BEGIN
namespace sim {

class Cta;
struct Warp;

// The rows of a tile as the copy engine moves them (docs/tma.md; PTX ISA, "Tensors").

/// One row: `bytes` in shared memory of which [first, last) are inside the tensor.
struct TileRow {
  std::uint32_t shared = 0;  ///< from the tile's address, before the swizzle
  std::int64_t global = 0;   ///< from the tensor's address, of the row's byte 0
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

class Tile {
 public:
  Tile(const TensorMapSpec& map, const std::array<std::int64_t, 5>& origin) : map_(map), origin_(origin) {
    const std::uint32_t inner = map.rank - 1U;
    const bool interleaved = map.interleave != Interleave::none;
    unit_ = !interleaved ? size_of(map.type) : map.interleave == Interleave::b16 ? 16 : 32;
    for (std::uint32_t d = 0; d < map.rank; ++d) {
      steps_[d] = d == inner && !interleaved ? 1 : map.element_strides[d];
      extents_[d] = (map.box[d] + steps_[d] - 1) / steps_[d];
    }
    row_bytes_ = extents_[inner] * unit_;
    pitch_ = interleaved ? row_bytes_ : std::max(row_bytes_, span_bytes(map.swizzle));
    for (std::uint32_t d = 0; d < inner; ++d) rows_ *= extents_[d];
    mask_ = (1U << static_cast<std::uint32_t>(map.swizzle)) - 1;
  }

  [[nodiscard]] std::uint32_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::uint32_t row_bytes() const noexcept { return row_bytes_; }
  /// From the first byte to one past the last.
  [[nodiscard]] std::uint32_t span() const noexcept { return rows_ * pitch_; }
  [[nodiscard]] std::uint32_t bytes() const noexcept { return rows_ * row_bytes_; }

  /// Calls visit(TileRow) for every row in the order of shared memory.
  template <typename Visit>
  void for_each_row(const Visit& visit) const {
    const std::uint32_t inner = map_.rank - 1U;
    const std::int64_t column = origin_[inner];
    const auto width = static_cast<std::int64_t>(extents_[inner]);
    const auto extent = static_cast<std::int64_t>(map_.shape[inner]);
    const auto clip = [&](std::int64_t at) {
      return static_cast<std::uint32_t>(std::clamp<std::int64_t>(at - column, 0, width)) * unit_;
    };
    std::array<std::uint32_t, 5> index{};
    for (std::uint32_t row = 0; row < rows_; ++row) {
      TileRow r{row * pitch_, column * unit_, clip(0), clip(extent)};
      bool inside = true;
      for (std::uint32_t d = 0; d < inner; ++d) {
        const std::int64_t at = origin_[d] + static_cast<std::int64_t>(index[d]) * steps_[d];
        inside = inside && at >= 0 && static_cast<std::uint64_t>(at) < map_.shape[d];
        r.global += at * static_cast<std::int64_t>(map_.strides[d]);
      }
      if (!inside || r.last < r.first) r.last = r.first;
      visit(r);
      for (std::uint32_t d = inner; d-- > 0;) {
        if (++index[d] < extents_[d]) break;
        index[d] = 0;
      }
    }
  }

  /// Calls visit(shared offset, byte in the row, bytes) for the pieces of a row; `base` is the tile's offset
  /// in shared memory that begins at a multiple of 1024.
  template <typename Visit>
  void for_each_piece(std::uint32_t base, const TileRow& row, const Visit& visit) const {
    const std::uint32_t start = base + row.shared;
    if (mask_ == 0) return visit(start, 0U, row_bytes_);
    for (std::uint32_t at = 0; at < row_bytes_; at += 16) {
      const std::uint32_t address = start + at;
      visit(address ^ ((address >> 7) & mask_) << 4, at, 16U);
    }
  }

 private:
  const TensorMapSpec& map_;
  const std::array<std::int64_t, 5>& origin_;
  std::array<std::uint32_t, 5> steps_{};
  std::array<std::uint32_t, 5> extents_{};
  std::uint32_t unit_ = 1;
  std::uint32_t row_bytes_ = 0;
  std::uint32_t pitch_ = 0;
  std::uint32_t rows_ = 1;
  std::uint32_t mask_ = 0;
};

/// An asynchronous copy between global memory and a CTA's shared memory, or from one CTA of a cluster to
/// another.
struct Copy {
  bool tensor = false;
  TensorMap map;                         ///< tensor: shape and address
  std::uint64_t map_at = 0;              ///< tensor: where the map lies
  std::array<std::int64_t, 5> origin{};  ///< tensor: of the tile, row-major
  std::uint64_t global = 0;              ///< bulk: address
  std::uint32_t bytes = 0;               ///< delivered or stored
  std::uint32_t shared = 0;              ///< offset in the shared memory of the engine's CTA
  std::uint32_t barrier = 0;             ///< loads: offset of the mbarrier
  std::uint32_t thread = 0;              ///< issuer
  std::uint32_t place = 0;               ///< index into Program::place
  Cta* issuer = nullptr;                 ///< loads: whose thread it is

  // Loads that peers send.
  Cta* source = nullptr;                  ///< the CTA that the bytes come from
  std::uint32_t source_offset = 0;        ///< in its shared memory
  std::array<std::uint64_t, 2> values{};  ///< st.async: the bytes; red.async: the operand
  void (*deposit)(std::byte* to, const Copy& copy) = nullptr;  ///< st.async, red.async: what they do
  bool reduces = false;
  Reduction reduction{};  ///< bulk: the bytes are combined with those of the destination
};

/// A copy of which only the issuer is known.
[[nodiscard]] Copy issued_by(const Warp& warp, std::uint32_t lane);

class Engine {
 public:
  explicit Engine(Cta& cta) : cta_(cta) {}

  /// A load into the shared memory of the engine's CTA, by one of its threads or a peer's.
  void issue_load(const Copy& copy, const Warp& warp, std::uint32_t lane);
  /// Shared memory of the engine's CTA is to be read by a copy to a peer.
  void begin_read(const Copy& copy, const Warp& warp, std::uint32_t lane);
  void end_read(const Copy& copy);
  void issue_store(const Copy& copy, const Warp& warp, std::uint32_t lane);
  void commit_group(std::uint32_t thread);
  /// Lets the thread's groups but the newest `pending` have read their source, and unless `read_only` be
  /// complete.
  void wait_group(std::uint32_t thread, std::uint64_t pending, bool read_only);

  /// Whether a copy is outstanding that takes its map from `address`.
  [[nodiscard]] bool uses_map(std::uint64_t address) const;

  /// Delivers one load, if any is in flight. In mode random also called at moments when warps could run.
  bool deliver();
  /// The CTA has ended: everything outstanding happens now; what may not be outstanding is reported.
  void finish();
  void reset();

 private:
  struct Store {
    Copy copy;
    std::uint64_t group = 0;
    bool committed = false;
    bool read = false;
    std::vector<std::byte> data;  ///< the tile's rows once read
  };
  void complete_load(const Copy& copy);
  void mark_unread();
  void read(Store& store);
  void write(Store& store);
  /// False if it has reported something.
  bool check_source(const Copy& copy, const Warp& warp, std::uint32_t lane);

  Cta& cta_;
  std::vector<Copy> loads_;
  std::deque<Store> stores_;                                     ///< in order of issue
  std::unordered_map<std::uint32_t, std::uint64_t> open_group_;  ///< of each thread
  std::vector<Copy> reads_;  ///< of this CTA's shared memory, by copies to peers
};

/// A copy of cp.async (PTX ISA 9.7.9.25.3): 4, 8 or 16 bytes by a thread, in groups of that thread or
/// completing on an mbarrier.
struct SmallCopy {
  std::uint64_t global = 0;
  std::uint32_t shared = 0;  ///< offset in the CTA's shared memory
  std::uint32_t bytes = 0;   ///< written
  std::uint32_t given = 0;   ///< read; the rest is zeros
  std::uint32_t thread = 0;
  std::uint64_t group = 0;
  std::uint64_t serial = 0;  ///< of all that have been issued
  std::uint32_t place = 0;
};

/// They are done as late as they may be.
class SmallCopies {
 public:
  explicit SmallCopies(Cta& cta) : cta_(cta) {}

  void issue(SmallCopy copy, const Warp& warp, std::uint32_t lane);
  void commit_group(std::uint32_t thread) { ++open_group_[thread]; }
  /// Completes the thread's groups but the newest `pending`.
  void wait_group(std::uint32_t thread, std::uint64_t pending);
  /// Completes all that the thread has issued, committed or not.
  void wait_all(std::uint32_t thread);
  /// Arrives at the mbarrier at `offset` when what the thread has issued so far is complete.
  void arrive_later(std::uint32_t thread, std::uint32_t offset, std::uint32_t place);

  /// Completes what one arrival waits for, if there is one.
  bool deliver();
  void reset();

 private:
  struct Arrival {
    std::uint32_t thread = 0;
    std::uint32_t offset = 0;
    std::uint32_t place = 0;
    std::uint64_t serial = 0;  ///< copies issued from then on are none of its business
  };
  void complete(const SmallCopy& copy);
  /// Completes the thread's copies that `due` says, in order.
  template <typename Due>
  void complete_if(std::uint32_t thread, const Due& due);

  Cta& cta_;
  std::deque<SmallCopy> pending_;  ///< in order of issue
  std::deque<Arrival> arrivals_;
  std::unordered_map<std::uint32_t, std::uint64_t> open_group_;
  std::uint64_t serial_ = 0;
};

}  // namespace sim
TMAJIT_END
