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

/// The table address that a batch is planned with before its table is allocated: a multiple of a table's
/// alignment, never dereferenced.
inline constexpr DevicePtr unplaced_table = 256;

/// The batches that a plan has launched, each with its table in device memory. A table belongs to one stream,
/// and the stream copies it to the device before the launches that read it. So the host never waits, and a
/// stream can overwrite its least recently used table. A captured launch has its own table, which the graph
/// owns. Thread-safe.
class Batches {
 public:
  /// The most tables of one stream.
  static constexpr std::size_t max_per_stream = 8;
  /// The most tables of all streams together; freeing one waits for the device.
  static constexpr std::size_t max_tables = 64;

  /// Enqueues the batch if the stream has its table. Otherwise returns false and enqueues nothing.
  [[nodiscard]] bool launch_known(const Runtime& runtime, const TensorAddresses& addresses, Stream stream);
  /// Enqueues the batch at the addresses that the plan was made for, without comparing addresses. Returns
  /// false and enqueues nothing if the stream does not have its table.
  [[nodiscard]] bool launch_as_planned(const Runtime& runtime, Stream stream);
  /// Enqueues the copy of a batch's table to the device, and the batch's launch. The batch has its tensors at
  /// `addresses` and was planned for `unplaced_table`. `as_planned`: the plan was made for these addresses.
  void launch(const Runtime& runtime, RaggedPlan plan, const TensorAddresses& addresses, bool as_planned,
              Stream stream);

 private:
  struct Table {
    Stream stream;
    Buffer memory;
    std::vector<std::byte> bytes;      ///< bytes that the stream copies
    std::vector<DevicePtr> addresses;  ///< addresses of the tensors
    PreparedLaunch launch;
    bool as_planned = false;  ///< the plan was made for these addresses
  };
  /// Enqueues the stream's first batch for which `is_wanted` is true. Returns false, and enqueues nothing, if
  /// there is none.
  template <class F>
  bool launch_first(const Runtime& runtime, Stream stream, const F& is_wanted);
  /// The stream's least recently used table, or a new one, for `bytes`; it becomes the most recently used.
  Table& table_for(const Runtime& runtime, Stream stream, std::size_t bytes, PreparedLaunch launch);

  std::mutex mutex_;
  std::list<Table> tables_;  ///< the most recently used first
};

TMAJIT_END
