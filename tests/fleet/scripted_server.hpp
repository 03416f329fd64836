#pragma once

#include "temporary_folder.hpp"

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace tests {

/// A server on a Unix domain socket that answers each request by a script, right or wrong.
class ScriptedServer {
 public:
  /// One connection, as the script sees it.
  class Connection {
   public:
    Connection(int descriptor, const std::atomic<bool>& ends) : descriptor_(descriptor), ends_(ends) {}
    /// Sends bytes while the client takes them. Returns false if it has closed the connection, or the server
    /// ends.
    bool send(std::string_view bytes) const {
      while (!bytes.empty() && !ends_) {
        const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN) return false;
        if (sent < 0) {
          pollfd watched{.fd = descriptor_, .events = POLLOUT, .revents = 0};
          ::poll(&watched, 1, 10);
        } else {
          bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
      }
      return bytes.empty();
    }
    [[nodiscard]] bool ends() const { return ends_; }

   private:
    int descriptor_;
    const std::atomic<bool>& ends_;
  };
  /// Answers a request. The server closes the connection if it returns false.
  using Script = std::function<bool(const Connection&, std::string_view request)>;

  explicit ScriptedServer(Script script) : script_(std::move(script)) {
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket().copy(address.sun_path, sizeof address.sun_path - 1);
    if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_, 64) != 0)
      throw std::runtime_error("no scripted server");
    acceptor_ = std::jthread([this] { accept(); });
  }
  ~ScriptedServer() {
    ends_ = true;
    acceptor_.join();
    threads_.clear();
    ::close(listener_);
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  [[nodiscard]] std::string url() const { return "redis+unix://" + socket(); }
  [[nodiscard]] int requests() const { return requests_; }

 private:
  [[nodiscard]] std::string socket() const { return folder_ / "fake.sock"; }
  [[nodiscard]] bool wait(int descriptor) const {
    while (!ends_) {
      pollfd watched{.fd = descriptor, .events = POLLIN, .revents = 0};
      if (::poll(&watched, 1, 10) > 0) return true;
    }
    return false;
  }
  void accept() {
    while (wait(listener_)) {
      const int descriptor = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (descriptor >= 0) threads_.emplace_back([this, descriptor] { serve(descriptor); });
    }
  }
  void serve(int descriptor) {
    const Connection connection(descriptor, ends_);
    std::string request(1 << 20, '\0');
    while (wait(descriptor)) {
      const ssize_t count = ::recv(descriptor, request.data(), request.size(), 0);
      if (count <= 0) break;
      ++requests_;
      if (!script_(connection, {request.data(), static_cast<std::size_t>(count)})) break;
    }
    ::close(descriptor);
  }

  TemporaryFolder folder_;
  Script script_;
  int listener_ = -1;
  std::atomic<bool> ends_ = false;
  std::atomic<int> requests_ = 0;
  std::jthread acceptor_;
  std::vector<std::jthread> threads_;
};

}  // namespace tests
