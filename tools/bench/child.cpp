#include "child.hpp"

#include <tmajit/error.hpp>

#include <array>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <spawn.h>
#include <spdlog/fmt/fmt.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {
namespace {

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 256> part{};
  for (;;) {
    const ssize_t bytes = ::read(descriptor, part.data(), part.size());
    if (bytes <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(bytes));
  }
}

}  // namespace

std::vector<double> probe_in_child(const std::string& probe, std::size_t count) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string option = "--probe=" + probe;
  const std::array<char*, 3> arguments{const_cast<char*>(program.c_str()), const_cast<char*>(option.c_str()),
                                       nullptr};
  std::array<int, 2> pipe{};
  int status = -1;
  std::string text;
  if (::pipe2(pipe.data(), O_CLOEXEC) == 0) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
    pid_t child = 0;
    const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(pipe[1]);
    if (failed == 0) {
      text = read_all(pipe[0]);
      ::waitpid(child, &status, 0);
    }
    ::close(pipe[0]);
  }
  std::vector<double> numbers;
  std::istringstream words(text);
  for (double number = 0; words >> number;) numbers.push_back(number);
  if (status != 0 || numbers.size() != count) {
    throw tmajit::Error(
        tmajit::ErrorCode::internal,
        fmt::format("{} {} did not print {} numbers (exit status {})", program, option, count, status));
  }
  return numbers;
}

}  // namespace bench
