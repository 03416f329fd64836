#pragma once

#include <tmajit/device_maps.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

TMAJIT_BEGIN
namespace sim {

struct TensorMap {
  TensorMapSpec spec;
  std::uint64_t address = 0;
  std::uint64_t changed_in = 0;  ///< number of the launch that changed the map; 0: as the host encoded it
};

/// The tensor maps that a device has encoded. The 128 bytes of an encoded map are a handle and a checksum,
/// which only the simulator reads. Thread-safe.
class TensorMaps {
 public:
  [[nodiscard]] EncodedTensorMap encode(const TensorMapSpec& spec, std::uint64_t address,
                                        std::uint64_t changed_in = 0);
  /// Decodes 128 bytes that encode() has returned; returns nothing for other bytes.
  [[nodiscard]] std::optional<TensorMap> decode(const std::byte* bytes) const;
  /// Returns the launch's number, for TensorMap::changed_in.
  [[nodiscard]] std::uint64_t begin_launch() noexcept { return ++launches_; }

 private:
  mutable std::mutex mutex_;
  std::vector<TensorMap> maps_;
  std::map<std::string, std::uint64_t> known_;  ///< index in maps_, by the bytes of spec and address
  std::atomic<std::uint64_t> launches_ = 0;
};

}  // namespace sim
TMAJIT_END
