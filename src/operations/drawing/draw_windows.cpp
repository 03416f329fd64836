#include "operations/drawing/draw_windows.hpp"

namespace reference {

using namespace tmajit;

namespace {

struct WindowDimension {
  std::uint64_t extent, filter, stride, dilation, before, after, count;
};

WindowDimension random_dimension(Random& random, std::uint64_t max_drawn_extent,
                                 std::uint64_t max_drawn_filter) {
  for (;;) {
    WindowDimension dimension{
        .extent = between(random, 1, max_drawn_extent),
        .filter = between(random, 1, max_drawn_filter),
        .stride = one_in(random, 2) ? 1 : between(random, 1, one_in(random, 8) ? 10 : 3),
        .dilation = one_in(random, 2) ? 1 : between(random, 1, 3),
        .before = one_in(random, 3) ? 0 : between(random, 0, 3),
        .after = one_in(random, 3) ? 0 : between(random, 0, 3),
        .count = 0};
    const std::uint64_t padded = dimension.extent + dimension.before + dimension.after;
    const std::uint64_t reach = (dimension.filter - 1) * dimension.dilation + 1;
    if (reach > padded) continue;
    dimension.count = (padded - reach) / dimension.stride + 1;
    return dimension;
  }
}

}  // namespace

DrawnWindows draw_windows(TestCaseDraw& draw, std::uint64_t unit) {
  Random& random = draw.kernel_property_random;
  const std::uint64_t dims = between(random, 1, 3);
  DrawnWindows drawn{.image = {between(random, 1, 4)}, .windows = {}, .taps = {}};
  drawn.windows = drawn.image;  // both shapes begin with the number of images
  const std::uint64_t max_drawn_filter = dims == 3 ? 3 : one_in(random, 4) ? 6 : 3;
  std::vector<WindowDimension> dimensions;
  for (std::uint64_t d = 0; d < dims; ++d) {
    const std::uint64_t max_drawn_extent = dims == 1 ? 60 : dims == 2 ? 16 : 8;
    const WindowDimension& dimension =
        dimensions.emplace_back(random_dimension(random, max_drawn_extent, max_drawn_filter));
    drawn.image.push_back(dimension.extent);
    drawn.windows.push_back(dimension.count);
    drawn.taps.push_back(dimension.filter);
  }
  const auto list = [&](auto member) {
    Shape numbers;
    for (const WindowDimension& dimension : dimensions) numbers.push_back(dimension.*member);
    return Dims(numbers);
  };
  draw.test_case.arguments = {
      {"filter", list(&WindowDimension::filter)},
      {"strides", list(&WindowDimension::stride)},
      {"dilations", list(&WindowDimension::dilation)},
      {"padding", PadWidths{list(&WindowDimension::before), list(&WindowDimension::after)}}};
  // Mostly numbers of channels that are legal in tensor maps.
  drawn.channels =
      one_in(random, 3) ? between(random, 1, 20) : unit * between(random, 1, one_in(random, 8) ? 40 : 5);
  return drawn;
}

TensorView window_view(TestCaseDraw& draw, const Shape& shape, bool is_dense) {
  return is_dense ? TensorView::contiguous(draw.type, shape) : draw.row_major_view(draw.type, shape);
}

Arguments window_arguments(const Dims& filter, const Dims& padding, const Dims& strides) {
  Arguments windows{{"filter", filter}};
  if (!padding.empty()) windows.set("padding", PadWidths{padding, padding});
  if (!strides.empty()) windows.set("strides", strides);
  return windows;
}

Shape benchmark_images(const bench::CaseBuilder& list, Shape images) {
  if (!list.tiny()) return images;
  images.front() = 2;
  for (std::size_t d = 1; d + 1 < images.size(); ++d) images[d] = 9 + d;
  return images;
}

}  // namespace reference
