#pragma once

/// The copy engines of a CTA. They perform each copy as late as they may, or at moments drawn from the seed.
#include "sim/engine/tile.hpp"
#include "sim/engine/transactions.hpp"
#include "sim/memory/tensor_maps.hpp"
#include "sim/program/program.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

TMAJIT_BEGIN
namespace sim {

class Cta;
struct Warp;

/// An asynchronous copy between global memory and a CTA's shared memory, or from one CTA of a cluster to
/// another.
struct Copy {
  bool tensor = false;
  TensorMap map;              ///< tensor: shape and address
  std::uint64_t map_at = 0;   ///< tensor: global address of the map
  MapCoordinates origin{};    ///< tensor: place of the tile's first element
  MapCoordinates offsets{};   ///< im2col: from the filter's corner to the pixels that are read
  std::uint64_t global = 0;   ///< bulk: global address
  std::uint32_t bytes = 0;    ///< bytes delivered or stored
  std::uint32_t shared = 0;   ///< offset in the shared memory of the engine's CTA
  std::uint32_t barrier = 0;  ///< loads: offset of the mbarrier
  std::uint32_t thread = 0;   ///< issuer
  std::uint32_t place = 0;    ///< index into Program::place
  Cta* issuer = nullptr;      ///< loads: CTA of the issuing thread
  /// The tile of a tensor copy.
  [[nodiscard]] Tile tile() const { return {map.spec, origin, offsets}; }

  // For copies that a peer sends:
  Cta* source = nullptr;                  ///< CTA from which the bytes come
  std::uint32_t source_offset = 0;        ///< offset in the shared memory of `source`
  std::array<std::uint64_t, 2> values{};  ///< st.async: the bytes; red.async: the operand
  void (*deposit)(std::byte* to,
                  const Copy& copy) = nullptr;  ///< st.async, red.async: writes or combines `values`
  bool reduces = false;
  Reduction reduction{};  ///< bulk: the bytes are combined with those of the destination
};

/// A copy in which only the issuer and its place are set.
[[nodiscard]] Copy issued_by(const Warp& warp, std::uint32_t lane);

/// Calls visit(shared offset, bytes) for every piece that a copy has in shared memory.
template <typename Visit>
void for_each_shared(const Copy& copy, const Visit& visit) {
  if (!copy.tensor) return visit(copy.shared, copy.bytes);
  const Tile tile = copy.tile();
  tile.for_each_row([&](const TileRow& row) {
    tile.for_each_piece(copy.shared, row,
                        [&](std::uint32_t at, std::uint32_t, std::uint32_t bytes) { visit(at, bytes); });
  });
}
/// Calls visit(shared offset, bytes) for every piece that a store writes to the tensor. Elements outside of
/// the tensor have none.
template <typename Visit>
void for_each_stored(const Copy& copy, const Visit& visit) {
  if (!copy.tensor) return visit(copy.shared, copy.bytes);
  const Tile tile = copy.tile();
  tile.for_each_row([&](const TileRow& row) {
    tile.for_each_piece(copy.shared, row, [&](std::uint32_t at, std::uint32_t byte, std::uint32_t bytes) {
      const std::uint32_t first = std::max(row.first, byte);
      const std::uint32_t last = std::min(row.last, byte + bytes);
      if (first < last) visit(at + first - byte, last - first);
    });
  });
}
/// "0x500 to 0x5ff": the shared addresses of a range, or of a copy's bytes in shared memory.
[[nodiscard]] std::string range_text(std::uint32_t offset, std::uint32_t bytes);
[[nodiscard]] std::string range_text(const Copy& copy);

/// State of a byte of shared memory.
enum Shadow : std::uint8_t {
  initialised = 1,
  in_mbarrier = 2,
  loading = 4,     ///< an asynchronous load will write it
  storing = 8,     ///< an asynchronous store has yet to read it
  undefined = 16,  ///< written, with an uninitialised value (undefined.hpp)
};

/// Calls visit(shared offset, bytes) for every piece of a copy in shared memory that is inside the tensor.
template <typename Visit>
void for_each_inside(const Copy& copy, const Visit& visit) {
  if (!copy.tensor) return visit(copy.shared, copy.bytes);
  const Tile tile = copy.tile();
  tile.for_each_row([&](const TileRow& row) {
    tile.for_each_piece(copy.shared, row, [&](std::uint32_t at, std::uint32_t byte, std::uint32_t bytes) {
      const std::uint32_t first = std::max(byte, row.first);
      const std::uint32_t last = std::min(byte + bytes, row.last);
      if (first < last) visit(at + first - byte, last - first);
    });
  });
}

class Engine {
 public:
  explicit Engine(Cta& cta) : cta_(cta) {}

  /// A load into the shared memory of the engine's CTA, by one of its threads or a peer's.
  void issue_load(const Copy& copy, const Warp& warp, std::uint32_t lane);
  /// A copy to a peer is to read shared memory of the engine's CTA.
  void begin_read(const Copy& copy, const Warp& warp, std::uint32_t lane);
  void end_read(const Copy& copy);
  void issue_store(const Copy& copy, const Warp& warp, std::uint32_t lane);
  void commit_group(std::uint32_t thread);
  /// Performs the source reads of all the thread's groups but the newest `pending`, and unless `read_only`
  /// their writes.
  void wait_group(std::uint32_t thread, std::uint64_t pending, bool read_only);

