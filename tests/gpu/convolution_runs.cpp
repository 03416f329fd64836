#include "gpu/convolution_runs.hpp"

#include "gpu/convolution_text.hpp"

#include <tmajit/own_kernel.hpp>
#include <tmajit/own_launch.hpp>

#include <span>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

namespace gpu {

using namespace tmajit;
using reference::between;
using reference::one_in;
using reference::Random;

namespace {

// The same constants as in the kernel.
constexpr std::uint32_t tile_pixels = 64;
constexpr std::uint32_t tile_outputs = 32;
constexpr std::uint32_t tile_channels = 16;
constexpr std::uint32_t shared_bytes = 1024 + 4 * 4 * tile_channels * (tile_pixels + tile_outputs);

using Position = std::array<std::uint32_t, 3>;  ///< coordinates, outermost first

/// The product of count(dimension) over all dimensions.
template <class Count>
std::uint32_t count_of(const ConvolutionCase& problem, const Count& count) {
  std::uint32_t all = 1;
  for (std::uint32_t d = 0; d < problem.dimensions; ++d) all *= count(problem.sizes.at(d));
  return all;
}
/// The position with the linear index `i` in a grid of count(d) positions in dimension d.
template <class Count>
Position position_of(const ConvolutionCase& problem, std::uint32_t i, const Count& count) {
  Position position{};
  for (auto d = problem.dimensions; d-- > 0;) {
    position.at(d) = i % count(problem.sizes.at(d));
    i /= count(problem.sizes.at(d));
  }
  return position;
}

std::uint32_t extent_of(const ConvolutionCase::Dimension& dimension) {
  return dimension.extent;
}
std::uint32_t filter_of(const ConvolutionCase::Dimension& dimension) {
  return dimension.filter;
}
std::uint32_t output_extent_of(const ConvolutionCase::Dimension& dimension) {
  return dimension.output_extent();
}

std::vector<float> small_integers(Random& random, std::size_t count) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(between(random, 0, 6)) - 3.0F;
  return values;
}

std::vector<float> convolved(const ConvolutionCase& problem, const std::vector<float>& images,
                             const std::vector<float>& filter) {
  const std::uint32_t outputs_per_image = count_of(problem, output_extent_of);
  const std::uint32_t taps = count_of(problem, filter_of);
  std::vector<float> out(std::size_t{problem.images} * outputs_per_image * problem.outputs);
  for (std::uint32_t image = 0; image < problem.images; ++image) {
    for (std::uint32_t i = 0; i < outputs_per_image; ++i) {
      const Position position = position_of(problem, i, output_extent_of);
      for (std::uint32_t t = 0; t < taps; ++t) {
        const Position tap = position_of(problem, t, filter_of);
        std::uint32_t pixel = image;
        bool inside = true;
        for (std::uint32_t d = 0; d < problem.dimensions; ++d) {
          const ConvolutionCase::Dimension& dimension = problem.sizes.at(d);
          const auto at = static_cast<std::int64_t>(position.at(d)) * dimension.stride +
                          std::int64_t{tap.at(d)} * dimension.dilation - std::int64_t{dimension.before};
          inside = inside && at >= 0 && at < dimension.extent;
          pixel = pixel * dimension.extent + static_cast<std::uint32_t>(at);
        }
        if (!inside) continue;
        for (std::uint32_t output = 0; output < problem.outputs; ++output) {
          float& sum = out[(std::size_t{image} * outputs_per_image + i) * problem.outputs + output];
          for (std::uint32_t channel = 0; channel < problem.channels; ++channel)
            sum += images[std::size_t{pixel} * problem.channels + channel] *
                   filter[(std::size_t{output} * taps + t) * problem.channels + channel];
        }
      }
    }
  }
  return out;
}

Dims image_shape(const ConvolutionCase& problem) {
  std::vector<std::int64_t> shape{problem.images};
  for (std::uint32_t d = 0; d < problem.dimensions; ++d) shape.push_back(problem.sizes.at(d).extent);
  shape.push_back(problem.channels);
  return Dims(std::span<const std::int64_t>(shape));
}

TensorMapSpec image_map(const ConvolutionCase& problem, const TensorView& images) {
  PixelBox box{.channels = tile_channels, .pixels = tile_pixels};
  for (std::uint32_t d = 0; d < problem.dimensions; ++d) {
    const ConvolutionCase::Dimension& dimension = problem.sizes.at(d);
    box.lower.at(d) = -static_cast<std::int32_t>(dimension.before);
    box.upper.at(d) = static_cast<std::int32_t>(dimension.after) -
                      static_cast<std::int32_t>((dimension.filter - 1) * dimension.dilation);
  }
  TensorMapSpec map = TensorMapSpec::im2col(images, box);
  for (std::uint32_t d = 0; d < problem.dimensions; ++d)
    map.element_strides.at(d + 1) = problem.sizes.at(d).stride;
  return map;
}

/// The kernel's struct parameter. All its fields have four bytes.
ValueArgument numbers_of(const ConvolutionCase& problem) {
  std::vector<std::uint32_t> words{problem.images * count_of(problem, output_extent_of), problem.outputs,
                                   problem.channels};
  const auto add = [&](const auto& number) {
    for (auto d = problem.dimensions; d-- > 0;) words.push_back(number(problem.sizes.at(d)));
  };
  add(output_extent_of);
  add(filter_of);
  add([](const auto& dimension) { return dimension.dilation; });
  add([](const auto& dimension) { return dimension.stride; });
  add([](const auto& dimension) { return 0U - dimension.before; });
  const auto bytes = std::as_bytes(std::span(words));
  return {{bytes.begin(), bytes.end()}, 4};
}

}  // namespace

