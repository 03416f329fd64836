#include "families/shared/image_map.hpp"

#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <tmajit/validate.hpp>

TMAJIT_BEGIN

std::optional<std::uint64_t> map_stride(std::int64_t step, bool walked) noexcept {
  if (!walked) return bulk_bytes;
  if (step <= 0 || step % bulk_bytes != 0 || step >= static_cast<std::int64_t>(max_stride_bytes))
    return std::nullopt;
  return static_cast<std::uint64_t>(step);
}

std::optional<TensorMapSpec> image_map(const WindowProblem& problem, DevicePtr address,
                                       const WindowBox& box) {
  const WindowGeometry& geometry = problem.geometry;
  const TensorView& images = problem.images;
  const std::int64_t size = size_of(images.type);
  const std::uint32_t inner = images.rank - 1;
  const std::uint64_t row_bytes = sat_mul(images.shape[inner], size_of(images.type));
  if (images.shape[inner] > 1 && images.strides[inner] != 1) return std::nullopt;
  if (row_bytes % size_of(box.type) != 0) return std::nullopt;
  TensorMapSpec map{.type = box.type,
                    .rank = static_cast<std::uint8_t>(images.rank),
                    .swizzle = box.swizzle,
                    .l2_promotion = L2Promotion::b256,
                    .mode = MapMode::im2col,
                    .pixel_box = {.channels = box.channels, .pixels = box.windows}};
  map.shape[inner] = row_bytes / size_of(box.type);
  map.strides[inner] = size_of(box.type);
  map.element_strides[inner] = 1;
  for (std::uint32_t d = 0; d < inner; ++d) {
    const auto stride = map_stride(images.strides[d] * size, images.shape[d] > 1);
    if (!stride) return std::nullopt;
    map.shape[d] = images.shape[d];
    map.strides[d] = *stride;
    map.element_strides[d] = 1;
  }
  const std::uint32_t bits = pixel_offset_bits(images.rank);
  const std::int64_t most = (std::int64_t{1} << bits) / 2;
  for (std::uint32_t d = 0; d < geometry.dims; ++d) {
    // The bounding box ends with the last window's first pixel.
    const auto before = static_cast<std::int64_t>(geometry.before[d]);
    const auto last = static_cast<std::int64_t>((geometry.count[d] - 1) * geometry.stride[d]) - before;
    const std::int64_t upper = last - static_cast<std::int64_t>(geometry.extent[d]) + 1;
    const std::uint64_t reach = (geometry.filter[d] - 1) * geometry.dilation[d];
    if (before > most || upper < -most || upper >= most || geometry.stride[d] > max_element_stride ||
        reach >= std::uint64_t{1} << bits) {
      return std::nullopt;
    }
    map.pixel_box.lower[d] = -static_cast<std::int32_t>(before);
    map.pixel_box.upper[d] = static_cast<std::int32_t>(upper);
    map.element_strides[d + 1] = static_cast<std::uint32_t>(geometry.stride[d]);
  }
  if (!validate(map, address).empty()) return std::nullopt;
  return map;
}

TMAJIT_END
