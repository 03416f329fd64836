#pragma once

#include "case.hpp"

#include <optional>
#include <string>
#include <vector>

namespace movement {

/// One thing that must be reached.
struct Target {
  std::string what;  ///< "1 GiB: (16384,16384)->(1,0) f32, of the driver's copy"
  double need = 0;
  double got = 0;
  bool at_least = true;  ///< else at most
  [[nodiscard]] bool met() const { return at_least ? got >= need : got <= need; }
};

/// The target of a case, if it has one. Times are microseconds of a launch.
std::optional<Target> target_of(const Case& c, double ours_us, double driver_us);
/// Those of measure_jit()'s answer.
std::vector<Target> targets_of_jit(const nlohmann::ordered_json& jit);

nlohmann::ordered_json to_json(const Target& target);

}  // namespace movement
