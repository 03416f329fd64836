#pragma once

#include <tmajit/device_timing.hpp>
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

/// Finds the fastest of a few kernels for a shape class by timing calls that a program makes anyway. Threads
/// take turns, and none waits: a thread that does not get its turn launches the default kernel. So a fork
/// leaves no thread waiting, either.
class Trial {
 public:
  /// A launch that is timed. The thread that was given it launches, and then hands it over or abandons it.
  class Run {
   public:
    StreamTimer& timer() noexcept { return *timer_; }
    /// Times it, when the device has come as far.
    void hand_over() noexcept { phase_.store(Phase::pending, std::memory_order_release); }
    void abandon() noexcept { phase_.store(Phase::idle, std::memory_order_release); }

   private:
    friend class Trial;
    enum class Phase : std::uint8_t { idle, launching, pending };
    std::unique_ptr<StreamTimer> timer_;
    std::size_t candidate_ = 0;
    std::uint64_t shape_ = 0;
    std::atomic<Phase> phase_{Phase::idle};
  };
  /// Result of a trial.
  struct Verdict {
    const KernelChoice* choice = nullptr;  ///< the fastest; null if nothing could be compared
    double us = 0;                         ///< microseconds of the choice
    double part = 1;                       ///< fraction of the default candidate's time
  };
  /// One thread's turn, if no other has it.
  class Turn {
   public:
    explicit Turn(Trial& trial) noexcept
        : trial_(trial), mine_(!trial.taken_.exchange(true, std::memory_order_acquire)) {}
    ~Turn() {
      if (mine_) trial_.taken_.store(false, std::memory_order_release);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    explicit operator bool() const noexcept { return mine_; }

   private:
    Trial& trial_;
    bool mine_;
  };

  /// The usual choice comes first.
  Trial(const ShapeClass& shape_class, const std::vector<KernelChoice>& choices, std::uint32_t timed_calls);

  [[nodiscard]] const ShapeClass& shape_class() const noexcept { return shape_class_; }
  [[nodiscard]] std::size_t size() const noexcept { return candidates_.size(); }
  [[nodiscard]] const KernelChoice& choice(std::size_t candidate) const {
    return candidates_[candidate].choice;
  }
  /// Whether there is nothing more to be done.
  [[nodiscard]] bool is_settled() const noexcept { return settled_.load(std::memory_order_acquire); }
  void settle() noexcept { settled_.store(true, std::memory_order_release); }
  /// Leaves a candidate out, and says why in the log. Without the usual one there is nothing to compare with.
  void drop(std::size_t candidate, std::string_view why);

  /// The number of a shape that takes part from now on. Times are compared in units of what the usual
  /// candidate takes for the same shape, as measured: shapes of one class are not of one size, and
  /// predictions are wrong by more than candidates differ.
  [[nodiscard]] std::uint64_t join() noexcept { return shapes_.fetch_add(1); }

  /// @name In a thread's turn
  /// @{
  /// Takes the times that are there.
  void collect();
  /// The result, once every candidate has its times, and candidates near the fastest have more.
  [[nodiscard]] std::optional<Verdict> verdict();
  /// Which of the candidates that a call of this shape `can` do is to be timed next; none if it can do
  /// nothing for the trial.
  [[nodiscard]] std::optional<std::size_t> next(const std::vector<bool>& can, std::uint64_t shape);
  /// A run of a candidate. Null while the device is so far behind that enough others are pending.
  [[nodiscard]] Run* begin(std::size_t candidate, std::uint64_t shape, DeviceTiming& timing);
  /// @}

 private:
  struct Sample {
    double us = 0;
    std::uint64_t shape = 0;
    double part = 0;  ///< fraction of the default candidate's time for the shape
  };
  struct Candidate {
    KernelChoice choice;
    std::vector<Sample> samples;
    std::atomic<bool> dropped{false};
    bool is_slow = false;  ///< it has its times, and others are clearly faster
  };
  [[nodiscard]] bool is_done(const Candidate& candidate) const {
    return candidate.dropped || candidate.is_slow || candidate.samples.size() >= wanted_;
  }
  [[nodiscard]] std::size_t runs_of(std::size_t candidate) const;
  /// Whether the usual candidate has been timed for a shape, or is about to be.
  [[nodiscard]] bool has_unit(std::uint64_t shape) const;
  /// The middle one of a candidate's samples by their parts, which are reckoned anew.
  [[nodiscard]] Sample median_of(std::size_t candidate);
  [[nodiscard]] Verdict fastest();
  /// Leaves those that are clearly slower than the fastest as they are. Whether several are left.
  [[nodiscard]] bool has_finalists();

  static constexpr std::size_t most_runs = 8;  // at once
  ShapeClass shape_class_;
  std::uint32_t timed_calls_;
  std::size_t wanted_;  ///< samples of each candidate
  bool is_final_ = false;
  std::vector<Candidate> candidates_;
  std::atomic<std::uint64_t> shapes_{0};
  std::array<Run, most_runs> runs_;
  std::uint32_t fruitless_ = 0;  ///< calls that could do nothing for it
  std::atomic<bool> taken_{false};
  std::atomic<bool> settled_{false};
};

TMAJIT_END
