#include "scan_cases.hpp"

#include "expressions.hpp"
#include "reference/scalar.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace bench {
namespace {

using tmajit::ElementType;

constexpr std::uint64_t most_elements = 1 << 24;  // that the host adds up, where one row has not more
constexpr double of_sum = 2e-7;                   // of the magnitudes that are added, in f32

Case scan_case(ElementType type, const Shape& shape, std::uint32_t axis) {
  return {.group = "scan",
          .name = fmt::format("sum ({}) along {}", fmt::join(shape, ","), axis),
          .kind = Kind::scan,
          .sources = {{type, shape}},
          .destinations = {{type, shape}},
          .axes = {axis},
          .peers = Peers::none};
}

}  // namespace

std::vector<Case> scan_cases(bool tiny) {
  const auto n = [tiny](std::uint64_t extent) { return tiny && extent > 4 ? 2 + extent % 97 : extent; };
  return {scan_case(ElementType::f32, {n(1 << 28)}, 0),
          scan_case(ElementType::f32, {n(1 << 24)}, 0),
          scan_case(ElementType::f32, {n(65536), n(4096)}, 1),
          scan_case(ElementType::f32, {n(65537), n(4095)}, 1),
          scan_case(ElementType::bf16, {n(1 << 20), n(255)}, 1),
          scan_case(ElementType::f32, {n(16384), n(16384)}, 0)};
}

std::string check_scan(const Case& c, const reference::Pattern& pattern, tmajit::Device& device,
                       tmajit::DevicePtr destination, std::uint64_t seed, tmajit::Stream stream) {
  const auto& [type, shape] = c.destinations.front();
  const std::uint64_t size = tmajit::size_of(type);
  const std::uint64_t extent = shape[c.axes.front()];
  const std::uint64_t step =
      std::accumulate(shape.begin() + c.axes.front() + 1, shape.end(), std::uint64_t{1}, std::multiplies<>());
  const std::uint64_t rows = c.destinations.front().elements() / extent;
  std::vector<std::byte> found(c.destinations.front().bytes());
  device.memory().copy_out(found, destination, stream);
  device.streams().synchronize(stream);
  const double rounding = type == ElementType::bf16 ? 8e-3 : 1e-6;
  const std::uint64_t count = std::min(rows, std::max<std::uint64_t>(most_elements / extent, 1));
  std::mt19937_64 random(seed);
  for (std::uint64_t n = 0; n < count; ++n) {
    const std::uint64_t row = count == rows ? n : random() % rows;
    double sum = 0;
    double magnitude = 0;
    for (std::uint64_t i = 0; i < extent; ++i) {
      const std::uint64_t at = ((row / step * extent + i) * step + row % step) * size;
      const double value = as_double(reference::decode(type, pattern.at(at)));
      sum += value;
      magnitude += std::fabs(value);
      const double is = as_double(reference::decode(type, &found[at]));
      if (std::fabs(is - sum) <= of_sum * magnitude + rounding * std::fabs(sum)) continue;
      return fmt::format("result {} of row {} is {} and should be {}", i, row, is, sum);
    }
  }
  return {};
}

}  // namespace bench
