#pragma once

/// The copy engine of a CTA: does what it was asked as late as it may, or at moments drawn from the seed.
#include "sim/launch.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

TMAJIT_BEGIN
namespace sim {

class Cta;
struct Warp;

/// An asynchronous copy between global memory and a CTA's shared memory, or from one CTA of a cluster to
/// another.
struct Copy {
  bool tensor = false;
  TensorMap map;                         ///< tensor: shape and address
  std::array<std::int64_t, 5> origin{};  ///< tensor: of the tile, row-major
  std::uint64_t global = 0;              ///< bulk: address
  std::uint32_t bytes = 0;               ///< delivered or stored
  std::uint32_t shared = 0;              ///< offset in the shared memory of the engine's CTA
  std::uint32_t barrier = 0;             ///< loads: offset of the mbarrier
  std::uint32_t thread = 0;              ///< issuer
  std::uint32_t place = 0;               ///< index into Program::place
  Cta* issuer = nullptr;                 ///< loads: whose thread it is

  // Loads that peers send, see peer_copy.cpp.
  Cta* source = nullptr;                  ///< the CTA that the bytes come from
  std::uint32_t source_offset = 0;        ///< in its shared memory
  std::array<std::uint64_t, 2> values{};  ///< st.async: the bytes; red.async: the operand
  void (*deposit)(std::byte* to, const Copy& copy) = nullptr;  ///< st.async, red.async: what they do
  bool reduces = false;
};

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

  /// Delivers one load, if any is in flight. In mode random also called at moments when warps could run.
  bool deliver();
  [[nodiscard]] std::size_t loads_in_flight() const noexcept { return loads_.size(); }
  /// Bytes that loads in flight will still deliver to the barrier at `offset`.
  [[nodiscard]] std::uint64_t bytes_in_flight(std::uint32_t offset) const noexcept;
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
  struct Groups {
    std::uint32_t thread = 0;
    std::uint64_t next = 0;  ///< number of the group that is open
  };

  Groups& groups_of(std::uint32_t thread);
  void complete_load(const Copy& copy);
  void complete_from_peer(const Copy& copy);
  void mark_unread();
  void read(Store& store);
  void write(Store& store);
  void check_source(const Copy& copy, const Warp& warp, std::uint32_t lane);

  Cta& cta_;
  std::vector<Copy> loads_;
  std::deque<Store> stores_;  ///< in order of issue
  std::vector<Groups> groups_;
  std::vector<Copy> reads_;  ///< of this CTA's shared memory, by copies to peers
};

}  // namespace sim
TMAJIT_END
