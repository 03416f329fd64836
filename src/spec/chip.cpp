#include "spec/chip_rules.hpp"
#include "spec/refuse.hpp"

#include <tmajit/chip.hpp>
#include <tmajit/device.hpp>

#include <string_view>

TMAJIT_BEGIN
namespace {

// Fitted to every candidate of 480 random permutations (seeds 20261401 to 20261404) on one H100 SXM, together
// with an H200's and with what the instructions of a block are counted as.
constexpr Costs h100_costs{.launch_us = 1.845,
                           .of_peak = 0.9503,
                           .cached = 0.5296,
                           .read_beside = 0.01423,
                           .read_apart = 1.968,
                           .written_beside = 2.157,
                           .written_apart = 11.65,
                           .read_run = 3.526,
                           .written_run = 2.794,
                           .crowding = 0.005105,
                           .starving = 0.003335,
                           .occupancy = 7.414,
                           .line = 1.25,
                           .thread = 20.78,
                           .latency_us = 1.336,
                           .round_us = 0.3209,
                           .unloaded = 0.472,
                           .sm_bytes_per_us = 90.44e3,
                           .last_wave = 0.08224};

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
