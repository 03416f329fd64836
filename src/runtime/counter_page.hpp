#pragma once

#include "runtime/single_flight.hpp"
#include "spec/fork_guard.hpp"

#include <tmajit/counters.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

TMAJIT_BEGIN

/// One page of numbers, which other processes may read while they change. All of them are atomic, so that a
/// reader sees each number whole. `sequence` is odd while they change: a reader that sees it change
/// reads again.
struct CounterPage {
  static constexpr std::uint64_t expected_magic = 0x0032'7461'7473'616d;  ///< "mastat2"
  static constexpr std::size_t stages = 6;                                ///< members of StageTimes
  static constexpr std::size_t text_words = 16;
  using Number = std::atomic<std::uint64_t>;
  using Text = std::array<Number, text_words>;

  Number magic;
  Number process;
  Number sequence;
  Text program;
  Text last_kernel;
  std::array<Number, Counters::levels> requests;
  Number failures;
  std::array<Number, stages> nanoseconds;
  Number bytes_read;
  Number bytes_written;
  Number bytes_loaded;
  Number served;
  Number waited;
  Number swaps;
  Number swap_nanoseconds;
  std::array<LaneHits, single_flight_lanes> memory;  ///< requests that found their kernel in memory

  /// A consistent copy of the numbers.
  [[nodiscard]] PublishedCounters read() const;
  static void write(Text& text, std::string_view value);
};

/// Memory of a CounterPage. With a folder it is a file there, which the process keeps locked while it lives:
/// a reader that can lock the file knows that the process has ended. A forked child gets a file of its own.
class SharedCounterPage {
 public:
  /// Logs a warning, and uses memory of this process alone, if the file cannot be made.
  explicit SharedCounterPage(std::optional<std::filesystem::path> directory);
  ~SharedCounterPage();
  SharedCounterPage(const SharedCounterPage&) = delete;
  SharedCounterPage& operator=(const SharedCounterPage&) = delete;

  CounterPage* operator->() const noexcept { return page_; }
  CounterPage& operator*() const noexcept { return *page_; }

 private:
  void map(void* at);
  void make_file();
  void after_fork(ForkSide side);

  std::optional<std::filesystem::path> directory_;
  std::filesystem::path file_;  ///< empty if there is none
  int descriptor_ = -1;
  CounterPage* page_ = nullptr;
  ForkGuard fork_guard_{[] {}, [this](ForkSide side) { after_fork(side); }};
};

TMAJIT_END
