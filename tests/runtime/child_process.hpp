#pragma once

#include <chrono>
#include <csignal>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <catch2/catch_test_macros.hpp>
#include <sys/wait.h>
#include <unistd.h>

/// Whether a process with threads may fork in this build. Under ThreadSanitizer, children of such a process
/// are killed as soon as they start threads. AddressSanitizer's allocator does not release the locks that
/// other threads of the parent held, so that a child may wait for ever. GCC announces sanitizers by macros,
/// Clang by features.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define TMAJIT_THREADS_CAN_FORK 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define TMAJIT_THREADS_CAN_FORK 0
#endif
#endif
#ifndef TMAJIT_THREADS_CAN_FORK
#define TMAJIT_THREADS_CAN_FORK 1
#endif

inline void skip_unless_threads_can_fork() {
  if (TMAJIT_THREADS_CAN_FORK == 0) SKIP("the sanitizer does not let processes with threads fork");
}

/// A fork of this process that runs a function and exits with the code that the function returns, or 99 after
/// an exception. The destructor kills the child if it still runs.
class ChildProcess {
 public:
  explicit ChildProcess(const std::function<int()>& run) : id_(::fork()) {
    if (id_ < 0) throw std::runtime_error("no process could be forked");
    if (id_ != 0) return;
    int code = 99;
    try {
      code = run();
    } catch (const std::exception&) {
    }
    ::_exit(code);
  }
  ~ChildProcess() {
    if (id_ <= 0) return;
    kill(SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  ChildProcess(ChildProcess&& other) noexcept : id_(std::exchange(other.id_, 0)) {}
  ChildProcess& operator=(ChildProcess&&) = delete;

  void kill(int signal) const { ::kill(id_, signal); }

  /// Waits for the child's end, at most for `limit`. Returns its exit code; nothing if it was killed or still
  /// runs.
  [[nodiscard]] std::optional<int> exit_code(std::chrono::milliseconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    int status = 0;
    while (::waitpid(id_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > deadline) return std::nullopt;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    id_ = 0;
    return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
  }

 private:
  ::pid_t id_;
};
