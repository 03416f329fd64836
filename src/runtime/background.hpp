#pragma once

#include "runtime/kernel_origin.hpp"

#include <tmajit/runtime.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

TMAJIT_BEGIN

/// A kernel that a background thread made, or the reason why there is none.
struct BackgroundResult {
  std::optional<Kernel> kernel;
  std::string error;  ///< empty with a kernel, and if the request was dropped
};

/// Makes kernels in threads of the lowest priority. Threads start when there is something to make, and end
/// when nothing is left. Thread-safe.
///
/// The destructor drops the kernels whose making has not begun, and waits for no thread: a thread that is
/// making a kernel completes it and ends. When the process ends, it waits for the kernels that are being
/// made, and begins no other. A forked child keeps the queue, and its own threads begin anew the kernels that
/// the parent was making; its threads start at the next request or at start().
class Background {
 public:
  /// Makes a kernel, or throws. Nothing if the runtime has been destroyed.
  using Make = std::function<std::optional<Kernel>(const KernelRequest&)>;
  struct Listener {
    /// Runs in a background thread that holds no lock. If the request is dropped, it may run in the thread
    /// that destroys the runtime. A forked child may call it a second time. Must not throw.
    std::function<void(const BackgroundResult&)> tell;
    /// Whether this listener needs the kernel no more; null: never. A kernel is dropped if that is true of
    /// all its listeners before a thread begins to make it.
    std::shared_ptr<const std::atomic<bool>> cancelled = nullptr;
  };
  /// The most kernels that wait because a plan was served another one. Further ones are dropped; a later plan
  /// requests them again.
  static constexpr std::size_t max_waiting = 1024;

  /// `threads`: the most threads at once; 0: none.
  Background(std::uint32_t threads, Make make);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// Requests the kernel of a swap or of a trial, before all that prefetch() requested. One request for equal
  /// kernels is queued, with all listeners. Returns false, and calls no listener, without threads, for a
  /// kernel that could not be made before, and if too many kernels wait.
  bool improve(const KernelRequest& request, Listener listener);
  /// Requests a kernel after all others.
  void prefetch(const KernelRequest& request, Listener listener);
  /// Raises the most threads at once to `threads`, at least 1, and starts those that the queue needs.
  void start(std::uint32_t threads);

 private:
  struct State;  // shared with the threads, which may outlive this object
  std::shared_ptr<State> state_;
};

TMAJIT_END
