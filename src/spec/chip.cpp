#include "spec/chip_rules.hpp"
#include "spec/refuse.hpp"

#include <tmajit/chip.hpp>
#include <tmajit/device.hpp>

#include <string_view>

TMAJIT_BEGIN

Chip chip_of(const DeviceInfo& info) {
  Chip chip;
  // The simulated device plans for the chip that the numbers were measured on.
  if (info.ordinal < 0) return chip;
  chip.name = info.name;
  if (info.sm_count > 0) chip.sm_count = info.sm_count;
  const std::string_view name = info.name;
  if (name.find("H100") != std::string_view::npos) chip.gbps = 2900;
  if (name.find("GH200") != std::string_view::npos) chip.gbps = 3500;
  return chip;
}

void check_chip(const Chip& chip) {
  if (chip.sm_count == 0)
    refuse("the chip \"{}\" has 0 SMs; 1 or more are needed, an H200 has 132", chip.name);
}

TMAJIT_END
