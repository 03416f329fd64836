#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace tests {

/// Microseconds of one call: the first decile of 301 calls, which other load on the machine hardly affects.
/// `call` takes the call's number.
template <class Call>
double first_decile_us(Call call) {
  std::vector<double> times;
  for (unsigned i = 0; i < 301; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call(i);
    times.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + 30, times.end());
  return times[30];
}

}  // namespace tests
