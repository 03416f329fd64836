#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bench {

/// Host memory that holds a period of whole pages again and again. It takes as much memory as one period,
/// whatever its size: the same pages stand at many addresses.
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
