#pragma once

#include <tmajit/device_timing.hpp>
#include <tmajit/runtime.hpp>
#include <tmajit/tuning.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// Finds the fastest of a few kernels for a shape by timing calls that a program makes anyway. Threads
/// take turns, and none waits: a thread that does not get its turn launches the default kernel. A forked
/// child therefore never waits for a thread of its parent.
class Trial {
 public:
  /// A timed launch. The thread that called begin() launches the kernel, then calls hand_over() or abandon().
  class Run {
   public:
    StreamTimer& timer() noexcept { return *timer_; }
    /// Lets collect() read the time once the device has finished the launch.
    void hand_over() noexcept { phase_.store(Phase::pending, std::memory_order_release); }
    void abandon() noexcept { phase_.store(Phase::idle, std::memory_order_release); }

   private:
    friend class Trial;
    enum class Phase : std::uint8_t { idle, launching, pending };
    std::unique_ptr<StreamTimer> timer_;
    std::size_t candidate_ = 0;
    std::atomic<Phase> phase_{Phase::idle};
  };
  /// Result of a trial.
  struct Verdict {
    const KernelChoice* choice = nullptr;  ///< the fastest; null if no candidates could be compared
    double us = 0;                         ///< microseconds of the choice
    double relative_time = 1;              ///< fraction of the default candidate's time
  };
  /// A thread's attempt to take its turn; true if no other thread had the turn. The destructor ends the turn.
  class Turn {
   public:
    explicit Turn(Trial& trial) noexcept
        : trial_(trial), has_turn_(!trial.taken_.exchange(true, std::memory_order_acquire)) {}
    ~Turn() {
      if (has_turn_) trial_.taken_.store(false, std::memory_order_release);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    explicit operator bool() const noexcept { return has_turn_; }

   private:
    Trial& trial_;
    bool has_turn_;
  };

  /// The first of `choices` is the default one. `improve` gives the numbers of calls.
  Trial(const ShapeClass& shape_class, const std::vector<KernelChoice>& choices, const Improve& improve);

  [[nodiscard]] const ShapeClass& shape_class() const noexcept { return shape_class_; }
  [[nodiscard]] std::size_t size() const noexcept { return candidates_.size(); }
  [[nodiscard]] const KernelChoice& choice(std::size_t candidate) const {
    return candidates_[candidate].choice;
  }
  /// Whether the trial has ended.
  [[nodiscard]] bool is_settled() const noexcept { return settled_.load(std::memory_order_acquire); }
  void settle() noexcept { settled_.store(true, std::memory_order_release); }
  /// Drops a candidate and logs the reason. Dropping the default one, the basis of comparison, ends the
  /// trial.
  void drop(std::size_t candidate, std::string_view why);

  /// @name Functions that a thread may call only in its turn
  /// @{
  /// Reads the times of launches that the device has finished.
  void collect();
  /// The result, once every candidate has its times, or the trial has had all its calls; nothing before.
  [[nodiscard]] std::optional<Verdict> verdict();
  /// The candidate to launch next. `can_run` says for each candidate whether it can run the call. Nothing if
  /// the call is of no use for the trial.
  [[nodiscard]] std::optional<std::size_t> next(const std::vector<bool>& can_run);
  /// Counts a call that launches a candidate.
  void use_call() noexcept { --calls_left_; }
  /// A run of a candidate. Null while `max_runs` runs are in flight.
  [[nodiscard]] Run* begin(std::size_t candidate, DeviceTiming& timing);
  /// @}

 private:
  struct Candidate {
    KernelChoice choice;
    std::vector<double> samples;  ///< microseconds
    std::atomic<bool> dropped{false};
    bool is_slow = false;  ///< clearly slower than the fastest candidate
  };
  [[nodiscard]] bool is_done(const Candidate& candidate) const {
    return candidate.dropped || candidate.is_slow || candidate.samples.size() >= wanted_samples_;
  }
  /// The number of a candidate's runs in flight.
  [[nodiscard]] std::size_t runs_of(std::size_t candidate) const;
  /// The median of a candidate's times in microseconds; infinite without times, and for a dropped candidate.
  [[nodiscard]] double median_of(std::size_t candidate) const;
  [[nodiscard]] Verdict fastest() const;
  /// Marks the candidates that are clearly slower than the fastest, as far as it has been measured.
  void mark_slow();

  static constexpr std::size_t max_runs = 8;  // in flight at once
  ShapeClass shape_class_;
  std::uint32_t timed_calls_;
  std::uint32_t calls_left_;
  std::size_t wanted_samples_;  ///< samples of each candidate
  bool is_final_ = false;
  std::vector<Candidate> candidates_;
  std::array<Run, max_runs> runs_;
  std::uint32_t useless_calls_ = 0;  ///< calls that were of no use for the trial
  std::atomic<bool> taken_{false};
  std::atomic<bool> settled_{false};
};

TMAJIT_END
