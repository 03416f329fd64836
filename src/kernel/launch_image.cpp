#include "kernel/launch_image.hpp"

#include <algorithm>
#include <type_traits>

TMAJIT_BEGIN

std::size_t LaunchImage::bytes_for(const ParameterBlock& parameters) noexcept {
  return Layout(parameters.entries().size(), parameters.patches().size(), parameters.maps().size(),
                parameters.bytes().size())
      .end;
}

LaunchImage::LaunchImage(const ParameterBlock& parameters, const LaunchShape& shape,
                         const LoadedKernel& kernel)
    : kernel_(&kernel),
      shape_(shape),
      parameter_bytes_(static_cast<std::uint16_t>(parameters.bytes().size())),
      parameters_(parameters.entries().size() & 63),
      patches_(parameters.patches().size() & 63),
      maps_(parameters.maps().size() & 15) {}

LaunchImage& LaunchImage::write(void* memory, const ParameterBlock& parameters, const LaunchShape& shape,
                                std::span<const Part> operands, const Target& target) {
  static_assert(sizeof(LaunchImage) == cache_line && std::is_trivially_copyable_v<LaunchImage>);
  static_assert(ParameterBlock::max_bytes % chunk == 0);
  static_assert(ParameterBlock::max_parameters < 64 && ParameterBlock::max_patches < 64 &&
                ParameterBlock::max_bytes / sizeof(EncodedTensorMap) < 16);
  static_assert(max_bytes >= sizeof(LaunchImage) + ParameterBlock::max_bytes +
                                 ParameterBlock::max_patches * sizeof(Patch) +
                                 ParameterBlock::max_parameters * sizeof(std::uint16_t) + 8 + sizeof(void*) +
                                 max_operands * (sizeof(Map) + sizeof(TensorMapSpec)));
  auto& image = *new (memory) LaunchImage(parameters, shape, target.kernel);
  const Layout layout = image.layout();
  auto* const begin = static_cast<std::byte*>(memory);
  std::byte* const bytes = begin + layout.bytes;
  std::ranges::fill(std::span(bytes, begin + layout.encoder), std::byte{0});
  std::ranges::copy(parameters.bytes(), bytes);

  auto* patch = reinterpret_cast<Patch*>(begin + layout.patch);
  for (const ParameterBlock::Patch& one : parameters.patches()) {
    const Part& part = operands[one.operand];
    *patch++ = {one.offset, part.tensor};
    DevicePtr address = 0;
    std::memcpy(&address, bytes + one.offset, sizeof address);
    address -= part.as_planned;
    std::memcpy(bytes + one.offset, &address, sizeof address);
  }
  auto* offset = reinterpret_cast<std::uint16_t*>(begin + layout.pointer);
  for (const ParameterBlock::Entry& entry : parameters.entries()) {
    *offset++ = static_cast<std::uint16_t>(entry.offset);
  }
  if (!parameters.maps().empty()) *reinterpret_cast<DeviceMaps**>(begin + layout.encoder) = &target.maps;
  auto* map = reinterpret_cast<Map*>(begin + layout.map);
  auto* spec = reinterpret_cast<TensorMapSpec*>(begin + layout.spec);
  for (const ParameterBlock::TensorMapSlot& one : parameters.maps()) {
    const Part& part = operands[one.operand];
    *map++ = {one.address - part.as_planned, one.address, one.offset, part.tensor};
    *spec++ = one.spec;
    const EncodedTensorMap encoded = target.maps.encode(one.spec, one.address);
    std::ranges::copy(encoded.opaque, bytes + one.offset);
  }
  return image;
}

void LaunchImage::set_map_address(std::byte* copy, std::uint32_t number, DevicePtr address) const {
  (*at<DeviceMaps*>(layout().encoder))
      ->set_address(*reinterpret_cast<EncodedTensorMap*>(copy), at<TensorMapSpec>(layout().spec)[number],
                    address);
}

TMAJIT_END
