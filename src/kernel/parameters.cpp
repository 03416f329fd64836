#include "kernel/parameters.hpp"

#include "spec/saturate.hpp"

#include <tmajit/error.hpp>

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

std::string ParameterType::text(std::string_view scope) const {
  std::string text = fmt::format("{}{}{}", pointer == Pointer::to_const ? "const " : "", scope, name);
  if (first != 0 && second == 0) text += fmt::format("<{}>", first);
  if (second != 0) text += fmt::format("<{}, {}>", first, second);
  return pointer == Pointer::no ? text : text + "*";
}

std::uint32_t ParameterBlock::add_bytes(ParameterType type, std::string_view name,
                                        std::span<const std::byte> value, std::size_t alignment) {
  const auto offset = static_cast<std::uint32_t>(round_up(size_, alignment));
  if (entry_count_ == max_parameters || offset + value.size() > max_bytes) {
    throw Error(ErrorCode::internal, "a kernel takes more parameters than a ParameterBlock holds");
  }
  std::ranges::copy(value, bytes_.begin() + offset);
  entries_[entry_count_++] = {type, name, offset, static_cast<std::uint32_t>(value.size())};
  size_ = offset + static_cast<std::uint32_t>(value.size());
  return offset;
}

void ParameterBlock::add_map(std::string_view name, std::uint32_t operand, const TensorMapSpec& spec,
                             DevicePtr address) {
  maps_[map_count_++] = {.entry = entry_count_, .operand = operand, .address = address, .spec = spec};
  add({"params::TensorMap"}, name, EncodedTensorMap{});
}

void ParameterBlock::encode(DeviceMaps& device) {
  for (const Map& map : maps()) {
    const EncodedTensorMap encoded = device.encode(map.spec, map.address);
    std::ranges::copy(encoded.opaque, bytes_.begin() + entries_[map.entry].offset);
  }
}

std::span<void* const> ParameterBlock::moved(std::span<const DevicePtr> by, DeviceMaps& device,
                                             Launch& launch) const {
  std::memcpy(launch.bytes.data(), bytes_.data(), size_);
  for (const Patch& patch : patches()) {
    DevicePtr address = 0;
    std::memcpy(&address, &launch.bytes[patch.offset], sizeof address);
    address += by[patch.operand];
    std::memcpy(&launch.bytes[patch.offset], &address, sizeof address);
  }
  for (const Map& map : maps()) {
    if (by[map.operand] == 0) continue;
    auto& encoded = *reinterpret_cast<EncodedTensorMap*>(&launch.bytes[entries_[map.entry].offset]);
    device.set_address(encoded, map.spec, map.address + by[map.operand]);
  }
  for (std::uint32_t i = 0; i < entry_count_; ++i) launch.pointers[i] = &launch.bytes[entries_[i].offset];
  return std::span(launch.pointers).first(entry_count_);
}

TMAJIT_END
