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

/// An object that is allocated together with extra bytes, which follow it: `new (TrailingBytes{100})
/// Object(…)`. The allocation is aligned to a cache line.
struct TrailingBytes {
  std::size_t count;
};
template <class Object>
class WithTrailingBytes {
 public:
  static void* operator new(std::size_t size, TrailingBytes bytes) {
    return ::operator new (size + bytes.count, std::align_val_t{cache_line});
  }
  static void operator delete(void* memory, TrailingBytes) noexcept { operator delete(memory); }
  static void operator delete(void* memory) noexcept {
    ::operator delete (memory, std::align_val_t{cache_line});
  }

 protected:
  [[nodiscard]] std::byte* trailing_bytes() noexcept {
    return reinterpret_cast<std::byte*>(this) + sizeof(Object);
  }
  [[nodiscard]] const std::byte* trailing_bytes() const noexcept {
    return reinterpret_cast<const std::byte*>(this) + sizeof(Object);
  }
};

/// All planned data that a launch reads, in contiguous memory. Between two launches the driver's work evicts
/// the data from the CPU's caches, so each cache line of it costs time. The object is a header, which the
/// data follows. Addresses are stored relative to those that a launch passes. An image is immutable once
/// written.
///
/// An operand may be part of a larger tensor, whose address the launch passes. In a concatenation, all
/// destinations are parts of one tensor.
class alignas(8) LaunchImage {
 public:
  /// The kernel to launch, and the encoder of its device's tensor maps.
  struct Target {
    const LoadedKernel& kernel;
    DeviceMaps& maps;
  };
  /// The parameters of one launch as cuLaunchKernelEx takes them. Uninitialised on purpose, since each launch
  /// puts one on its stack.
  struct Parameters {
    std::array<void*, ParameterBlock::max_parameters> pointers;
    alignas(128) std::array<std::byte, ParameterBlock::max_bytes> bytes;
  };
  /// The tensor that an operand is part of.
  struct Part {
    /// The operand is a number that the launch does not pass: its bits stay as they are in the plan.
    static constexpr std::uint32_t none = 0xffffffff;
    std::uint32_t tensor = 0;  ///< index of the tensor's address among those that a launch passes, or none
    DevicePtr as_planned = 0;  ///< address of the tensor in the plan
  };

  /// Bytes that an image takes, a multiple of 8.
  [[nodiscard]] static std::size_t bytes_for(const ParameterBlock& parameters) noexcept;
  static constexpr std::size_t max_bytes = 6144;

  /// Writes an image to memory that is aligned to 8 bytes; `target.maps` encodes its maps. The kernel and
  /// maps of `target` must outlive the image.
  static LaunchImage& write(void* memory, const ParameterBlock& parameters, const LaunchShape& shape,
                            std::span<const Part> operands, const Target& target);

  /// Enqueues the kernel on tensors at `addresses[i]`, modulo 2^64. Allocates nothing.
  template <class Addresses>
  void operator()(const Addresses& addresses, Stream stream) const {
    Parameters on_stack;
    kernel_->launch(shape_, parameters(addresses, on_stack), stream);
  }
  /// The parameters of a launch on tensors at `addresses[i]`. Inline, because a call would cost as much as
  /// the work.
  template <class Addresses>
  [[nodiscard]] std::span<void* const> parameters(const Addresses& addresses, Parameters& parameters) const {
    const Layout layout = this->layout();
    const std::byte* const from = at<std::byte>(layout.bytes);
    std::byte* const to = parameters.bytes.data();
    for (std::size_t done = 0; done < parameter_bytes_; done += chunk)
      std::memcpy(to + done, from + done, chunk);
    const auto* const patches = at<Patch>(layout.patch);
    for (std::uint32_t i = 0; i < patches_; ++i) {
      if (patches[i].tensor == Part::none) [[unlikely]]
        continue;
      DevicePtr address = 0;
      std::memcpy(&address, from + patches[i].offset, sizeof address);
      address += addresses[patches[i].tensor];
      std::memcpy(to + patches[i].offset, &address, sizeof address);
    }
    const auto* const maps = at<Map>(layout.map);
    for (std::uint32_t i = 0; i < maps_; ++i) {
      const DevicePtr address = maps[i].distance + addresses[maps[i].tensor];
      if (address != maps[i].encoded) set_map_address(to + maps[i].offset, i, address);
    }
    const auto* const offsets = at<std::uint16_t>(layout.pointer);
    for (std::uint32_t i = 0; i < parameters_; ++i) parameters.pointers[i] = to + offsets[i];
    return std::span(parameters.pointers).first(parameters_);
  }

  [[nodiscard]] const LaunchShape& shape() const noexcept { return shape_; }
  /// The image that was written right after this one in memory.
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
    DevicePtr distance;  ///< distance of the map's address from its tensor's
    DevicePtr encoded;   ///< address for which the image's bytes hold the map
    std::uint32_t offset;
    std::uint32_t tensor;
  };
  /// Offsets of the arrays that follow the header. Those that every launch reads come first, in the order of
  /// reading. Those that only some launches read come last.
  struct Layout {
    Layout(std::size_t parameters, std::size_t patches, std::size_t map_count,
           std::size_t parameter_bytes) noexcept
        : patch(sizeof(LaunchImage)),
          map(patch + patches * sizeof(Patch)),
          pointer(map + map_count * sizeof(Map)),
          bytes((pointer + parameters * sizeof(std::uint16_t) + 7) / 8 * 8),
          encoder(bytes + (parameter_bytes + chunk - 1) / chunk * chunk),
          spec(encoder + (map_count == 0 ? 0 : sizeof(void*))),
          end(spec + map_count * sizeof(TensorMapSpec)) {}
    std::size_t patch;
    std::size_t map;
    std::size_t pointer;  ///< array with each parameter's offset in `bytes`
    std::size_t bytes;    ///< bytes of all parameters, padded to whole chunks
    std::size_t encoder;  ///< pointer to the maps' encoder, if there are maps
    std::size_t spec;     ///< array with each map's spec
    std::size_t end;
  };

  LaunchImage(const ParameterBlock& parameters, const LaunchShape& shape, const LoadedKernel& kernel);
  [[nodiscard]] Layout layout() const noexcept { return {parameters_, patches_, maps_, parameter_bytes_}; }
  template <class T>
  [[nodiscard]] const T* at(std::size_t offset) const noexcept {
    return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(this) + offset);
  }
  /// Sets the address in `copy`, a copy of map `number`.
  void set_map_address(std::byte* copy, std::uint32_t number, DevicePtr address) const;

  const LoadedKernel* kernel_;
  LaunchShape shape_;
  std::uint16_t parameter_bytes_;
  // Bit-fields, so that the header fits one cache line.
  std::uint16_t parameters_ : 6;
  std::uint16_t patches_ : 6;
  std::uint16_t maps_ : 4;
};

TMAJIT_END
