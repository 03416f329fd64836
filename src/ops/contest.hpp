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

/// The launches of the candidates that can be launched.
struct Contestants {
  std::vector<std::size_t> numbers;  ///< the candidate's number, for each launch
  std::vector<PreparedLaunch> launches;
  std::vector<std::pair<std::size_t, std::string>> left_out;  ///< numbers of the other candidates, and errors
};

/// Throws Error{unavailable} if the runtime has no GPU, on which tuning measures.
void require_gpu(const Runtime& runtime);

/// Prepares the launches of `count` candidates, at least one, on all CPU threads, because compiling takes the
/// most time. If no candidate can be launched, throws the first candidate's error.
[[nodiscard]] Contestants prepare_all(std::size_t count,
                                      const std::function<PreparedLaunch(std::size_t)>& prepare);

/// Called before each measurement of a launch. `done` grows from 0 to the number of launches, in proportion
/// to the measurements that are done.
using ContestProgress = std::function<void(std::uint32_t done, std::size_t launch)>;
/// The median microseconds of each launch, measured in rounds as TuneOptions::repeats describes.
[[nodiscard]] std::vector<double> contest_us(DeviceTiming& timing,
                                             const std::vector<PreparedLaunch>& launches,
                                             std::uint32_t repeats, const ContestProgress& progress);

TMAJIT_END
