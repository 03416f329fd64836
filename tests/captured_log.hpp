#pragma once

#include <tmajit/logging.hpp>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

namespace tests {

/// Captures tmajit's log messages of level warning and above while the object lives, one line a message.
class CapturedLog {
 public:
  CapturedLog() {
    tmajit::set_logger(
        [this](tmajit::LogLevel, std::string_view message) {
          const std::lock_guard lock(mutex_);
          text_.append(message) += '\n';
        },
        tmajit::LogLevel::warn);
  }
  ~CapturedLog() { tmajit::set_logger(nullptr); }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  [[nodiscard]] std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  [[nodiscard]] std::size_t lines() const {
    const auto all = text();
    return static_cast<std::size_t>(std::count(all.begin(), all.end(), '\n'));
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

}  // namespace tests
