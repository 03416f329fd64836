#pragma once

#include "case.hpp"

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace movement {

/// How the ratios of random cases to the driver's copy spread, for each group of cases and its types.
class Distribution {
 public:
  void add(const bench::Case& c, double ratio);

  /// [{"group": "random pad", "types": "f32", "cases": 60, "least": …, "percent_1": …, …}]: what
  /// beside/distribution.py makes of such cases. "all" stands for several types of a group.
  [[nodiscard]] nlohmann::ordered_json json() const;
  /// The same as a table, line by line; none without cases.
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  std::vector<std::string> groups_{};                                           ///< as they came
  std::map<std::string, std::map<std::string, std::vector<double>>> ratios_{};  ///< by group and types
};

}  // namespace movement
