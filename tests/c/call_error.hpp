#pragma once

#include <tmajit/c.h>

#include <string>
#include <utility>

namespace tests {

/// A call's error, which the destructor destroys.
class CallError {
 public:
  CallError() = default;
  ~CallError() { tmajit_error_destroy(error_); }
  CallError(const CallError&) = delete;
  CallError& operator=(const CallError&) = delete;
  /// The last argument of a call. Destroys the error of the previous call.
  [[nodiscard]] tmajit_error** out() noexcept {
    tmajit_error_destroy(std::exchange(error_, nullptr));
    return &error_;
  }
  [[nodiscard]] std::string text() const { return tmajit_error_message(error_); }
  [[nodiscard]] const tmajit_error* get() const noexcept { return error_; }

 private:
  tmajit_error* error_ = nullptr;
};

}  // namespace tests
