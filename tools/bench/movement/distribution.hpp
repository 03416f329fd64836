#pragma once

#include "case.hpp"

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace movement {

/// The distribution of the ratios of tmajit's bandwidth to that of the driver's copy, for each group of cases
/// and its types, and the worst cases.
class Distribution {
 public:
  /// `kernels` names the kernels that did the case: "rows 1x4096, 256 threads".
  void add(const bench::Case& bench_case, double ratio, std::string kernels);

  /// [{"group": "random pad", "types": "f32", "cases": 60, "least": …, "percent_1": …, …}], in the format of
  /// peer_comparison/distribution.py. The types "all" stand for all types of a group.
  [[nodiscard]] nlohmann::ordered_json json() const;
  /// The ten cases with the least ratios, the least first: [{"label": …, "ratio": …, "kernels": …}].
  [[nodiscard]] nlohmann::ordered_json worst() const;
  /// json() and worst() as the lines of two tables; empty without cases.
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
