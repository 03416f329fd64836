#include "choices.hpp"

#include <tmajit/device.hpp>
#include <tmajit/error.hpp>
#include <tmajit/plan.hpp>
#include <tmajit/tuning.hpp>

#include <array>

namespace ship {
namespace {

tmajit::Chip chip_named(const char* name) {
  tmajit::DeviceInfo info;
  info.name = name;
  info.ordinal = 0;
  return tmajit::chip_of(info);
}

const tmajit::TuningTable& shipped_choices() {
  static const tmajit::TuningTable shipped = tmajit::TuningTable::shipped();
  return shipped;
}

}  // namespace

std::span<const tmajit::Chip> chips() {
  static const std::array all{chip_named("NVIDIA H200"), chip_named("NVIDIA H100 80GB HBM3")};
  return all;
}

std::vector<tmajit::KernelPlan> planned(const tmajit::Operation& operation, const tmajit::Chip& chip) {
  try {
    return tmajit::plan_kernels(operation, {.chip = chip, .tuning = &shipped_choices()});
  } catch (const tmajit::Error& error) {
    if (error.code() != tmajit::ErrorCode::unsupported) throw;
    return {};
  }
}

std::vector<std::vector<tmajit::KernelPlan>> missing_candidates(const tmajit::Operation& operation,
                                                                const tmajit::Chip& chip, const Keys& there) {
  std::vector<std::vector<tmajit::KernelPlan>> missing;
  for (const tmajit::Move& move : operation.moves) {
    const std::vector<tmajit::KernelPlan> plans = planned(tmajit::Operation::of({move}), chip);
    if (plans.empty() || there.contains(plans.front().key())) continue;
    missing.push_back(tmajit::plan_candidates(move, {.chip = chip, .tuning = &shipped_choices()}));
  }
  return missing;
}

}  // namespace ship
