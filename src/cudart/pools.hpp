#pragma once

#include "cudart/device.hpp"

#include <cstdint>
#include <memory>
#include <mutex>

TMAJIT_BEGIN
namespace cudart {

/// The accounting of a memory pool. It limits and counts allocations, which the device itself makes.
/// Thread-safe.
class Pool {
 public:
  /// `max_bytes` bytes can be in use at a time.
  explicit Pool(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}

  /// Counts a new allocation. Throws Failure if the pool would exceed its size.
  void count_allocated(std::uint64_t bytes);
  /// Counts the release of an allocation.
  void count_released(std::uint64_t bytes) noexcept;
  /// Releases memory that is not in use, down to `bytes` bytes.
  void trim(std::uint64_t bytes) noexcept;
  /// trim() to the release threshold, as the driver does when the program waits for a stream or an event.
  void trim_to_threshold() noexcept;

  /// The value of an attribute. Throws Failure for an unknown attribute.
  [[nodiscard]] std::uint64_t get(cudaMemPoolAttr attribute) const;
  /// Throws Failure for an attribute that cannot be set, or a high watermark that is not reset to 0.
  void set(cudaMemPoolAttr attribute, std::uint64_t value);

 private:
  const std::uint64_t max_bytes_;
  mutable std::mutex mutex_;
  std::uint64_t used_ = 0;
  std::uint64_t max_used_ = 0;
  std::uint64_t reserved_ = 0;
  std::uint64_t max_reserved_ = 0;
  std::uint64_t threshold_ = 0;
  // The program's settings for the reuse of freed memory. The device never reuses addresses, so they have no
  // effect.
  bool follows_events_ = true;
  bool opportunistic_ = true;
  bool adds_dependencies_ = true;
};

/// The pool from which cudaMallocAsync() allocates.
[[nodiscard]] std::shared_ptr<Pool> current_pool();
/// Throws Failure if no pool has this handle.
[[nodiscard]] std::shared_ptr<Pool> pool_at(cudaMemPool_t handle);
/// The pool that counts the memory of graphs' allocation nodes.
[[nodiscard]] const std::shared_ptr<Pool>& graph_pool();
/// trim_to_threshold() of all pools.
void trim_pools() noexcept;

}  // namespace cudart
TMAJIT_END
