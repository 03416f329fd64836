#pragma once

#include <tmajit/device.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <array>
#include <cstdint>

TMAJIT_BEGIN

/// The kernel parameter RowTail<rank> of templates/device/row_tail.cuh: u64 address, u64 strides[rank],
/// u32 extent[rank], u32 begin.
class RowTail {
 public:
  /// Cuts `map`, the output's, off at the last whole 16-byte chunk of its rows, and describes what is left of
  /// them for threads to store. A row shorter than a chunk leaves the map one chunk, which the kernel then
  /// never stores.
  RowTail(TensorMapSpec& map, DevicePtr address) noexcept;

  [[nodiscard]] void* parameter() noexcept { return words_.data(); }

 private:
  std::array<std::uint64_t, 1 + max_map_rank + (max_map_rank + 2) / 2> words_{};
};

TMAJIT_END
