#pragma once

#include "sim/program.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

TMAJIT_BEGIN
namespace sim {

/// One allocation as a launch sees it.
struct Region {
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::shared_ptr<std::byte[]> memory;
};

/// The allocations of a device. Addresses are never given out twice and lie far apart, so that an access past
/// an end or after a free meets nothing. Thread-safe.
class GlobalMemory {
 public:
  explicit GlobalMemory(std::uint64_t capacity) : capacity_(capacity) {}

  /// Throws Error{out_of_memory}.
  [[nodiscard]] std::uint64_t allocate(std::uint64_t bytes);
  void free(std::uint64_t address) noexcept;
  /// The bytes at `address`; throws Error{invalid_argument} unless all lie in one allocation. The allocation
  /// stays alive as long as the pointer.
  [[nodiscard]] std::shared_ptr<std::byte> at(std::uint64_t address, std::uint64_t bytes) const;
  /// Every allocation in the order of addresses.
  [[nodiscard]] std::vector<Region> regions() const;

 private:
  mutable std::mutex mutex_;
  std::uint64_t capacity_;
  std::uint64_t used_ = 0;
  std::uint64_t next_ = global_begin;
  std::map<std::uint64_t, Region> regions_;
};

}  // namespace sim
TMAJIT_END
