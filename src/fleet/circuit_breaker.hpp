#pragma once

#include <tmajit/version.hpp>

#include <algorithm>
#include <chrono>
#include <optional>

TMAJIT_BEGIN

/// Leaves a store that fails alone for a pause. The pause doubles with each further failure. After it, one
/// request tries again, while others continue to be rejected. Not thread-safe.
class CircuitBreaker {
 public:
  using Clock = std::chrono::steady_clock;

  CircuitBreaker(std::chrono::milliseconds first_pause, std::chrono::milliseconds longest_pause)
      : first_pause_(first_pause), longest_pause_(longest_pause) {}

  /// A number to report the request's result with; nothing if the request must not be made.
  [[nodiscard]] std::optional<unsigned> admit(Clock::time_point now) {
    if (failures_ != 0) {
      if (now < retry_at_) return std::nullopt;
      retry_at_ = now + pause();  // admits no other request meanwhile
    }
    return failures_;
  }
  /// Returns whether the store has failed for the first time after a success.
  bool failed(unsigned admitted, Clock::time_point now) {
    if (admitted != failures_) return false;  // requests that were made at once fail once
    ++failures_;
    retry_at_ = now + pause();
    return failures_ == 1;
  }
  /// Returns whether the store had failed before.
  bool succeeded() {
    const bool was_broken = failures_ != 0;
    failures_ = 0;
    return was_broken;
  }
  /// The pause after the failures so far.
  [[nodiscard]] std::chrono::milliseconds pause() const {
    if (failures_ == 0) return {};
    constexpr unsigned most_doublings = 16;
    return std::min(longest_pause_, first_pause_ * (1u << std::min(failures_ - 1, most_doublings)));
  }

 private:
  std::chrono::milliseconds first_pause_;
  std::chrono::milliseconds longest_pause_;
  unsigned failures_ = 0;
  Clock::time_point retry_at_{};
};

TMAJIT_END
