#pragma once

#include "case.hpp"

#include <tmajit/device.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace movement {

/// A quantity with its target and the measured value.
struct Target {
  std::string what;  ///< "1 GiB: (16384,16384)->(1,0) f32, speed relative to the driver's copy"
  double need = 0;
  double got = 0;
  bool at_least = true;  ///< false: the value must be at most the target
  [[nodiscard]] bool met() const { return at_least ? got >= need : got <= need; }
};

/// The target of a case, if it has one. Times are microseconds of a launch.
std::optional<Target> target_of(const bench::Case& bench_case, double ours_us, double driver_us);
/// Measures planning for some permutations and maps, as JSON:
/// {"first_ms": …, "plans": [{"label": …, "cold_ms": …, "hot_us": …, "choosing_us": …, …}]}
/// - first_ms: the first plan of the process, which includes NVRTC's first compile.
/// - cold_ms: a plan by a new Runtime without a disk cache: planning, source, NVRTC and load.
/// - hot_us: a plan whose kernel is in memory.
/// - choosing_us: the choice of the kernel in such a plan, as the plan reports it.
nlohmann::ordered_json measure_jit(const std::shared_ptr<tmajit::Device>& device, unsigned rounds);
/// The targets of the result of measure_jit().
std::vector<Target> targets_of_jit(const nlohmann::ordered_json& jit);

nlohmann::ordered_json to_json(const Target& target);

}  // namespace movement
