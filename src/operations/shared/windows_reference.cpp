#include "operations/shared/windows_reference.hpp"

#include "reference/walk.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace reference {
namespace {

using tmajit::Dims;
using tmajit::Tensor;
using Index = std::array<std::int64_t, tmajit::max_view_rank>;

std::byte* memory(const Tensor& tensor) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): host memory by contract
  return reinterpret_cast<std::byte*>(tensor.address);
}

float load(const Tensor& tensor, std::int64_t element) {
  float value = 0;
  std::memcpy(&value, memory(tensor) + element * std::int64_t{sizeof value}, sizeof value);
  return value;
}

/// The index of element `number` in row-major order, and how many elements it lies from the first.
std::int64_t place_of(const tmajit::TensorView& view, std::uint64_t number, Index& index) {
  std::int64_t place = 0;
  for (std::uint32_t d = view.rank; d-- > 0;) {
    index.at(d) = static_cast<std::int64_t>(number % view.shape.at(d));
    number /= view.shape.at(d);
    place += index.at(d) * view.strides.at(d);
  }
  return place;
}

std::int64_t number(const Dims& list, std::size_t d, std::int64_t otherwise) {
  return list.empty() ? otherwise : list[d];
}

/// The pixel that a window has at a tap, in dimension d of an image.
std::int64_t pixel_of(const tmajit::Windows& windows, std::size_t d, std::int64_t window, std::int64_t tap) {
  return window * number(windows.strides, d, 1) + tap * number(windows.dilations, d, 1) -
         number(windows.before, d, 0);
}

}  // namespace

void im2col(const Tensor& destination, const Tensor& images, const tmajit::Windows& windows) {
  const std::size_t dims = windows.filter.size();
  const auto size = static_cast<std::int64_t>(tmajit::size_of(destination.view.type));
  Index index{};
  for (std::uint64_t n = 0; n < element_count(destination.view); ++n) {
    const std::int64_t to = place_of(destination.view, n, index);
    std::int64_t from =
        index[0] * images.view.strides[0] + index.at(2 * dims + 1) * images.view.strides.at(dims + 1);
    bool inside = true;
    for (std::size_t d = 0; d < dims; ++d) {
      const std::int64_t pixel = pixel_of(windows, d, index.at(1 + d), index.at(1 + dims + d));
      inside = inside && pixel >= 0 && pixel < static_cast<std::int64_t>(images.view.shape.at(d + 1));
      from += pixel * images.view.strides.at(d + 1);
    }
    std::byte* const element = memory(destination) + to * size;
    if (inside) {
      std::memcpy(element, memory(images) + from * size, static_cast<std::size_t>(size));
    } else {
      std::memset(element, 0, static_cast<std::size_t>(size));
    }
  }
}

void convolution(const Tensor& destination, const Tensor& images, const Tensor& filter,
                 const tmajit::Windows& windows) {
  const std::size_t dims = windows.filter.size();
  const auto& to = destination.view;
  std::uint64_t taps = 1;
  for (const std::int64_t count : windows.filter) taps *= static_cast<std::uint64_t>(count);
  std::array<std::int64_t, tmajit::max_view_rank> index{};
  for (std::uint64_t n = 0; n < element_count(to); ++n) {
    const std::int64_t place = place_of(to, n, index);
    float sum = 0;
    for (std::uint64_t t = 0; t < taps; ++t) {
      std::uint64_t rest = t;
      std::int64_t from = index[0] * images.view.strides[0];
      std::int64_t weight = index.at(dims + 1) * filter.view.strides[0];
      bool inside = true;
      for (std::size_t d = dims; d-- > 0;) {
        const auto tap = static_cast<std::int64_t>(rest % static_cast<std::uint64_t>(windows.filter[d]));
        rest /= static_cast<std::uint64_t>(windows.filter[d]);
        const std::int64_t pixel = pixel_of(windows, d, index.at(1 + d), tap);
        inside = inside && pixel >= 0 && pixel < static_cast<std::int64_t>(images.view.shape.at(d + 1));
        from += pixel * images.view.strides.at(d + 1);
        weight += tap * filter.view.strides.at(d + 1);
      }
      for (std::uint64_t c = 0; c < images.view.shape.at(dims + 1); ++c) {
        const float value = inside ? load(images, from) : 0.0F;
        sum = std::fma(value, load(filter, weight), sum);
        from += images.view.strides.at(dims + 1);
        weight += filter.view.strides.at(dims + 1);
      }
    }
    std::memcpy(memory(destination) + place * std::int64_t{sizeof sum}, &sum, sizeof sum);
  }
}

}  // namespace reference
