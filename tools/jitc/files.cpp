#include "files.hpp"

#include <csignal>

#include <fcntl.h>
#include <unistd.h>

namespace jitc {
namespace {

extern "C" void bus_error(int /*signal*/) {
  constexpr std::string_view message =
      "jitc: error: a file shrank, or its disk failed, while it was being read or written\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, message.data(), message.size());
  ::_exit(3);
}

}  // namespace

void write_stdout(std::string_view text) {
  tmajit::write_fully(STDOUT_FILENO, std::as_bytes(std::span(text)), "to standard output");
}

void write_text(const std::string& path, std::string_view text) {
  if (path.empty()) return write_stdout(text);
  OutputFile file(path);
  file.write(text);
  file.commit();
}

void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // open() takes the lowest number that is free, which is this one.
    static_cast<void>(::open("/", O_PATH));
  }
}

void install_signal_handling() {
  ::signal(SIGXFSZ, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGBUS, bus_error);
}

}  // namespace jitc
