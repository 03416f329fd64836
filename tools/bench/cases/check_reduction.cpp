#include "check_reduction.hpp"

#include "expressions.hpp"
#include "reference/scalar.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

using tmajit::ReductionOp;

constexpr std::uint64_t most_elements = 1 << 24;  // that the host looks at, where one result has not more
constexpr std::uint64_t most_results = 4096;

constexpr double of_sum = 2e-7;  // of the magnitudes that are added, in f32

/// Of a result.
double rounding(tmajit::ElementType type) {
  return type == tmajit::ElementType::bf16 ? 8e-3 : 1e-6;
}

/// What the host makes of the elements of one result.
struct Expected {
  double value = 0;
  double magnitude = 0;  ///< of all that was added
  std::uint64_t place = 0;
};

/// A reduction's dimensions: those that are kept, then those that come together.
class Walk {
 public:
  explicit Walk(const Case& c) : case_(c) {
    const Shape& shape = c.sources.front().shape;
    std::vector<std::uint64_t> steps(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;) steps[d - 1] = steps[d] * shape[d];
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const bool reduced = std::ranges::find(c.axes, d) != c.axes.end();
      (reduced ? together_ : kept_).push_back({shape[d], steps[d]});
    }
  }
  [[nodiscard]] std::uint64_t results() const { return count(kept_); }
  [[nodiscard]] std::uint64_t elements() const { return count(together_); }

  [[nodiscard]] Expected expected(std::uint64_t result, const reference::Pattern& pattern) const {
    const tmajit::ElementType type = case_.sources.front().type;
    const std::uint64_t size = tmajit::size_of(type);
    const std::uint64_t first = offset(kept_, result);
    Expected all;
    for (std::uint64_t place = 0; place < elements(); ++place) {
      const std::byte* const at = pattern.at((first + offset(together_, place)) * size);
      float quick = 0;
      std::memcpy(&quick, at, std::min<std::size_t>(size, sizeof quick));
      const double value = type == tmajit::ElementType::f32 ? quick : as_double(reference::decode(type, at));
      all.magnitude += std::fabs(value);
      if (case_.reduction == ReductionOp::sum) {
        all.value += value;
      } else if (place == 0 || value > all.value) {
        all.value = value;
        all.place = place;
      }
    }
    return all;
  }

 private:
  struct Dimension {
    std::uint64_t extent;
    std::uint64_t step;
  };
  static std::uint64_t count(const std::vector<Dimension>& dimensions) {
    std::uint64_t n = 1;
    for (const Dimension& one : dimensions) n *= one.extent;
    return n;
  }
  static std::uint64_t offset(const std::vector<Dimension>& dimensions, std::uint64_t n) {
    std::uint64_t at = 0;
    for (std::size_t d = dimensions.size(); d-- > 0; n /= dimensions[d].extent) {
      at += n % dimensions[d].extent * dimensions[d].step;
    }
    return at;
  }

  const Case& case_;
  std::vector<Dimension> kept_;
  std::vector<Dimension> together_;
};

}  // namespace

double reduction_tolerance(const Case& c) {
  const tmajit::ElementType type = c.destinations.front().type;
  if (c.reduction != ReductionOp::sum || !tmajit::is_float(type)) return 0;
  return of_sum * static_cast<double>(Walk(c).elements()) + rounding(type);
}

std::string check_reduction(const Case& c, const reference::Pattern& pattern, tmajit::Device& device,
                            tmajit::DevicePtr destination, std::uint64_t seed, tmajit::Stream stream) {
  const Walk walk(c);
  const tmajit::ElementType type = c.destinations.front().type;
  const std::uint64_t size = tmajit::size_of(type);
  std::vector<std::byte> found(walk.results() * size);
  device.memory().copy_out(found, destination, stream);
  device.streams().synchronize(stream);
  const std::uint64_t count =
      std::min({walk.results(), most_results, std::max<std::uint64_t>(most_elements / walk.elements(), 1)});
  std::mt19937_64 random(seed);
  for (std::uint64_t n = 0; n < count; ++n) {
    const std::uint64_t result = count == walk.results() ? n : random() % walk.results();
    const Expected wanted = walk.expected(result, pattern);
    const double should =
        c.reduction == ReductionOp::arg_max ? static_cast<double>(wanted.place) : wanted.value;
    const double is = as_double(reference::decode(type, &found[result * size]));
    const bool sums = c.reduction == ReductionOp::sum && tmajit::is_float(type);
    const double allowed = sums ? of_sum * wanted.magnitude + rounding(type) * std::fabs(should) : 0;
    if (std::fabs(is - should) <= allowed) continue;
    return fmt::format("result {} of {} is {} and should be {}", result, walk.results(), is, should);
  }
  return {};
}

}  // namespace bench
