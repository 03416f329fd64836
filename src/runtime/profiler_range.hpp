#pragma once

#include <tmajit/version.hpp>

#include <string_view>

TMAJIT_BEGIN

/// Shows its lifetime as a range in a profiler (NVTX): "tmajit compile transpose". Costs a load and a branch
/// if the process is not profiled. Without NVTX's headers in the build there are no ranges.
class ProfilerRange {
 public:
  ProfilerRange(std::string_view stage, std::string_view kernel) noexcept;
  ~ProfilerRange();
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
};

TMAJIT_END
