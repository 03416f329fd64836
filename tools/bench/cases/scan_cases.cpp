#include "scan_cases.hpp"

#include "expressions.hpp"
#include "random_shapes.hpp"
#include "reference/scalar.hpp"

#include <algorithm>
#include <array>
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

/// The error of rounding one result.
double rounding(ElementType type) {
  return type == ElementType::bf16 ? 8e-3 : 1e-6;
}

Case scan_case(const char* group, ElementType from, ElementType to, const Shape& shape, std::uint32_t axis) {
  return {.group = group,
          .name = fmt::format("sum ({}) along {}", fmt::join(shape, ","), axis),
          .kind = Kind::scan,
          .sources = {{from, shape}},
          .destinations = {{to, shape}},
          .axes = {axis}};
}

Case random_scan(Random& random, bool tiny) {
  using enum ElementType;
  constexpr std::array types{std::pair{f32, f32}, std::pair{bf16, bf16}, std::pair{f64, f64},
                             std::pair{u8, i64}, std::pair{i32, i64}};
  const auto [from, to] = types.at(random.one_in(2) ? 0 : random.below(types.size()));
  const std::size_t rank = random.between(1, 4);
  const Shape shape = tiny ? random_shape(random, rank, 64, 4096)
                           : random_shape(random, rank, std::uint64_t{1} << 16, std::uint64_t{1} << 27);
  return scan_case("random scan", from, to, shape, static_cast<std::uint32_t>(random.below(rank)));
}

}  // namespace

std::vector<Case> scans(const RandomOptions& options) {
  if (options.count > 0) {
    return draw_cases(options.count, options.seed,
                      [&](Random& random) { return random_scan(random, options.tiny); });
  }
  const auto n = [&](std::uint64_t extent) { return options.tiny && extent > 4 ? 2 + extent % 97 : extent; };
  const auto sum = [&](ElementType type, const Shape& shape, std::uint32_t axis) {
    return scan_case("scans", type, type, shape, axis);
  };
  return {sum(ElementType::f32, {n(1 << 28)}, 0),          sum(ElementType::f32, {n(1 << 24)}, 0),
          sum(ElementType::f32, {n(65536), n(4096)}, 1),   sum(ElementType::f32, {n(65537), n(4095)}, 1),
          sum(ElementType::bf16, {n(1 << 20), n(255)}, 1), sum(ElementType::f32, {n(16384), n(16384)}, 0)};
}

double scan_tolerance(const Case& c) {
  const auto& [type, shape] = c.destinations.front();
  if (!tmajit::is_float(type)) return 0;
  return of_sum * static_cast<double>(shape[c.axes.front()]) + rounding(type);
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
      if (std::fabs(is - sum) <= of_sum * magnitude + rounding(type) * std::fabs(sum)) continue;
      return fmt::format("result {} of row {} is {} and should be {}", i, row, is, sum);
    }
  }
  return {};
}

}  // namespace bench
