#include "spec/process_end.hpp"

#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include <unistd.h>

TMAJIT_BEGIN
namespace {

struct Waits {
  std::mutex mutex;
  std::vector<void (*)()> all;
};

Waits& waits() {
  // Never destroyed: the main thread may end after static objects are destroyed.
  static auto& made = *new Waits;
  return made;
}

/// An object of the main thread, whose destructor runs when that thread ends or ends the process.
struct MainThreadEnd {
  ~MainThreadEnd() {
    std::vector<void (*)()> all;
    {
      const std::lock_guard lock(waits().mutex);
      all = waits().all;
    }
    for (const auto wait : all) wait();
  }
};

/// Constructs the main thread's object. The library is usually loaded by the main thread.
bool watch_main_thread() {
  if (::gettid() != ::getpid()) return false;
  thread_local const MainThreadEnd end;
  return true;
}
[[maybe_unused]] const bool watched_at_load = watch_main_thread();

}  // namespace

void before_main_thread_ends(void (*wait)()) {
  const std::lock_guard lock(waits().mutex);
  waits().all.push_back(wait);
}

bool main_thread_has_ended() noexcept try {
  // The state of a process in /proc is that of its main thread: Z after it has ended (proc(5)).
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.compare(name_end, 3, ") Z") == 0;
} catch (...) {
  return false;
}

TMAJIT_END
