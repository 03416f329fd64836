#include "window_cases.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace bench {
namespace {

using tmajit::ElementType;

struct Row {
  const char* what;
  Shape images;
  tmajit::Arguments windows;
  ElementType type = ElementType::bf16;
};

/// A convolution in f32.
struct Layer {
  const char* what;
  Shape images;
  std::uint64_t outputs;
  tmajit::Arguments windows;
};

/// Images of few and small ones.
Shape made_tiny(Shape images) {
  images.front() = 2;
  for (std::size_t d = 1; d + 1 < images.size(); ++d) images[d] = 9 + d;
  return images;
}

Case matrix_of(const Row& row, bool tiny) {
  const Shape images = tiny ? made_tiny(row.images) : row.images;
  Case c = make_case("windows", fmt::format("{} ({})", row.what, fmt::join(images, ",")), "im2col",
                     {{row.type, images}}, row.windows);
  c.peers = Peers::none;
  c.odd = images.back() * tmajit::size_of(row.type) % 16 != 0;
  return c;
}

Case convolution_of(const Layer& layer, bool tiny) {
  const Shape images = tiny ? made_tiny(layer.images) : layer.images;
  const std::uint64_t outputs = tiny ? 12 : layer.outputs;
  Shape filter{outputs};
  std::uint64_t products = images.back();
  for (const std::int64_t taps : layer.windows.dims("filter")) {
    filter.push_back(static_cast<std::uint64_t>(taps));
    products *= filter.back();
  }
  filter.push_back(images.back());
  Case c = make_case("windows", {}, "convolution", {{ElementType::f32, images}, {ElementType::f32, filter}},
                     layer.windows);
  const auto operations = 2.0 * static_cast<double>(c.destinations.front().elements() * products);
  c.name = fmt::format("convolution {} ({}) to {}, {:.3g} GFLOP", layer.what, fmt::join(images, ","), outputs,
                       operations * 1e-9);
  c.peers = Peers::none;
  return c;
}

}  // namespace

std::vector<Case> window_cases(bool tiny) {
  using tmajit::Arguments, tmajit::Dims, tmajit::PadWidths;
  const auto same = [](const Dims& filter, const Dims& padding) {
    return Arguments{{"filter", filter}, {"padding", PadWidths{padding, padding}}};
  };
  const auto with_strides = [](Arguments windows, const Dims& strides) {
    windows.set("strides", strides);
    return windows;
  };
  const Arguments around = same({3, 3}, {1, 1});
  const Arguments by_2 = with_strides(around, {2, 2});
  const Arguments wide = with_strides(same({7, 7}, {3, 3}), {2, 2});
  const Arguments one{{"filter", Dims{1, 1}}};
  const Row rows[] = {
      {"3x3", {64, 56, 56, 64}, around},
      {"3x3", {64, 56, 56, 64}, around, ElementType::f32},
      {"3x3", {64, 56, 56, 64}, around, ElementType::u8},
      {"3x3 of many channels", {64, 14, 14, 256}, around},
      {"3x3 by 2", {64, 56, 56, 128}, by_2},
      {"3x3 inside", {64, 58, 58, 64}, {{"filter", Dims{3, 3}}}},
      {"1x1 by 2", {64, 56, 56, 256}, with_strides(one, {2, 2})},
      {"7x7 by 2 of colours", {64, 224, 224, 3}, wide},
      {"7x7 by 2 of 8 channels", {64, 224, 224, 8}, wide},
      {"9 of a line", {256, 4096, 64}, same({9}, {4})},
      {"3x3x3", {4, 32, 56, 56, 32}, same({3, 3, 3}, {1, 1, 1})},
  };
  const Layer layers[] = {
      {"3x3", {64, 56, 56, 64}, 64, around},
      {"3x3", {64, 14, 14, 256}, 256, around},
      {"3x3 by 2", {64, 56, 56, 128}, 128, by_2},
      {"1x1", {64, 56, 56, 64}, 256, one},
      {"7x7 by 2 of colours", {64, 224, 224, 3}, 64, wide},
  };
  std::vector<Case> cases;
  for (const Row& row : rows) cases.push_back(matrix_of(row, tiny));
  for (const Layer& layer : layers) cases.push_back(convolution_of(layer, tiny));
  return cases;
}

}  // namespace bench
