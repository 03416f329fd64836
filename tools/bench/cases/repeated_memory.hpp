#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bench {

/// Host memory with periodic contents: the pages of one period are mapped at successive addresses, so that
/// any size takes the physical memory of one period.
class RepeatedMemory {
 public:
  /// Throws std::system_error if the system has no address space for `bytes`.
  RepeatedMemory(std::span<const std::byte> period, std::uint64_t bytes);
  ~RepeatedMemory();
  RepeatedMemory(const RepeatedMemory&) = delete;
  RepeatedMemory& operator=(const RepeatedMemory&) = delete;

  [[nodiscard]] const std::byte* data() const noexcept { return first_; }

 private:
  std::byte* first_ = nullptr;
  std::uint64_t bytes_;  ///< whole periods
};

}  // namespace bench
