#pragma once

#include <tmajit/device.hpp>

#include <memory>

#include <nlohmann/json.hpp>

namespace movement {

/// What planning costs, for some of the permutations: milliseconds of a cold plan (a fresh Runtime without a
/// disk cache: planning, source, NVRTC, load), microseconds of a hot one (its kernel in memory), and of
/// choosing alone, as the plan itself reports it. The first plan of the process, with NVRTC's first compile,
/// is told apart. {"first_ms": …, "plans": [{"label": …, "cold_ms": …, "hot_us": …, …}]}
nlohmann::ordered_json measure_jit(const std::shared_ptr<tmajit::Device>& device, unsigned rounds);

}  // namespace movement
