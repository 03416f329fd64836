#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace tests {

/// Waits until a condition holds. Returns false if it does not within 30 seconds.
[[nodiscard]] inline bool eventually(const std::function<bool()>& condition) {
  constexpr std::chrono::seconds limit{30};
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace tests
