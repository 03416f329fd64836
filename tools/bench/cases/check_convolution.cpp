#include "check_convolution.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <span>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

constexpr std::uint64_t most_products = 1 << 22;  // that the host adds up, where one result has not more

std::uint64_t number(const tmajit::Dims& list, std::size_t d, std::int64_t otherwise) {
  return static_cast<std::uint64_t>(list.empty() ? otherwise : list[d]);
}

/// What the host makes of the sources of one result.
class Walk {
 public:
  Walk(const Case& c, const reference::Pattern& pattern)
      : windows_(c.windows),
        images_(c.sources[0].shape),
        pattern_(pattern),
        counts_(tmajit::window_counts(windows_, std::span(images_).subspan(1, images_.size() - 2))),
        filter_(places(c.sources).offsets[1]),
        outputs_(c.sources[1].shape.front()),
        products_(c.sources[1].elements() / outputs_) {}

  [[nodiscard]] std::uint64_t outputs() const { return outputs_; }
  /// Of a result.
  [[nodiscard]] std::uint64_t products() const { return products_; }

  [[nodiscard]] float expected(std::uint64_t window, std::uint64_t output) const {
    const std::uint64_t channels = images_.back();
    float sum = 0;
    for (std::uint64_t product = 0; product < products_; ++product) {
      const float weight = load(filter_, output * products_ + product);
      sum = std::fma(pixel(window, product / channels, product % channels), weight, sum);
    }
    return sum;
  }

 private:
  [[nodiscard]] float load(std::uint64_t offset, std::uint64_t element) const {
    float value = 0;
    std::memcpy(&value, pattern_.at(offset + element * sizeof value), sizeof value);
    return value;
  }
  /// What a window has at a tap; 0 outside of its image.
  [[nodiscard]] float pixel(std::uint64_t window, std::uint64_t tap, std::uint64_t channel) const {
    std::uint64_t place = channel;
    std::uint64_t step = images_.back();
    for (std::size_t d = counts_.size(); d-- > 0;) {
      const std::uint64_t taps = number(windows_.filter, d, 1);
      const std::uint64_t at = window % counts_[d] * number(windows_.strides, d, 1) +
                               tap % taps * number(windows_.dilations, d, 1) - number(windows_.before, d, 0);
      if (at >= images_[d + 1]) return 0;  // wraps in front of the image
      place += at * step;
      step *= images_[d + 1];
      window /= counts_[d];
      tap /= taps;
    }
    return load(0, place + window * step);
  }

  const tmajit::Windows& windows_;
  const Shape& images_;
  const reference::Pattern& pattern_;
  Shape counts_;
  std::uint64_t filter_;  ///< bytes from the first source
  std::uint64_t outputs_;
  std::uint64_t products_;
};

}  // namespace

std::string check_convolution(const Case& c, const reference::Pattern& pattern, tmajit::Device& device,
                              tmajit::DevicePtr destination, std::uint64_t seed, tmajit::Stream stream) {
  const Walk walk(c, pattern);
  const std::uint64_t results = c.destinations.front().elements();
  std::vector<float> found(results);
  device.memory().copy_out(std::as_writable_bytes(std::span(found)), destination, stream);
  device.streams().synchronize(stream);
  const std::uint64_t count = std::min(results, std::max<std::uint64_t>(most_products / walk.products(), 1));
  std::mt19937_64 random(seed);
  for (std::uint64_t n = 0; n < count; ++n) {
    const std::uint64_t result = count == results ? n : random() % results;
    const float should = walk.expected(result / walk.outputs(), result % walk.outputs());
    const float is = found[result];
    if (is == should || (std::isnan(is) && std::isnan(should))) continue;
    return fmt::format("output {} of window {} is {} and should be {}", result % walk.outputs(),
                       result / walk.outputs(), is, should);
  }
  return {};
}

}  // namespace bench