std::uint32_t ConvolutionCase::Dimension::output_extent() const {
  const std::uint32_t whole = extent + before + after;
  const std::uint32_t reach = (filter - 1) * dilation + 1;
  return whole < reach ? 0 : (whole - reach) / stride + 1;
}

ConvolutionCase random_convolution(Random& random) {
  const auto number = [&](std::uint64_t least, std::uint64_t most) {
    return static_cast<std::uint32_t>(between(random, least, most));
  };
  ConvolutionCase problem{.dimensions = number(1, 3)};
  problem.images = number(1, 3);
  problem.channels = 4 * number(1, 10);
  problem.outputs = one_in(random, 4) ? number(33, 50) : number(1, 32);
  for (std::uint32_t d = 0; d < problem.dimensions; ++d) {
    ConvolutionCase::Dimension& dimension = problem.sizes.at(d);
    do {
      dimension = {.extent = number(1, problem.dimensions == 1   ? 60
                                       : problem.dimensions == 2 ? 11
                                                                 : 6),
                   .filter = number(1, problem.dimensions == 3 ? 3 : 5),
                   .dilation = number(1, 3),
                   .stride = number(1, 3),
                   .before = number(0, 3),
                   .after = number(0, 3)};
    } while (dimension.output_extent() == 0);
  }
  return problem;
}

std::string describe(const ConvolutionCase& problem) {
  std::string text = fmt::format("{} images of {} channels to {} outputs", problem.images, problem.channels,
                                 problem.outputs);
  for (std::uint32_t d = 0; d < problem.dimensions; ++d) {
    const ConvolutionCase::Dimension& dimension = problem.sizes.at(d);
    text += fmt::format("; extent {}, {} taps, dilation {}, stride {}, padding {} and {}", dimension.extent,
                        dimension.filter, dimension.dilation, dimension.stride, dimension.before,
                        dimension.after);
  }
  return text;
}

ConvolutionRuns::ConvolutionRuns(std::shared_ptr<Device> device)
    : device_(std::move(device)), runtime_({.device = device_, .cache_directory = std::nullopt}) {}

const Kernel& ConvolutionRuns::kernel(std::uint32_t dimensions) {
  const auto known = kernels_.find(dimensions);
  if (known != kernels_.end()) return known->second;
  return kernels_
      .emplace(dimensions, runtime_.kernel(source({.text = std::string(convolution_text()),
                                                   .file = "convolution.cu",
                                                   .entry = fmt::format("convolution<{}>", dimensions)}),
                                           shared_bytes))
      .first->second;
}

std::size_t ConvolutionRuns::wrong_results(const ConvolutionCase& problem, std::uint64_t seed) {
  Random random(seed);
  const std::uint32_t pixels = problem.images * count_of(problem, output_extent_of);
  const std::vector<float> image_values =
      small_integers(random, std::size_t{problem.images} * count_of(problem, extent_of) * problem.channels);
  const std::vector<float> filter_values =
      small_integers(random, std::size_t{problem.outputs} * count_of(problem, filter_of) * problem.channels);
  const std::vector<float> expected = convolved(problem, image_values, filter_values);
  const auto uploaded = [&](const std::vector<float>& values) {
    Buffer buffer(device_, values.size() * sizeof(float));
    device_->memory().copy_in(buffer.address(), std::as_bytes(std::span(values)), nullptr);
    return buffer;
  };
  const Buffer images = uploaded(image_values);
  const Buffer filter = uploaded(filter_values);
  const Buffer out = uploaded(std::vector<float>(expected.size(), 1e9F));

  const Tensor image_tensor = Tensor::contiguous(ElementType::f32, image_shape(problem), images.address());
  const Tensor filter_tensor = Tensor::contiguous(
      ElementType::f32, {problem.outputs, count_of(problem, filter_of), problem.channels}, filter.address());
  const Tensor out_tensor = Tensor::contiguous(ElementType::f32, {pixels, problem.outputs}, out.address());
  const auto prepared =
      kernel(problem.dimensions)
          .prepare({.tensors = {image_tensor, filter_tensor, out_tensor},
                    .arguments = {MapArgument{0, image_map(problem, image_tensor.view)},
                                  MapArgument{1, TensorMapSpec::of(filter_tensor.view,
                                                                   {tile_outputs, 1, tile_channels})},
                                  AddressArgument{2}, numbers_of(problem)},
                    .shape = {.grid = {(pixels + tile_pixels - 1) / tile_pixels,
                                       (problem.outputs + tile_outputs - 1) / tile_outputs, 1},
                              .block = {160, 1, 1},
                              .shared_bytes = shared_bytes}});
  prepared();
  std::vector<float> found(expected.size());
  device_->memory().copy_out(std::as_writable_bytes(std::span(found)), out.address(), nullptr);
  device_->streams().synchronize(nullptr);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) wrong += found[i] == expected[i] ? 0U : 1U;
  return wrong;
}

}  // namespace gpu