  /// A load, if any is in flight, that completes on the mbarrier at `barrier`.
  [[nodiscard]] std::optional<TransactionPart> in_flight_to(std::uint32_t barrier) const;
  /// A copy in flight: ", the one at PTX line 40 into 0x480 to 0x57f".
  struct InFlight {
    std::string text;
    std::optional<std::uint32_t> place;
    std::optional<std::uint32_t> barrier{};  ///< a load: offset of the mbarrier that it completes on
    const Copy* load = nullptr;              ///< a bulk load
    const Copy* store = nullptr;             ///< a bulk store
    std::uint64_t group = 0;                 ///< the store's bulk group
  };
  /// The copy in flight, `loading` or `storing` as `state` says, that an access of shared memory from
  /// `access.shared` on overlaps.
  [[nodiscard]] InFlight find_in_flight(const Copy& access, Shadow state) const;
  /// Whether a copy in flight takes its tensor map from `address`.
  [[nodiscard]] bool uses_map(std::uint64_t address) const;

  /// Delivers one load, if any is in flight. Mode random calls it also while warps can run.
  bool deliver();
  /// The CTA has ended: completes all copies in flight, and reports those that a CTA must wait for.
  void finish();
  void reset();

 private:
  struct Store {
    Copy copy;
    std::uint64_t group = 0;
    bool committed = false;
    bool read = false;
    bool awaited = false;         ///< a wait of the issuing thread covers it
    std::vector<std::byte> data;  ///< the tile's rows, once they are read
  };
  /// The threads whose fence.proxy.async counts.
  enum class Fence : std::uint8_t {
    any_thread,  ///< the writer's, or one by the issuing lane after it knew of the write
    writer_only,
  };
  /// Returns the tag of a thread that has written memory which the copy touches, without a proxy fence since.
  /// Returns 0 if there is none, or if the write does not happen before the issue of the copy: that is a data
  /// race, and reported as one.
  [[nodiscard]] std::uint32_t unpublished_writer(const Copy& copy, const Warp& warp, std::uint32_t lane,
                                                 Fence fence) const;
  /// Reports a load that overwrites stores of another proxy without a proxy fence.
  void check_writers(const Copy& load, const Warp& warp, std::uint32_t lane);
  /// Reports a load whose thread does not know that the phase before is over.
  void check_phase(const Copy& copy);
  void complete_load(const Copy& copy);
  void mark_unread();
  void read(Store& store);
  void write(Store& store);
  /// Returns false if it has reported something.
  bool check_source(const Copy& copy, const Warp& warp, std::uint32_t lane);

  Cta& cta_;
  std::vector<Copy> loads_;
  std::deque<Store> stores_;                                     ///< in order of issue
  std::unordered_map<std::uint32_t, std::uint64_t> open_group_;  ///< by thread
  std::vector<Copy> reads_;  ///< copies to peers that read this CTA's shared memory
};

/// A copy of cp.async (PTX ISA 9.7.9.25.3): 4, 8 or 16 bytes by a thread, in groups of that thread or
/// completing on an mbarrier.
struct SmallCopy {
  std::uint64_t global = 0;
  std::uint32_t shared = 0;        ///< offset in the CTA's shared memory
  std::uint32_t bytes = 0;         ///< bytes written
  std::uint32_t source_bytes = 0;  ///< bytes read; the rest is zeros
  std::uint32_t thread = 0;
  std::uint64_t group = 0;
  std::uint64_t serial = 0;  ///< number in the order of issue, over all threads
  std::uint32_t place = 0;
  bool written = false;  ///< the bytes are written, though no wait has covered the copy
};

/// Performs the copies of cp.async as late as it may, or at once. In either case a thread may read the bytes
/// only after its wait.
class SmallCopies {
 public:
  explicit SmallCopies(Cta& cta) : cta_(cta) {}

  void issue(SmallCopy copy, const Warp& warp, std::uint32_t lane);
  void commit_group(std::uint32_t thread) { ++open_group_[thread]; }
  /// Completes the thread's groups but the newest `pending`.
  void wait_group(std::uint32_t thread, std::uint64_t pending);
  /// Completes all that the thread has issued, committed or not.
  void wait_all(std::uint32_t thread);
  /// Arrives at the mbarrier at `offset` once all copies that the thread has issued so far are complete.
  void arrive_later(std::uint32_t thread, std::uint32_t offset, std::uint32_t place);

  /// Draws an outstanding arrival, completes the copies that it waits for, and arrives. Returns false if
  /// there is none.
  bool deliver();
  /// A copy in flight that writes bytes of [begin, end); null if there is none.
  [[nodiscard]] const SmallCopy* writes_into(std::uint32_t begin, std::uint32_t end) const;
  void reset();

 private:
  struct Arrival {
    std::uint32_t thread = 0;
    std::uint32_t offset = 0;
    std::uint32_t place = 0;
    std::uint64_t serial = 0;  ///< it waits for the copies with lower numbers
  };
  void write(const SmallCopy& copy);
  void complete(const SmallCopy& copy);
  /// Completes the thread's copies for which due(copy) is true, in the order of issue.
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
