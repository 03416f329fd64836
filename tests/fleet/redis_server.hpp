#pragma once

#include "runtime/child_process.hpp"
#include "temporary_folder.hpp"

#include <chrono>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace tests {

inline void skip_without(const char* program) {
  const std::string search = std::string("command -v ") + program + " >/dev/null 2>&1";
  if (std::system(search.c_str()) != 0) SKIP(program << " is not installed: tools/setup.sh installs it");
}

/// A port that no process listens on.
inline int free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool bound = ::bind(descriptor, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  ::close(descriptor);
  if (!bound) throw std::runtime_error("no port is free");
  return ntohs(address.sin_port);
}

/// A Redis server with its socket in a temporary folder, which keeps nothing on disk. Skips the test without
/// redis-server.
class RedisServer {
 public:
  explicit RedisServer(std::vector<std::string> options = {"--port", "0"}) {
    skip_without("redis-server");
    std::vector<std::string> words{
        "redis-server",       "--unixsocket", socket(), "--save",     "",        "--dir",
        folder_.path(),       "--appendonly", "no",     "--loglevel", "warning", "--logfile",
        folder_ / "redis.log"};
    words.insert(words.end(), options.begin(), options.end());
    words_ = std::move(words);
    start();
  }

  void start() {
    process_.reset();
    process_.emplace([&] {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is killed leaves no server
      std::vector<char*> arguments;
      for (std::string& word : words_) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      ::execvp(arguments[0], arguments.data());
      return 127;
    });
    for (int i = 0; i < 1000 && !accepts(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    INFO((std::filesystem::exists(folder_ / "redis.log") ? read_file(folder_ / "redis.log") : "no log"));
    REQUIRE(accepts());
  }
  void signal(int number) const { process_->kill(number); }
  void kill() { process_.reset(); }

  [[nodiscard]] std::string socket() const { return folder_ / "redis.sock"; }
  [[nodiscard]] std::string url() const { return "redis+unix://" + socket(); }

 private:
  [[nodiscard]] bool accepts() const {
    const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = socket();
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const bool connected =
        ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(descriptor);
    return connected;
  }

  TemporaryFolder folder_;
  std::vector<std::string> words_;
  std::optional<ChildProcess> process_;
};

}  // namespace tests
