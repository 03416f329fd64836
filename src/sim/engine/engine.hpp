#pragma once

/// The copy engines of a CTA: bulk and tensor copies, and cp.async. They perform each copy as late as the PTX
/// ISA allows; in mode early at once, and in mode random at times drawn from the seed.
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
  TensorMap map;               ///< tensor: shape and address
  std::uint64_t map_at = 0;    ///< tensor: global address of the map
  MapCoordinates origin{};     ///< tensor: coordinates of the tile's first element
  MapCoordinates offsets{};    ///< im2col: from the filter's corner to the pixels that are read
  std::uint64_t global = 0;    ///< bulk: global address
  std::uint32_t bytes = 0;     ///< bytes delivered or stored
  std::uint32_t shared = 0;    ///< offset in the shared memory of the engine's CTA
  std::uint32_t barrier = 0;   ///< loads: offset of the mbarrier
  std::uint32_t thread = 0;    ///< issuer
  std::uint32_t location = 0;  ///< index into Program::locations
  Cta* issuer = nullptr;       ///< loads: CTA of the issuing thread
  /// The tile of a tensor copy.
  [[nodiscard]] Tile tile() const { return {map.spec, origin, offsets}; }

  // For copies that a peer sends:
  Cta* source = nullptr;                  ///< CTA from which the bytes come
  std::uint32_t source_offset = 0;        ///< offset in the shared memory of `source`
  std::array<std::uint64_t, 2> values{};  ///< st.async: the bytes; red.async: the operand and the Atomic
  void (*deposit)(std::byte* to,
                  const Copy& copy) = nullptr;  ///< st.async, red.async: writes or combines `values`
  bool reduces = false;                         ///< combines the bytes with those of the destination
  Reduction reduction{};                        ///< bulk copies that reduce
};

/// A copy in which only `issuer`, `thread` and `location` are set.
[[nodiscard]] Copy issued_by(const Warp& warp, std::uint32_t lane);

/// Calls visit(shared offset, bytes) for every contiguous piece of a copy in shared memory.
template <typename Visit>
void for_each_shared(const Copy& copy, const Visit& visit) {
  if (!copy.tensor) return visit(copy.shared, copy.bytes);
  const Tile tile = copy.tile();
  tile.for_each_row([&](const TileRow& row) {
    tile.for_each_piece(copy.shared, row,
                        [&](std::uint32_t at, std::uint32_t, std::uint32_t bytes) { visit(at, bytes); });
  });
}
/// "0x500 to 0x5ff": shared addresses, of a range of offsets or of a copy's bytes.
[[nodiscard]] std::string range_text(std::uint32_t offset, std::uint32_t bytes);
[[nodiscard]] std::string range_text(const Copy& copy);

/// State of a byte of shared memory.
enum Shadow : std::uint8_t {
  initialised = 1,  ///< a thread or a copy has written it
  in_mbarrier = 2,  ///< part of an mbarrier
  loading = 4,      ///< an asynchronous load in flight will write it
  storing = 8,      ///< an asynchronous store in flight has yet to read it
  undefined = 16,   ///< the value written was uninitialised (undefined.hpp)
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

/// Bulk and tensor copies whose shared memory is that of one CTA.
class Engine {
 public:
  explicit Engine(Cta& cta) : cta_(cta) {}

  /// Issues a load into the shared memory of the engine's CTA, for one of its threads or a peer's thread.
  void issue_load(const Copy& copy, const Warp& warp, std::uint32_t lane);
  /// Begins a copy to a peer: records that it will read shared memory of the engine's CTA.
  void begin_read(const Copy& copy, const Warp& warp, std::uint32_t lane);
  /// Records that a copy of begin_read() has read its source.
  void end_read(const Copy& copy);
  void issue_store(const Copy& copy, const Warp& warp, std::uint32_t lane);
  void commit_group(std::uint32_t thread);
  /// cp.async.bulk.wait_group: performs the source reads of all groups of the thread except the newest
  /// `pending`, and unless `read_only` their writes.
  void wait_group(std::uint32_t thread, std::uint64_t pending, bool read_only);

  /// A load in flight that completes on the mbarrier at offset `barrier`; nothing if there is none.
  [[nodiscard]] std::optional<TransactionPart> in_flight_to(std::uint32_t barrier) const;
  /// A copy in flight.
  struct InFlight {
    std::string text;  ///< ", the one at PTX line 40 into 0x480 to 0x57f"
    std::optional<std::uint32_t> location;
    std::optional<std::uint32_t> barrier{};  ///< a load: offset of the mbarrier that it completes on
    const Copy* load = nullptr;              ///< a bulk load
    const Copy* store = nullptr;             ///< a bulk store
    std::uint64_t group = 0;                 ///< the store's bulk group
  };
  /// A load in flight (`state` is loading) or a store in flight (storing) that overlaps the shared memory of
  /// `access`.
  [[nodiscard]] InFlight find_in_flight(const Copy& access, Shadow state) const;
  /// Whether a copy in flight uses the tensor map at global address `address`.
  [[nodiscard]] bool uses_map(std::uint64_t address) const;

