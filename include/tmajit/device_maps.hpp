#pragma once

#include <tmajit/device_memory.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <array>
#include <cstddef>

TMAJIT_BEGIN

/// The 128 opaque bytes that a kernel takes as a `__grid_constant__` tensor map. Made by a device, and
/// read by that device only.
struct alignas(128) EncodedTensorMap {
  std::array<std::byte, 128> opaque{};
};

/// Encodes tensor maps for a device. Thread-safe; a map is changed by one thread at a time.
class TMAJIT_API DeviceMaps {
 public:
  virtual ~DeviceMaps();
  /// Does not repeat the checks of validate(). An error that the driver reports is Error{illegal_spec}.
  [[nodiscard]] virtual EncodedTensorMap encode(const TensorMapSpec& spec, DevicePtr address) = 0;
  /// Moves `map`, which encode() made from `spec`, to `address` (cuTensorMapReplaceAddress). Throws as
  /// encode() does.
  virtual void set_address(EncodedTensorMap& map, const TensorMapSpec& spec, DevicePtr address);
};

TMAJIT_END
