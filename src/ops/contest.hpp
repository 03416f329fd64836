#pragma once

#include <tmajit/device_timing.hpp>
#include <tmajit/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

TMAJIT_BEGIN

/// Outcome of each candidate: a launch, or the reason why there is none.
struct Contestants {
  std::vector<std::size_t> numbers;  ///< candidate of each launch
  std::vector<PreparedLaunch> launches;
  std::vector<std::pair<std::size_t, std::string>> left_out;
};

/// Each of `count` candidates, at least one, ready to be launched: compiled by as many threads as there are,
/// since that takes longer than all the rest. Throws what the first threw if there is none.
[[nodiscard]] Contestants prepare_all(std::size_t count,
                                      const std::function<PreparedLaunch(std::size_t)>& prepare);

/// Called before each measurement of a launch with how many launches' worth is done.
using ContestProgress = std::function<void(std::uint32_t done, std::size_t launch)>;
/// The median microseconds of each launch, measured in turn as TuneOptions::repeats says.
[[nodiscard]] std::vector<double> contest_us(DeviceTiming& timing,
                                             const std::vector<PreparedLaunch>& launches,
                                             std::uint32_t repeats, const ContestProgress& progress);

TMAJIT_END
