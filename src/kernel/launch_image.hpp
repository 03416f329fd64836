#pragma once

#include "kernel/parameters.hpp"
#include "spec/canonical.hpp"

#include <tmajit/device.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>

TMAJIT_BEGIN

inline constexpr std::size_t cache_line = 64;

/// An object with further bytes behind it, in one piece of memory that begins with a cache line:
/// `new (BytesBehind{100}) Object(…)`.
struct BytesBehind {
  std::size_t count;
};
template <class Object>
class WithBytesBehind {
 public:
  static void* operator new(std::size_t size, BytesBehind bytes) {
    return ::operator new (size + bytes.count, std::align_val_t{cache_line});
  }
  static void operator delete(void* memory, BytesBehind) noexcept { operator delete(memory); }
  static void operator delete(void* memory) noexcept {
    ::operator delete (memory, std::align_val_t{cache_line});
  }

 protected:
  [[nodiscard]] std::byte* behind() noexcept { return reinterpret_cast<std::byte*>(this) + sizeof(Object); }
  [[nodiscard]] const std::byte* behind() const noexcept {
    return reinterpret_cast<const std::byte*>(this) + sizeof(Object);
  }
};

/// Everything that a launch reads of what was planned, side by side: between two launches the driver's own
/// work takes the caches, and each line that must be had again takes time. A header that the rest follows:
/// addresses stand in it as distances from those that a launch is given. Never changes once it is written.
///
/// An operand may be part of a larger tensor, whose address launches are given: of a concatenation, all
/// destinations are.
class alignas(8) LaunchImage {
 public:
  /// The kernel to launch, and the maps of its device.
  struct Target {
    const LoadedKernel& kernel;
    DeviceMaps& maps;
  };
  /// The parameters of one launch as cuLaunchKernelEx takes them. Left uninitialised: a launch has one on its
  /// stack.
  struct Parameters {
    std::array<void*, ParameterBlock::max_parameters> pointers;
    alignas(128) std::array<std::byte, ParameterBlock::max_bytes> bytes;
  };
  /// Tensor that an operand is part of.
  struct Part {
    std::uint32_t tensor = 0;  ///< number of the tensor among the addresses that launches are given
    DevicePtr as_planned = 0;  ///< address of that tensor
  };

  /// Bytes that an image takes, a multiple of 8.
  [[nodiscard]] static std::size_t bytes_for(const ParameterBlock& parameters) noexcept;
  static constexpr std::size_t max_bytes = 4096;

  /// Writes an image to memory that is aligned to 8 bytes; `target.maps` encodes its maps. What `target`
  /// names must live as long as the image.
  static LaunchImage& write(void* memory, const ParameterBlock& parameters, const LaunchShape& shape,
                            std::span<const Part> operands, const Target& target);

  /// Enqueues the kernel on tensors at `addresses[i]`, modulo 2^64. Allocates nothing.
  template <class Addresses>
  void operator()(const Addresses& addresses, Stream stream) const {
    Parameters on_stack;
    kernel_->launch(shape_, parameters(addresses, on_stack), stream);
  }
  /// The parameters of a launch on such tensors. In the header: a call costs as much as what it does.
  template <class Addresses>
  [[nodiscard]] std::span<void* const> parameters(const Addresses& addresses, Parameters& parameters) const {
    const Layout layout = this->layout();
    const std::byte* const from = at<std::byte>(layout.bytes);
    std::byte* const to = parameters.bytes.data();
    for (std::size_t done = 0; done < parameter_bytes_; done += chunk)
      std::memcpy(to + done, from + done, chunk);
    const auto* const patches = at<Patch>(layout.patch);
    for (std::uint32_t i = 0; i < patches_; ++i) {
      DevicePtr address = 0;
      std::memcpy(&address, from + patches[i].offset, sizeof address);
      address += addresses[patches[i].tensor];
      std::memcpy(to + patches[i].offset, &address, sizeof address);
    }
    const auto* const maps = at<Map>(layout.map);
    for (std::uint32_t i = 0; i < maps_; ++i) {
      const DevicePtr address = maps[i].distance + addresses[maps[i].tensor];
      if (address != maps[i].encoded) place_map(to + maps[i].offset, i, address);
    }
    const auto* const offsets = at<std::uint16_t>(layout.pointer);
    for (std::uint32_t i = 0; i < parameters_; ++i) parameters.pointers[i] = to + offsets[i];
    return std::span(parameters.pointers).first(parameters_);
  }

  [[nodiscard]] const LaunchShape& shape() const noexcept { return shape_; }
  /// The image that was written behind this one.
  [[nodiscard]] const LaunchImage& next() const noexcept {
    return *reinterpret_cast<const LaunchImage*>(reinterpret_cast<const std::byte*>(this) + layout().end);
  }

 private:
  static constexpr std::size_t chunk = 32;  ///< bytes that are copied at once
  struct Patch {
    std::uint32_t offset;  ///< offset in the parameters' bytes
    std::uint32_t tensor;
  };
  struct Map {
    DevicePtr distance;  ///< distance from its tensor's address
    DevicePtr encoded;   ///< the address that the bytes hold it for
    std::uint32_t offset;
    std::uint32_t tensor;
  };
  /// Offset of each part that follows the header. Parts that every launch reads come in the order in which it
  /// reads them. Parts that only some launches read come last.
  struct Layout {
    Layout(std::size_t parameters, std::size_t patches, std::size_t map_count,
           std::size_t parameter_bytes) noexcept
        : patch(sizeof(LaunchImage)),
          map(patch + patches * sizeof(Patch)),
          pointer(map + map_count * sizeof(Map)),
          bytes((pointer + parameters * sizeof(std::uint16_t) + 7) / 8 * 8),
          encoder(bytes + (parameter_bytes + chunk - 1) / chunk * chunk),
          spec(encoder + (map_count == 0 ? 0 : sizeof(DeviceMaps*))),
          end(spec + map_count * sizeof(TensorMapSpec)) {}
    std::size_t patch;
    std::size_t map;
    std::size_t pointer;  ///< the offset of each parameter in `bytes`
    std::size_t bytes;    ///< offset of the parameters, rounded up to a whole chunk
    std::size_t encoder;  ///< offset of the maps' encoder, if there are maps
    std::size_t spec;     ///< offset of each map's spec
    std::size_t end;
  };

  LaunchImage(const ParameterBlock& parameters, const LaunchShape& shape, const LoadedKernel& kernel);
  [[nodiscard]] Layout layout() const noexcept { return {parameters_, patches_, maps_, parameter_bytes_}; }
  template <class T>
  [[nodiscard]] const T* at(std::size_t offset) const noexcept {
    return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(this) + offset);
  }
  /// Makes a map's copy one of the tensor at `address`.
  void place_map(std::byte* copy, std::uint32_t number, DevicePtr address) const;

  const LoadedKernel* kernel_;
  LaunchShape shape_;
  std::uint16_t parameter_bytes_;
  // So short that all of this is one line of the caches.
  std::uint16_t parameters_ : 6;
  std::uint16_t patches_ : 6;
  std::uint16_t maps_ : 4;
};

TMAJIT_END
