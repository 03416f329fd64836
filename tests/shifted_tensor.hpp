#pragma once

#include "reference/scalar.hpp"

#include <tmajit/device.hpp>
#include <tmajit/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace tests {

/// A view whose first element lies `shift` elements after a boundary of 256 bytes.
struct ShiftedView {
  tmajit::TensorView view;
  std::uint64_t shift = 0;

  /// "f32 3x4 strides 4,1 shift 2".
  [[nodiscard]] std::string text() const {
    return fmt::format("{} {} strides {} shift {}", name(view.type),
                       fmt::join(view.shape.begin(), view.shape.begin() + view.rank, "x"),
                       fmt::join(view.strides.begin(), view.strides.begin() + view.rank, ","), shift);
  }
};

/// The least and greatest offsets of a view's elements from its first one, in elements.
[[nodiscard]] inline std::pair<std::int64_t, std::int64_t> reach_of(const tmajit::TensorView& view) {
  std::pair<std::int64_t, std::int64_t> reach{0, 0};
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    if (view.shape[d] == 0) return {0, 0};
    const std::int64_t last = static_cast<std::int64_t>(view.shape[d] - 1) * view.strides[d];
    (last < 0 ? reach.first : reach.second) += last;
  }
  return reach;
}

/// A tensor on a device, in an allocation that ends with the tensor's last byte, and its bytes on the host.
class ShiftedTensor {
 public:
  ShiftedTensor(const std::shared_ptr<tmajit::Device>& device, const ShiftedView& view, std::byte fill)
      : view_(view.view) {
    const std::uint64_t size = size_of(view_.type);
    const auto [low, high] = reach_of(view_);
    const std::uint64_t bytes = (view.shift + static_cast<std::uint64_t>(high - low + 1)) * size;
    first_ = (view.shift + static_cast<std::uint64_t>(-low)) * size;
    host.assign(bytes, fill);
    buffer_ = std::make_unique<tmajit::Buffer>(device, bytes);
  }
  [[nodiscard]] tmajit::Tensor on_device() const { return {view_, buffer_->address() + first_}; }
  [[nodiscard]] tmajit::Tensor on_host() { return in(host); }
  /// The tensor in other host memory of the same size.
  [[nodiscard]] tmajit::Tensor in(std::vector<std::byte>& memory) const {
    return {view_, reinterpret_cast<tmajit::DevicePtr>(memory.data() + first_)};
  }
  /// Where the allocation begins on the device.
  [[nodiscard]] tmajit::DevicePtr address() const { return buffer_->address(); }
  std::vector<std::byte> host;

 private:
  tmajit::TensorView view_;
  std::uint64_t first_ = 0;
  std::unique_ptr<tmajit::Buffer> buffer_;
};

/// Equal bits, both NaN, or both zero: the order of additions decides which zero is the result.
[[nodiscard]] inline bool are_equal(tmajit::ElementType type, const std::byte* a, const std::byte* b) {
  return reference::same_value(type, a, b) || reference::decode(type, a) == reference::decode(type, b);
}

}  // namespace tests
