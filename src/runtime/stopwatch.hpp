#pragma once

#include <tmajit/version.hpp>

#include <chrono>

TMAJIT_BEGIN

/// Adds the milliseconds of its lifetime to a number, also if an exception ends it.
class Stopwatch {
 public:
  explicit Stopwatch(double& milliseconds) : milliseconds_(milliseconds) {}
  ~Stopwatch() { milliseconds_ += std::chrono::duration<double, std::milli>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& milliseconds_;
  Clock::time_point start_ = Clock::now();
};

TMAJIT_END
