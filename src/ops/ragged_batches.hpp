#pragma once

#include <tmajit/operation.hpp>
#include <tmajit/ragged.hpp>

#include <cstddef>
#include <mutex>
#include <vector>

TMAJIT_BEGIN

/// The batches that a plan of copy_ragged has met, each with its table in device memory. A table lives until
/// its launches are done. Thread-safe.
class Batches {
 public:
  /// Tables of a plan; the oldest makes room for another.
  static constexpr std::size_t most_batches = 8;

  /// Enqueues the operation, for whose addresses a table is made if there is none.
  void launch(const Runtime& runtime, const Operation& operation, Stream stream);

 private:
  struct Made {
    std::vector<DevicePtr> destinations;
    std::vector<DevicePtr> sources;
    RaggedCopy copy;
  };
  std::mutex mutex_;
  std::vector<Made> made_;
};

TMAJIT_END
