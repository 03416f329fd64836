#include "samples.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace bench {

Samples::Samples(std::vector<double> values) : sorted_(std::move(values)) {
  std::sort(sorted_.begin(), sorted_.end());
}

double Samples::spread() const {
  const double middle = median();
  return middle > 0 ? (quantile(0.75) - quantile(0.25)) / middle : 0;
}

// Linear between the two nearest measurements.
double Samples::quantile(double q) const {
  if (sorted_.empty()) return 0;
  const double position = q * static_cast<double>(sorted_.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, sorted_.size() - 1);
  const double fraction = position - static_cast<double>(below);
  return sorted_[below] + fraction * (sorted_[above] - sorted_[below]);
}

}  // namespace bench
