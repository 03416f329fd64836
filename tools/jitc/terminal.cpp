#include "terminal.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <spdlog/fmt/fmt.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace jitc {

bool is_terminal(int fd) {
  return ::isatty(fd) == 1;
}

std::size_t columns(int fd) {
  constexpr std::size_t without_terminal = 160;
  ::winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return without_terminal;
}

bool takes_colour(int fd) {
  const char* const no_color = std::getenv("NO_COLOR");
  return is_terminal(fd) && (no_color == nullptr || *no_color == '\0');
}

std::string styled(std::string_view text, Style style, int fd) {
  return tmajit::styled(text, style, takes_colour(fd));
}

void write_stderr(std::string_view text) noexcept {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

void say(std::string_view title, std::string_view text) {
  constexpr std::size_t margin = 9;  // the title's 8 columns and a space
  // Only a terminal gets wrapped lines.
  const std::size_t width = is_terminal(STDERR_FILENO) ? columns(STDERR_FILENO) : std::string::npos;
  std::string front = styled(fmt::format("{:<8}", title), Style::bold, STDERR_FILENO) + ' ';
  for (const auto& line : tmajit::wrap(text, std::max(width, margin + 20) - margin)) {
    write_stderr("{}{}\n", front, line);
    front.assign(margin, ' ');
  }
}

Progress::Progress(std::string label, std::uint64_t total) : label_(std::move(label)), total_(total) {
  if (is_terminal(STDERR_FILENO)) thread_ = std::thread([this] { show(); });
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Progress::note(std::string text) {
  const std::lock_guard lock(mutex_);
  note_ = std::move(text);
}

void Progress::show() {
  using namespace std::chrono_literals;
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  if (wake_.wait_for(lock, 1s, [this] { return stop_; })) return;
  do {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto part =
        !note_.empty() ? " " + note_
        : total_ == 0
            ? std::string()
            : fmt::format(" {:.0f} %", 100.0 * static_cast<double>(done_) / static_cast<double>(total_));
    write_stderr("\r\x1b[K{} …{} ({:.0f} s)", label_, part, seconds);
  } while (!wake_.wait_for(lock, 200ms, [this] { return stop_; }));
  write_stderr("\r\x1b[K");
}

}  // namespace jitc
