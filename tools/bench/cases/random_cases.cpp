#include "random_cases.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace bench {
namespace {

using tmajit::ElementType;

constexpr std::array types{ElementType::f32, ElementType::bf16, ElementType::u8};

/// Numbers that are the same with every standard library: its distributions are not, remainders are.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  std::uint64_t between(std::uint64_t least, std::uint64_t most) { return least + below(most - least + 1); }

 private:
  std::mt19937_64 engine_;
};

bool is_prime(std::uint64_t n) {
  for (std::uint64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

/// An extent of about 2^`bits`, of one of the kinds that people have.
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

/// A shape of `least` to `most` elements, whose extents differ by much.
Shape random_shape(Random& random, std::size_t rank, std::uint64_t least, std::uint64_t most) {
  const double low = std::log2(static_cast<double>(least));
  const double high = std::log2(static_cast<double>(most));
  for (;;) {
    const double bits = low + (high - low) * static_cast<double>(random.below(1024)) / 1024;
    std::vector<double> share(rank);
    for (double& s : share) s = 1 + static_cast<double>(random.below(4096)) / 1024;
    const double sum = std::accumulate(share.begin(), share.end(), 0.0);
    Shape shape;
    for (const double s : share) shape.push_back(extent(random, bits * s / sum));
    const auto elements = std::accumulate(shape.begin(), shape.end(), 1.0, std::multiplies<>());
    if (elements >= static_cast<double>(least) && elements <= static_cast<double>(most)) return shape;
  }
}

/// Any order of `rank` axes but that in which they are.
std::vector<std::uint32_t> random_axes(Random& random, std::size_t rank) {
  std::vector<std::uint32_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0U);
  do {
    for (std::size_t d = rank; d-- > 1;) std::swap(axes[d], axes[random.below(d + 1)]);
  } while (std::ranges::is_sorted(axes));
  return axes;
}

}  // namespace

std::vector<Case> random_permutations(const RandomOptions& options) {
  Random random(options.seed);
  std::vector<Case> cases;
  for (std::size_t k = 0; k < options.count; ++k) {
    for (const ElementType type : types) {
      const std::size_t rank = random.between(2, 6);
      const Shape from = options.tiny ? random_shape(random, rank, 64, 4096)
                                      : random_shape(random, rank, 8 * MiB, 256 * MiB);
      Case c;
      c.group = "random permutation";
      c.kind = Kind::permute;
      c.axes = random_axes(random, rank);
      Shape to;
      for (const std::uint32_t axis : c.axes) to.push_back(from[axis]);
      c.sources = {{type, from}};
      c.destinations = {{type, to}};
      c.name = fmt::format("({})->({})", fmt::join(from, ","), fmt::join(c.axes, ","));
      cases.push_back(std::move(c));
    }
  }
  return cases;
}

}  // namespace bench
