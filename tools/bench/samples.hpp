#pragma once

#include <vector>

namespace bench {

/// Measurements of one thing, in whatever unit they were taken.
class Samples {
 public:
  Samples() = default;
  explicit Samples(std::vector<double> values);

  [[nodiscard]] bool empty() const { return sorted_.empty(); }
  [[nodiscard]] double median() const { return quantile(0.5); }
  [[nodiscard]] double min() const { return quantile(0); }
  [[nodiscard]] double max() const { return quantile(1); }
  /// The distance between the quartiles over the median: what half of the measurements stay within.
  [[nodiscard]] double spread() const;
  [[nodiscard]] const std::vector<double>& sorted() const { return sorted_; }

 private:
  [[nodiscard]] double quantile(double q) const;
  std::vector<double> sorted_;
};

}  // namespace bench
