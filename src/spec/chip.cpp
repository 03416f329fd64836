#include "spec/chip_rules.hpp"
#include "spec/refuse.hpp"

#include <tmajit/chip.hpp>
#include <tmajit/device.hpp>

#include <string_view>

TMAJIT_BEGIN
namespace {

// Fitted to the times that all candidate kernels of 840 random permutations take on H100s (seeds 20261401 to
// 20261405, 20261501, 20261502).
constexpr Costs h100_costs{.peak_fraction = 0.9853,
                           .cached = 0.5338,
                           .cached_bytes = 3.13e+07,
                           .uncached_bytes = 4.862e+07,
                           .read_unused = 0.1056,
                           .read_piece = 5.117,
                           .written_unused = 1.882,
                           .read_unused_cached = 1,
                           .read_piece_cached = 14.69,
                           .written_unused_cached = 3.053,
                           .written_piece_cached = 24.55,
                           .crowding = 0.02879,
                           .occupancy = 2.284,
                           .line = 1.041,
                           .latency_us = 0.6058,
                           .round_us = 0.7746,
                           .pass_us = 0.2082,
                           .engine_us = 0.04622,
                           .unloaded = 0.06705,
                           .wait_us = 0.4373,
                           .sm_bytes_per_us = 1.832e+05};

}  // namespace

Chip chip_of(const DeviceInfo& info) {
  Chip chip;
  // Plans for a simulated device use the default chip, an H200.
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
