#pragma once

#include "array_file.hpp"

#include <tmajit/device.hpp>
#include <tmajit/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace jitc {

/// A run of elements, each side at a constant step: the unit in which a strided array travels.
struct Segment {
  std::uint64_t device = 0;      ///< element of the device's tensor it starts at
  std::uint64_t host = 0;        ///< element of the host's array it starts at
  std::uint64_t count = 0;       ///< elements
  std::int64_t device_step = 1;  ///< elements
  std::int64_t host_step = 1;    ///< elements
};

/// Cuts an array into segments in the order of their device addresses, so that a device tensor of any size
/// passes through a staging buffer of fixed size. `view` holds the device's strides, `host` the host's.
/// Throws Error{unsupported} if strides make elements overlap or interleave: no such order exists then, and a
/// .npy file holds every element once.
void for_each_segment(const tmajit::TensorView& view, std::span<const std::int64_t> host,
                      const std::function<void(const Segment&)>& take);

/// Copies an array from host memory into the device's tensor; gaps between its rows become zero.
void upload(tmajit::Device& device, tmajit::DevicePtr destination, const tmajit::TensorView& view,
            std::span<const std::byte> source, const HostLayout& layout);

/// Copies the device's tensor into host memory, C order.
void download(tmajit::Device& device, std::span<std::byte> destination, tmajit::DevicePtr source,
              const tmajit::TensorView& view);

}  // namespace jitc
