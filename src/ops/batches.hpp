#pragma once

#include "ops/placed_launches.hpp"
#include "plan/batch.hpp"

#include <tmajit/move.hpp>
#include <tmajit/ragged.hpp>

#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <vector>

TMAJIT_BEGIN

/// Where a batch is planned before its table lies anywhere: a multiple of what tables are aligned to.
inline constexpr DevicePtr unplaced_table = 256;

/// The batches that a plan has launched, each with its table in device memory. A table belongs to one stream,
/// which writes it before the launches that read it: the host waits for nothing, and the least recently used
/// table of a stream is overwritten in the stream's order. A launch that is captured has a table of its own,
/// which the graph keeps. Thread-safe.
class Batches {
 public:
  static constexpr std::size_t most_of_stream = 8;
  /// The most tables of all streams together; freeing one waits for the device.
  static constexpr std::size_t most = 64;

  /// Enqueues the batch if its table is on the stream; false, and nothing is enqueued, if not.
  [[nodiscard]] bool launch_known(const Runtime& runtime, const TensorAddresses& addresses, Stream stream);
  /// Enqueues the batch at the addresses that the plan was made for, without looking at them. Returns false,
  /// and enqueues nothing, if its table is not on the stream.
  [[nodiscard]] bool launch_as_planned(const Runtime& runtime, Stream stream);
  /// Enqueues the table of a batch of tensors at `addresses`, planned for `unplaced_table`, and its launch.
  /// `as_planned`: these are the addresses that the plan was made for.
  void launch(const Runtime& runtime, RaggedPlan plan, const TensorAddresses& addresses, bool as_planned,
              Stream stream);

 private:
  struct Table {
    Stream stream;
    Buffer memory;
    std::vector<std::byte> bytes;      ///< bytes that the stream copies
    std::vector<DevicePtr> addresses;  ///< addresses of the tensors
    PreparedLaunch launch;
    bool as_planned = false;  ///< these are the addresses that the plan was made for
  };
  /// Enqueues the first of the stream's batches that `is_wanted`; false, and nothing is enqueued, if there is
  /// none.
  template <class F>
  bool launch_first(const Runtime& runtime, Stream stream, const F& is_wanted);
  /// The stream's least recently used table, or a new one, for `bytes`; it becomes the most recently used.
  Table& table_for(const Runtime& runtime, Stream stream, std::size_t bytes, PreparedLaunch launch);

  std::mutex mutex_;
  std::list<Table> tables_;  ///< the most recently used first
};

TMAJIT_END
