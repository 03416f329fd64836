#include "spec/windows.hpp"

#include "spec/counted.hpp"
#include "spec/violations.hpp"

#include <tmajit/error.hpp>

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// All numbers of a window must be smaller, so that products of two of them fit 64 bits.
constexpr std::int64_t number_limit = std::int64_t{1} << 31;

/// Reads a list of numbers of at least `least`. An empty list stands for `least` in every dimension.
WindowMistake read_list(const Dims& list, std::string_view name, std::int64_t least, std::uint32_t dims,
                        WindowGeometry::Numbers& numbers) {
  std::fill_n(numbers.begin(), dims, static_cast<std::uint64_t>(least));
  if (list.empty()) return {};
  if (list.size() != dims) {
    return {.rule = "windows.count",
            .subject = fmt::format("windows: {}", name),
            .found = counted(list.size(), "number"),
            .need = fmt::format("{}, one for each dimension of an image", dims),
            .legal = fmt::format("a list of length {}", dims)};
  }
  for (std::uint32_t d = 0; d < dims; ++d) {
    if (list[d] < least || list[d] >= number_limit) {
      return {.rule = "windows.range",
              .subject = fmt::format("windows: {}[{}]", name, d),
              .found = fmt::format("{}", list[d]),
              .need = fmt::format("{} to 2^31 - 1", least),
              .legal = fmt::format("{}", std::clamp(list[d], least, number_limit - 1))};
    }
    numbers[d] = static_cast<std::uint64_t>(list[d]);
  }
  return {};
}

}  // namespace

WindowMistake read_windows(const Windows& windows, std::span<const std::uint64_t> extents,
                           WindowGeometry& geometry) {
  geometry = {};
  if (windows.filter.empty() || windows.filter.size() > max_window_dims) {
    return {
        .rule = "windows.filter",
        .subject = "windows: filter",
        .found = counted(windows.filter.size(), "number"),
        .need = fmt::format("the taps in each of an image's dimensions, 1 to {} numbers", max_window_dims),
        .legal = "filter = {3, 3}"};
  }
  if (extents.size() != windows.filter.size()) {
    return {
        .rule = "windows.rank",
        .subject = "windows: filter",
        .found = fmt::format("{} for {} of an image", counted(windows.filter.size(), "number"),
                             counted(extents.size(), "dimension")),
        .need =
            "one number for each dimension of an image; the dimensions of images and of channels have none",
        .legal = "images [images, height, width, channels] for a filter of two dimensions"};
  }
  geometry.dims = static_cast<std::uint32_t>(extents.size());
  WindowGeometry::Numbers after{};
  struct List {
    const Dims& given;
    std::string_view name;
    std::int64_t least;
    WindowGeometry::Numbers& numbers;
  };
  const std::array lists{List{windows.filter, "filter", 1, geometry.filter},
                         List{windows.strides, "strides", 1, geometry.stride},
                         List{windows.dilations, "dilations", 1, geometry.dilation},
                         List{windows.before, "before", 0, geometry.before},
                         List{windows.after, "after", 0, after}};
  for (const auto& [given, name, least, numbers] : lists) {
    if (auto mistake = read_list(given, name, least, geometry.dims, numbers); !mistake.rule.empty())
      return mistake;
  }
  for (std::uint32_t d = 0; d < geometry.dims; ++d) {
    geometry.extent[d] = extents[d];
    const std::uint64_t padded = geometry.before[d] + extents[d] + after[d];
    const std::uint64_t reach = (geometry.filter[d] - 1) * geometry.dilation[d] + 1;
    if (padded >= static_cast<std::uint64_t>(number_limit) || extents[d] > padded || reach > padded) {
      return {.rule = "windows.fit",
              .subject = fmt::format("windows: dimension {} of an image", d),
              .found = fmt::format("{}, {} with the padding, and a filter over {}",
                                   counted(extents[d], "pixel"), padded, reach),
              .need = "fewer than 2^31 pixels with the padding, and a filter no larger than the padded image",
              .legal = "a smaller filter or dilation, or more padding"};
    }
    geometry.count[d] = (padded - reach) / geometry.stride[d] + 1;
  }
  return {};
}

std::vector<std::uint64_t> windows_shape(const WindowGeometry& geometry, std::uint64_t images,
                                         std::uint64_t channels) {
  std::vector<std::uint64_t> shape{images};
  for (const auto* numbers : {&geometry.count, &geometry.filter})
    shape.insert(shape.end(), numbers->begin(), numbers->begin() + geometry.dims);
  shape.push_back(channels);
  return shape;
}

std::vector<std::uint64_t> outputs_shape(const WindowGeometry& geometry, std::uint64_t images,
                                         std::uint64_t outputs) {
  std::vector<std::uint64_t> shape{images};
  shape.insert(shape.end(), geometry.count.begin(), geometry.count.begin() + geometry.dims);
  shape.push_back(outputs);
  return shape;
}

std::vector<std::uint64_t> window_counts(const Windows& windows, const Dims& extents) {
  std::vector<std::uint64_t> shape;
  for (const std::int64_t extent : extents) {
    if (extent < 0)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("an image with the extent {}; legal is 0 or more", extent));
    shape.push_back(static_cast<std::uint64_t>(extent));
  }
  WindowGeometry geometry;
  const WindowMistake mistake = read_windows(windows, shape, geometry);
  if (!mistake.rule.empty()) {
    throw Error(ErrorCode::invalid_argument,
                sentence(mistake.subject, mistake.found, mistake.need, mistake.legal));
  }
  return {geometry.count.begin(), geometry.count.begin() + geometry.dims};
}

TMAJIT_END
