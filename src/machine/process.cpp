#include "machine/process.hpp"

#include "launch/files.hpp"
#include "spec/refuse.hpp"

#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <spdlog/fmt/fmt.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

TMAJIT_BEGIN
namespace {

/// A file in memory for the child's output. Unlike a pipe it never fills up, so the child never blocks.
Descriptor make_output() {
  Descriptor file(::memfd_create("output", MFD_CLOEXEC));
  if (file.get() < 0) {
    fail(ErrorCode::io, "cannot make a file in memory: {}", std::generic_category().message(errno));
  }
  return file;
}

std::string text_of(const Descriptor& file) {
  return std::string(InputFile(fmt::format("/proc/self/fd/{}", file.get())).text());
}

}  // namespace

ProcessResult run_process(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  const Descriptor out = make_output();
  const Descriptor err = make_output();
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  ::posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.get(), STDERR_FILENO);
  // The host program may ignore these signals, as Python does. The child must not inherit that.
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
    fail(ErrorCode::io, "cannot start {}: {}", program.string(), std::generic_category().message(error));
  }

  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .out = text_of(out),
          .err = text_of(err)};
}

TMAJIT_END
