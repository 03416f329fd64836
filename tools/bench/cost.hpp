#pragma once

#include <chrono>
#include <ctime>

namespace bench {

/// Time that a call takes.
struct Cost {
  double wall_ms = 0;
  double cpu_ms = 0;  ///< CPU time of all threads, which other load on the machine disturbs least
};

/// Measures the cost of one call.
template <class Function>
Cost cost(const Function& function) {
  const auto cpu_ms = [] {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
  };
  const double cpu_before = cpu_ms();
  const auto start = std::chrono::steady_clock::now();
  function();
  const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
  return {wall.count(), cpu_ms() - cpu_before};
}

}  // namespace bench
