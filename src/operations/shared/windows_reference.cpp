#include "operations/shared/windows_reference.hpp"

#include "reference/walk.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace reference {
namespace {

using tmajit::Dims;
using tmajit::Tensor;

float load(const Tensor& tensor, std::int64_t element) {
  float value = 0;
  std::memcpy(&value, element_at(tensor, element), sizeof value);
  return value;
}

std::int64_t number(const Dims& list, std::size_t d, std::int64_t fallback) {
  return list.empty() ? fallback : list[d];
}

/// The pixel that a window has at a tap, in dimension d of an image.
std::int64_t pixel_of(const tmajit::Windows& windows, std::size_t d, std::uint64_t window,
                      std::uint64_t tap) {
  return static_cast<std::int64_t>(window) * number(windows.strides, d, 1) +
         static_cast<std::int64_t>(tap) * number(windows.dilations, d, 1) - number(windows.before, d, 0);
}

}  // namespace

void im2col(const Tensor& destination, const Tensor& images, const tmajit::Windows& windows,
            const Part& part) {
  const std::size_t dims = windows.filter.size();
  const std::size_t size = tmajit::size_of(destination.view.type);
  for_each_index(destination.view.rank, part, [&](const Index& index) {
    Index at{};
    at.front() = index.front();
    at.at(dims + 1) = index.at(2 * dims + 1);
    bool inside = true;
    for (std::size_t d = 0; d < dims; ++d) {
      const std::int64_t pixel = pixel_of(windows, d, index.at(1 + d), index.at(1 + dims + d));
      inside = inside && pixel >= 0 && pixel < static_cast<std::int64_t>(images.view.shape.at(d + 1));
      at.at(d + 1) = static_cast<std::uint64_t>(pixel);
    }
    std::byte* const element = element_at(destination, offset_of(destination.view, index));
    if (inside) {
      std::memcpy(element, element_at(images, offset_of(images.view, at)), size);
    } else {
      std::memset(element, 0, size);
    }
  });
}

void convolution(const Tensor& destination, const Tensor& images, const Tensor& filter,
                 const tmajit::Windows& windows, const Part& part) {
  const std::size_t dims = windows.filter.size();
  std::uint64_t taps = 1;
  for (const std::int64_t count : windows.filter) taps *= static_cast<std::uint64_t>(count);
  for_each_index(destination.view.rank, part, [&](const Index& index) {
    float sum = 0;
    for (std::uint64_t t = 0; t < taps; ++t) {
      std::uint64_t rest = t;
      std::int64_t from = static_cast<std::int64_t>(index.front()) * images.view.strides[0];
      std::int64_t weight = static_cast<std::int64_t>(index.at(dims + 1)) * filter.view.strides[0];
      bool inside = true;
      for (std::size_t d = dims; d-- > 0;) {
        const std::uint64_t tap = rest % static_cast<std::uint64_t>(windows.filter[d]);
        rest /= static_cast<std::uint64_t>(windows.filter[d]);
        const std::int64_t pixel = pixel_of(windows, d, index.at(1 + d), tap);
        inside = inside && pixel >= 0 && pixel < static_cast<std::int64_t>(images.view.shape.at(d + 1));
        from += pixel * images.view.strides.at(d + 1);
        weight += static_cast<std::int64_t>(tap) * filter.view.strides.at(d + 1);
      }
      for (std::uint64_t c = 0; c < images.view.shape.at(dims + 1); ++c) {
        const float value = inside ? load(images, from) : 0.0F;
        sum = std::fma(value, load(filter, weight), sum);
        from += images.view.strides.at(dims + 1);
        weight += filter.view.strides.at(dims + 1);
      }
    }
    std::memcpy(element_at(destination, offset_of(destination.view, index)), &sum, sizeof sum);
  });
}

}  // namespace reference
