#pragma once

#include "case.hpp"

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace movement {

/// How the ratios of many cases to the driver's copy spread, for each group of cases and its types, and which
/// are the worst.
class Distribution {
 public:
  /// `kernels` did it: "rows 1x4096, 256 threads".
  void add(const bench::Case& c, double ratio, std::string kernels);

  /// [{"group": "random pad", "types": "f32", "cases": 60, "least": …, "percent_1": …, …}]: what
  /// beside/distribution.py makes of such cases. "all" stands for several types of a group.
  [[nodiscard]] nlohmann::ordered_json json() const;
  /// The ten cases with the least ratios, the least first: [{"label": …, "ratio": …, "kernels": …}].
  [[nodiscard]] nlohmann::ordered_json worst() const;
  /// Both as tables, line by line; none without cases.
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  struct Measured {
    std::string label;
    double ratio;
    std::string kernels;
  };
  std::vector<std::string> groups_{};  ///< groups in order of appearance
  std::map<std::string, std::map<std::string, std::vector<double>>> ratios_{};  ///< by group and types
  std::vector<Measured> cases_{};
};

}  // namespace movement