  /// Delivers one load drawn at random; returns false if none is in flight.
  bool deliver();
  /// Called when the CTA has ended: completes all copies in flight, and reports those that it should have
  /// waited for.
  void finish();
  void reset();

 private:
  struct Store {
    Copy copy;
    std::uint64_t group = 0;
    bool committed = false;
    bool read = false;            ///< the source has been read into `data`
    bool awaited = false;         ///< a wait of the issuing thread covers it
    std::vector<std::byte> data;  ///< the source's bytes between read() and write()
  };
  /// The threads whose fence.proxy.async counts.
  enum class Fence : std::uint8_t {
    any_thread,  ///< the writer after the write, or the issuing lane after it synchronised with the write
    writer_only,
  };
  /// Returns the tag (Cta::writers) of a write of the copy's shared memory after which no such fence has been
  /// executed; 0: none. Also returns 0 if the write does not happen before the issue of the copy, because
  /// that is reported as a race.
  [[nodiscard]] std::uint32_t unpublished_writer(const Copy& copy, const Warp& warp, std::uint32_t lane,
                                                 Fence fence) const;
  /// Reports a load that overwrites stores of threads without a proxy fence.
  void check_writers(const Copy& load, const Warp& warp, std::uint32_t lane);
  /// Reports a load that may be issued before the previous phase of its mbarrier is over.
  void check_phase(const Copy& copy);
  /// Delivers the bytes of a load, and completes them on its mbarrier.
  void complete_load(const Copy& copy);
  void mark_unread();
  /// Reads the source of a store, unless it has been read already.
  void read(Store& store);
  /// Writes the bytes of a store that has read its source, unless they have been written already.
  void write(Store& store);
  /// Checks the shared memory that a store reads. Returns false if it has reported a mistake.
  bool check_source(const Copy& copy, const Warp& warp, std::uint32_t lane);

  Cta& cta_;
  std::vector<Copy> loads_;                                      ///< in flight
  std::deque<Store> stores_;                                     ///< in order of issue
  std::unordered_map<std::uint32_t, std::uint64_t> open_group_;  ///< number of the next group, by thread
  std::vector<Copy> reads_;  ///< copies to peers that read this CTA's shared memory
};

/// A cp.async of one thread (PTX ISA 9.7.9.25.3): 4, 8 or 16 bytes. The thread waits for a group, or an
/// mbarrier tracks the copy.
struct SmallCopy {
  std::uint64_t global = 0;
  std::uint32_t shared = 0;        ///< offset in the CTA's shared memory
  std::uint32_t bytes = 0;         ///< bytes written
  std::uint32_t source_bytes = 0;  ///< bytes read; the remaining bytes become zeros
  std::uint32_t thread = 0;
  std::uint64_t group = 0;
  std::uint64_t serial = 0;  ///< number in the order of issue, over all threads
  std::uint32_t location = 0;
  bool written = false;  ///< mode early: the bytes are written before a wait covers the copy
};

/// Performs the copies of cp.async as late as the ISA allows, or at issue in mode early. In either case a
/// thread may read the bytes only after its wait.
class SmallCopies {
 public:
  explicit SmallCopies(Cta& cta) : cta_(cta) {}

  void issue(SmallCopy copy, const Warp& warp, std::uint32_t lane);
  void commit_group(std::uint32_t thread) { ++open_group_[thread]; }
  /// Completes the thread's groups except the newest `pending`.
  void wait_group(std::uint32_t thread, std::uint64_t pending);
  /// Completes all copies that the thread has issued, committed or not.
  void wait_all(std::uint32_t thread);
  /// Arrives at the mbarrier at `offset` once all copies that the thread has issued so far are complete.
  void arrive_later(std::uint32_t thread, std::uint32_t offset, std::uint32_t location);

  /// Draws one of the outstanding arrivals, completes the copies that it waits for, and arrives. Returns
  /// false if no arrival is outstanding.
  bool deliver();
  /// A copy in flight that writes bytes of [begin, end); null if there is none.
  [[nodiscard]] const SmallCopy* writes_into(std::uint32_t begin, std::uint32_t end) const;
  void reset();

 private:
  struct Arrival {
    std::uint32_t thread = 0;
    std::uint32_t offset = 0;
    std::uint32_t location = 0;
    std::uint64_t serial = 0;  ///< waits for the thread's copies with lower numbers
  };
  /// Copies the bytes.
  void write(const SmallCopy& copy);
  /// Copies the bytes unless they are written already, and lets threads read them.
  void complete(const SmallCopy& copy);
  /// Completes the thread's copies for which due(copy) is true, in the order of issue.
  template <typename Due>
  void complete_if(std::uint32_t thread, const Due& due);

  Cta& cta_;
  std::deque<SmallCopy> pending_;  ///< in order of issue
  std::deque<Arrival> arrivals_;
  std::unordered_map<std::uint32_t, std::uint64_t> open_group_;  ///< number of the next group, by thread
  std::uint64_t serial_ = 0;                                     ///< number of the next copy
};

}  // namespace sim
TMAJIT_END
