#pragma once

#include "report/text.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace jitc {

[[nodiscard]] bool is_terminal(int fd);
/// Columns of the terminal `fd`, or 160 if `fd` is no terminal.
[[nodiscard]] std::size_t columns(int fd);

/// Whether `fd` is a terminal and $NO_COLOR is not set.
[[nodiscard]] bool takes_colour(int fd);

using tmajit::Style;
/// `text` in a colour, if `fd` takes colours.
[[nodiscard]] std::string styled(std::string_view text, Style style, int fd);

/// Columns of the widest page: wider ones are hard to read on any terminal.
inline constexpr std::size_t widest_page = 118;

/// Writes to standard error. Ignores failures, because there is no other stream to report them on.
void write_stderr(std::string_view text) noexcept;
template <class... Values>
void write_stderr(fmt::format_string<Values...> text, Values&&... values) {
  write_stderr(std::string_view(fmt::format(text, std::forward<Values>(values)...)));
}

/// Writes one line to standard error, with `title` as a heading.
void say(std::string_view title, std::string_view text);
template <class... Values>
void say(std::string_view title, fmt::format_string<Values...> text, Values&&... values) {
  say(title, std::string_view(fmt::format(text, std::forward<Values>(values)...)));
}

/// A progress line on a terminal, shown after one second: label, seconds, and the fraction done if the total
/// is known. Without a terminal nothing is shown. The line disappears with the object.
class Progress {
 public:
  explicit Progress(std::string label, std::uint64_t total = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(std::uint64_t amount) noexcept { done_ += amount; }
  /// Sets the text of progress whose total is unknown. Thread-safe.
  void note(std::string text);

 private:
  void show();

  std::string label_;
  std::uint64_t total_;
  std::atomic<std::uint64_t> done_{0};
  std::mutex mutex_;
  std::string note_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace jitc
