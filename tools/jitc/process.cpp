#include "process.hpp"

#include "files.hpp"

#include <tmajit/error.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <spdlog/fmt/fmt.h>
#include <sys/wait.h>
#include <unistd.h>

namespace jitc {
namespace {

struct Pipe {
  Descriptor read, write;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw tmajit::Error(tmajit::ErrorCode::io,
                        fmt::format("cannot make a pipe: {}", std::generic_category().message(errno)));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Reads both ends to their end; one after the other could block a child that fills the other pipe.
void drain(std::array<Descriptor, 2> ends, std::array<std::string*, 2> texts) {
  std::array<::pollfd, 2> polled{{{ends[0].get(), POLLIN, 0}, {ends[1].get(), POLLIN, 0}}};
  std::array<char, 65536> piece;
  for (int open = 2; open > 0;) {
    if (::poll(polled.data(), polled.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].fd < 0 || polled[i].revents == 0) continue;
      const auto got = ::read(polled[i].fd, piece.data(), piece.size());
      if (got > 0) {
        texts[i]->append(piece.data(), static_cast<std::size_t>(got));
      } else if (got == 0 || errno != EINTR) {
        polled[i].fd = -1;
        --open;
      }
    }
  }
}

}  // namespace

ProcessResult run_process(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  ::posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.write.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.write.get(), STDERR_FILENO);
  // What this program ignores, the child must not inherit as ignored.
  ::posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::sigset_t defaults;
  ::sigemptyset(&defaults);
  ::sigaddset(&defaults, SIGPIPE);
  ::sigaddset(&defaults, SIGXFSZ);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  ::pid_t child = 0;
  const int error = ::posix_spawn(&child, program.c_str(), &actions, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw tmajit::Error(tmajit::ErrorCode::io, fmt::format("cannot start {}: {}", program.string(),
                                                           std::generic_category().message(error)));
  }

  ProcessResult result;
  out.write = Descriptor();
  err.write = Descriptor();
  drain({std::move(out.read), std::move(err.read)}, {&result.out, &result.err});
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace jitc
