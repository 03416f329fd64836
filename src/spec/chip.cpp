#include "spec/chip_rules.hpp"
#include "spec/refuse.hpp"

#include <tmajit/chip.hpp>
#include <tmajit/device.hpp>

#include <string_view>

TMAJIT_BEGIN
namespace {

// Fitted to 3,056 candidates of 120 random permutations (seed 20261201) on one H100 SXM.
constexpr Costs h100_costs{.launch_us = 0.4197,
                           .of_peak = 0.9308,
                           .cached = 0.3965,
                           .read_beside = 0.03982,
                           .written_beside = 1.48,
                           .read_run = 5.995,
                           .written_run = 6.925,
                           .crowding = 0.01626,
                           .starving = 0.0223,
                           .occupancy = 9.305,
                           .line = 2.038,
                           .thread = 5.953,
                           .latency_us = 1.523,
                           .round_us = 0.2805,
                           .pass_us = 0.241,
                           .engine_us = 0.04622,
                           .unloaded = 0.6448,
                           .sm_bytes_per_us = 1.052e+05,
                           .last_wave = 0.09973};

}  // namespace

Chip chip_of(const DeviceInfo& info) {
  Chip chip;
  // The simulated device plans for the chip that the numbers were measured on.
  if (info.ordinal < 0) return chip;
  chip.name = info.name;
  if (info.sm_count > 0) chip.sm_count = info.sm_count;
  const std::string_view name = info.name;
  if (name.find("H100") != std::string_view::npos) {
    chip.gbps = 2900;
    chip.costs = h100_costs;
  }
  if (name.find("GH200") != std::string_view::npos) chip.gbps = 3500;
  return chip;
}

void check_chip(const Chip& chip) {
  if (chip.sm_count == 0)
    refuse("the chip \"{}\" has 0 SMs; 1 or more are needed, an H200 has 132", chip.name);
}

TMAJIT_END
