#include "operations/drawing/random_shapes.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace bench {
namespace {

bool is_prime(std::uint64_t n) {
  for (std::uint64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

/// An extent of about 2^`bits`, of a kind that occurs in practice.
std::uint64_t extent(Random& random, double bits) {
  const auto about = static_cast<std::uint64_t>(std::max(2.0, std::round(std::exp2(bits))));
  switch (random.below(5)) {
    case 0: return std::bit_floor(about);
    case 1: {  // 3, 5, 6, 7, 12 … times a power of two
      const std::uint64_t times = std::array{3, 5, 6, 7, 9, 12}[random.below(6)];
      return about <= times ? times : times * std::bit_floor(about / times);
    }
    case 2: return about < 50 ? about : (about + 50) / 100 * 100;
    case 3: return about | 1;
    default: {
      std::uint64_t prime = about;
      while (!is_prime(prime)) ++prime;
      return prime;
    }
  }
}

}  // namespace

Shape random_shape(Random& random, std::size_t rank, std::uint64_t min_elements, std::uint64_t max_elements) {
  const double low = std::log2(static_cast<double>(min_elements));
  const double high = std::log2(static_cast<double>(max_elements));
  for (;;) {
    const double bits = low + (high - low) * static_cast<double>(random.below(1024)) / 1024;
    std::vector<double> share(rank);
    for (double& s : share) s = 1 + static_cast<double>(random.below(4096)) / 1024;
    const double sum = std::accumulate(share.begin(), share.end(), 0.0);
    Shape shape;
    for (const double s : share) shape.push_back(extent(random, bits * s / sum));
    const auto elements = std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<>());
    if (elements >= static_cast<double>(min_elements) && elements <= static_cast<double>(max_elements))
      return shape;
  }
}

std::vector<std::uint32_t> random_axes(Random& random, std::size_t rank) {
  std::vector<std::uint32_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0U);
  do {
    for (std::size_t d = rank; d-- > 1;) std::swap(axes[d], axes[random.below(d + 1)]);
  } while (std::ranges::is_sorted(axes));
  return axes;
}

std::vector<std::uint32_t> BenchmarkCaseDraw::some_axes(std::size_t rank) {
  const std::uint64_t chosen = random.between(1, (std::uint64_t{1} << rank) - 1);
  std::vector<std::uint32_t> axes;
  for (std::uint32_t d = 0; d < rank; ++d) {
    if ((chosen >> d & 1U) != 0) axes.push_back(d);
  }
  return axes;
}

std::uint64_t BenchmarkCaseDraw::odd_margin(std::uint64_t extent) {
  const std::uint64_t most = std::clamp<std::uint64_t>(extent / 3, 1, 129);
  return 1 + 2 * random.below((most + 1) / 2);
}

Shape BenchmarkCaseDraw::broadcastable(Shape shape) {
  for (const std::uint32_t d : some_axes(shape.size())) shape[d] = 1;
  return shape;
}

std::string BenchmarkCaseDraw::add_source(Case& c, tmajit::ElementType of, const Shape& seen) {
  Shape stored = seen;
  std::vector<std::uint32_t> order;
  if (seen.size() > 1 && random.one_in(3)) {
    order = random_axes(random, seen.size());
    for (std::size_t d = 0; d < seen.size(); ++d) stored[order[d]] = seen[d];
  }
  c.sources.push_back({of, stored});
  const std::string text = fmt::format("({})", fmt::join(stored, ","));
  if (!order.empty() || !c.orders.empty()) {
    c.orders.resize(c.sources.size());
    c.orders.back() = order;
  }
  return order.empty() ? text : fmt::format("{}->({})", text, fmt::join(order, ","));
}

}  // namespace bench
