#include "operations/shared/window_arguments.hpp"

#include "operations/shared/make.hpp"
#include "operations/shared/shapes.hpp"
#include "spec/views.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN

Windows windows_of(const Arguments& given) {
  const PadWidths padding = given.widths("padding");
  return {.filter = given.dims("filter"),
          .strides = given.dims("strides"),
          .dilations = given.dims("dilations"),
          .before = padding.before,
          .after = padding.after};
}

std::vector<TensorView> window_destinations(std::span<const TensorView> sources, const Arguments& given) {
  const auto images = extents(sources.front(), "the images");
  if (images.size() < 3) {
    refuse(
        fmt::format("the images have shape {}; legal are images, one to three dimensions of an image, and "
                    "channels: 8x64x64x16",
                    fmt::join(images, "x")));
  }
  Windows windows = windows_of(given);
  if (sources.size() > 1 && windows.filter.empty()) {
    const auto filter = extents(sources[1], "the filter");
    if (filter.size() > 2) windows.filter = filter.subspan(1, filter.size() - 2);
  }
  std::vector<std::uint64_t> shape{images.front(), images.back()};
  const auto pixels = images.subspan(1, images.size() - 2);
  for (const std::uint64_t count : window_counts(windows, pixels)) shape.front() *= count;
  if (sources.size() > 1) {
    shape.back() = sources[1].rank == 0 ? 1 : sources[1].shape[0];
  } else {
    for (const std::int64_t taps : windows.filter) shape.back() *= static_cast<std::uint64_t>(taps);
  }
  return dense(sources, shape);
}

TMAJIT_END
