#include "operations/shared/draw_windows.hpp"

namespace reference {

using namespace tmajit;

namespace {

struct Side {
  std::uint64_t extent, filter, stride, dilation, before, after, count;
};

Side random_side(Random& random, std::uint64_t most_extent, std::uint64_t most_filter) {
  for (;;) {
    Side side{.extent = between(random, 1, most_extent),
              .filter = between(random, 1, most_filter),
              .stride = one_in(random, 2) ? 1 : between(random, 1, one_in(random, 8) ? 10 : 3),
              .dilation = one_in(random, 2) ? 1 : between(random, 1, 3),
              .before = one_in(random, 3) ? 0 : between(random, 0, 3),
              .after = one_in(random, 3) ? 0 : between(random, 0, 3),
              .count = 0};
    const std::uint64_t padded = side.extent + side.before + side.after;
    const std::uint64_t reach = (side.filter - 1) * side.dilation + 1;
    if (reach > padded) continue;
    side.count = (padded - reach) / side.stride + 1;
    return side;
  }
}

}  // namespace

DrawnWindows draw_windows(CaseDraw& draw, std::uint64_t unit) {
  Random& random = draw.pattern;
  const std::uint64_t dims = between(random, 1, 3);
  DrawnWindows drawn{.image = {between(random, 1, 4)}, .windows = {}, .taps = {}};
  drawn.windows = drawn.image;  // both shapes begin with the number of images
  const std::uint64_t most_filter = dims == 3 ? 3 : one_in(random, 4) ? 6 : 3;
  std::vector<Side> sides;
  for (std::uint64_t d = 0; d < dims; ++d) {
    const std::uint64_t most_extent = dims == 1 ? 60 : dims == 2 ? 16 : 8;
    const Side& side = sides.emplace_back(random_side(random, most_extent, most_filter));
    drawn.image.push_back(side.extent);
    drawn.windows.push_back(side.count);
    drawn.taps.push_back(side.filter);
  }
  const auto list = [&](auto member) {
    Shape numbers;
    for (const Side& side : sides) numbers.push_back(side.*member);
    return Dims(numbers);
  };
  draw.made.arguments = {{"filter", list(&Side::filter)},
                         {"strides", list(&Side::stride)},
                         {"dilations", list(&Side::dilation)},
                         {"padding", PadWidths{list(&Side::before), list(&Side::after)}}};
  // Mostly numbers of channels that are legal in tensor maps.
  drawn.channels =
      one_in(random, 3) ? between(random, 1, 20) : unit * between(random, 1, one_in(random, 8) ? 40 : 5);
  return drawn;
}

TensorView window_view(CaseDraw& draw, const Shape& shape, bool is_dense) {
  return is_dense ? TensorView::contiguous(draw.type, shape) : draw.rows(draw.type, shape);
}

Arguments windows_within(const Dims& filter, const Dims& padding, const Dims& strides) {
  Arguments windows{{"filter", filter}};
  if (!padding.empty()) windows.set("padding", PadWidths{padding, padding});
  if (!strides.empty()) windows.set("strides", strides);
  return windows;
}

Shape measured_images(const bench::CaseBuilder& list, Shape images) {
  if (!list.tiny()) return images;
  images.front() = 2;
  for (std::size_t d = 1; d + 1 < images.size(); ++d) images[d] = 9 + d;
  return images;
}

}  // namespace reference
