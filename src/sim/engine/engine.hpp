#pragma once

/// The copy engines of a CTA: they do what they were asked as late as they may, or at moments drawn from the
/// seed.
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
  std::uint64_t map_at = 0;   ///< tensor: where the map lies
  MapPlace origin{};          ///< tensor: of the tile
  MapPlace offsets{};         ///< im2col: from the filter's corner to the pixels that are read
  std::uint64_t global = 0;   ///< bulk: address
  std::uint32_t bytes = 0;    ///< delivered or stored
  std::uint32_t shared = 0;   ///< offset in the shared memory of the engine's CTA
  std::uint32_t barrier = 0;  ///< loads: offset of the mbarrier
  std::uint32_t thread = 0;   ///< issuer
  std::uint32_t place = 0;    ///< index into Program::place
  Cta* issuer = nullptr;      ///< loads: whose thread it is
  /// The tile of a tensor copy.
  [[nodiscard]] Tile tile() const { return {map.spec, origin, offsets}; }

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
/// "0x500 to 0x5ff": the shared addresses of a range, and of what a copy has there.
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

/// The same, without what lies outside of the tensor.
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
  /// Shared memory of the engine's CTA is to be read by a copy to a peer.
  void begin_read(const Copy& copy, const Warp& warp, std::uint32_t lane);
  void end_read(const Copy& copy);
  void issue_store(const Copy& copy, const Warp& warp, std::uint32_t lane);
  void commit_group(std::uint32_t thread);
  /// Lets the thread's groups but the newest `pending` have read their source, and unless `read_only` be
  /// complete.
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
    std::uint64_t group = 0;                 ///< its group
  };
  /// The one that an access of shared memory (`access.shared` on) meets that is `loading` or `storing`.
  [[nodiscard]] InFlight whom_it_meets(const Copy& access, Shadow state) const;
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
    bool awaited = false;         ///< a wait of its thread covers it
    std::vector<std::byte> data;  ///< the tile's rows once read
  };
  /// The threads whose fence.proxy.async counts.
  enum class Fence : std::uint8_t {
    of_anyone,  ///< that of the lane that issues a copy, too, if it knew of the write
    of_writer,
  };
  /// The tag of a thread whose write to memory that the copy touches has not been fenced since; 0 if there is
  /// none, or if the write does not happen before the copy for the lane that issues it: that is a data race,
  /// and reported as one.
  [[nodiscard]] std::uint32_t unpublished_writer(const Copy& copy, const Warp& warp, std::uint32_t lane,
                                                 Fence fence) const;
  /// A load comes through another proxy than the stores that it overwrites.
  void check_writers(const Copy& load, const Warp& warp, std::uint32_t lane);
  /// The load's thread does not know that the phase before is over.
  void check_phase(const Copy& copy);
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
  bool brought = false;  ///< the bytes are there, though no wait has covered the copy
};

/// They are done as late as they may be, or at once; a thread may read them after its wait in either case.
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
  /// One in flight that writes bytes of [begin, end); null if none does.
  [[nodiscard]] const SmallCopy* writes_into(std::uint32_t begin, std::uint32_t end) const;
  void reset();

 private:
  struct Arrival {
    std::uint32_t thread = 0;
    std::uint32_t offset = 0;
    std::uint32_t place = 0;
    std::uint64_t serial = 0;  ///< copies issued from then on are none of its business
  };
  void bring(const SmallCopy& copy);
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
