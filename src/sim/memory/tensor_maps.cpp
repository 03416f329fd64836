#include "sim/memory/tensor_maps.hpp"

#include <array>
#include <cstring>
#include <utility>

TMAJIT_BEGIN
namespace sim {
namespace {

/// The first bytes of an encoded map. The checksum detects other bytes that happen to begin with `magic`.
struct Handle {
  std::array<char, 16> magic{};
  std::uint64_t index = 0;  ///< in TensorMaps::maps_
  std::uint64_t checksum = 0;
  std::uint64_t changed_in = 0;  ///< TensorMap::changed_in
};
constexpr std::array<char, 16> magic{"tmajit sim map"};

std::uint64_t checksum(std::uint64_t index) {
  return (index + 1) * 0x9e3779b97f4a7c15ULL ^ 0x746d616a6974ULL;
}

}  // namespace

EncodedTensorMap TensorMaps::encode(const TensorMapSpec& spec, std::uint64_t address,
                                    std::uint64_t changed_in) {
  std::string key(sizeof spec + sizeof address, '\0');
  std::memcpy(key.data(), &spec, sizeof spec);
  std::memcpy(key.data() + sizeof spec, &address, sizeof address);
  const std::lock_guard lock(mutex_);
  const auto [found, fresh] = known_.try_emplace(std::move(key), maps_.size());
  if (fresh) maps_.push_back({spec, address, 0});
  const Handle handle{magic, found->second, checksum(found->second), changed_in};
  EncodedTensorMap map;
  std::memcpy(map.opaque.data(), &handle, sizeof handle);
  return map;
}

std::optional<TensorMap> TensorMaps::decode(const std::byte* bytes) const {
  Handle handle;
  std::memcpy(&handle, bytes, sizeof handle);
  const std::lock_guard lock(mutex_);
  if (handle.magic != magic || handle.index >= maps_.size() || handle.checksum != checksum(handle.index))
    return {};
  TensorMap map = maps_[handle.index];
  map.changed_in = handle.changed_in;
  return map;
}

}  // namespace sim
TMAJIT_END
