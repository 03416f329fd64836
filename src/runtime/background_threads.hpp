#pragma once

#include <tmajit/version.hpp>

#include <functional>

TMAJIT_BEGIN

/// The background threads of this process, of all runtimes. When the process ends, it waits for them.
class BackgroundThreads {
 public:
  /// Runs `work` in a new thread that has the lowest priority and receives no signals. Returns false if there
  /// is no thread: the process ends, or the system has no more threads, which is logged.
  static bool start(std::function<void()> work);
  /// Whether the process ends: threads then begin nothing new.
  [[nodiscard]] static bool process_ends() noexcept;
  /// Makes the end of the process wait for the threads before it runs the exit handlers that were registered
  /// so far, also if another thread than the main one ends it. NVRTC registers handlers when it is loaded and
  /// at its first compile, so the threads call this after each kernel; only the first calls have an effect.
  static void wait_at_exit();
};

TMAJIT_END
