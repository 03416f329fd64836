#include "targets.hpp"

#include <spdlog/fmt/fmt.h>

namespace movement {

std::optional<Target> target_of(const Case& c, double ours_us, double driver_us) {
  if (c.least_ratio) {
    return Target{c.label() + ", of the driver's copy", *c.least_ratio, driver_us / ours_us, true};
  }
  if (c.most_extra_us) {
    return Target{c.label() + ", us beyond the driver's copy", *c.most_extra_us, ours_us - driver_us, false};
  }
  return std::nullopt;
}

std::vector<Target> targets_of_jit(const nlohmann::ordered_json& jit) {
  std::vector<Target> targets;
  for (const auto& plan : jit.at("plans")) {
    const std::string label = plan.at("label");
    targets.push_back(
        {fmt::format("{}, ms of a cold plan", label), jit.at("most_cold_ms"), plan.at("cold_ms"), false});
    targets.push_back(
        {fmt::format("{}, us of planning", label), jit.at("most_hot_us"), plan.at("hot_us"), false});
  }
  return targets;
}

nlohmann::ordered_json to_json(const Target& target) {
  return {{"what", target.what},
          {"need", target.need},
          {"got", target.got},
          {"at_least", target.at_least},
          {"met", target.met()}};
}

}  // namespace movement
