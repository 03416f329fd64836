#include "fleet/channel.hpp"
#include "fleet/store.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spdlog/fmt/fmt.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

TMAJIT_BEGIN
namespace {

[[noreturn]] void fail_with(std::string_view action, int error) {
  throw StoreFailure(fmt::format("{}: {}", action, std::generic_category().message(error)));
}

std::chrono::milliseconds time_until(Deadline deadline) {
  const auto now = std::chrono::steady_clock::now();
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline - now), std::chrono::milliseconds(0));
}

class Socket final : public Channel {
 public:
  explicit Socket(int family) : descriptor_(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    if (descriptor_ < 0) fail_with("no socket", errno);
  }
  ~Socket() override { ::close(descriptor_); }

  void connect(const sockaddr* address, socklen_t bytes, Deadline deadline) {
    if (::connect(descriptor_, address, bytes) == 0) return;
    if (errno != EINPROGRESS && errno != EINTR) fail_with("it cannot be reached", errno);
    wait(POLLOUT, deadline);
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(descriptor_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    if (error != 0) fail_with("it cannot be reached", error);
  }
  /// Requests are single messages, so that nothing is gained by delaying them.
  void send_at_once() const {
    const int on = 1;
    static_cast<void>(::setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
  }

  void send(std::string_view bytes, Deadline deadline) override {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        wait(POLLOUT, deadline);
      } else if (errno != EINTR) {
        fail_with("it does not take a request", errno);
      }
    }
  }
  std::size_t receive(char* bytes, std::size_t limit, Deadline deadline) override {
    for (;;) {
      // A server that sends without end is stopped by the deadline, too.
      if (time_until(deadline).count() == 0) fail_late();
      const ssize_t received = ::recv(descriptor_, bytes, limit, 0);
      if (received >= 0) return static_cast<std::size_t>(received);
      if (errno == EAGAIN || errno == EWOULDBLOCK) {
        wait(POLLIN, deadline);
      } else if (errno != EINTR) {
        fail_with("it does not answer", errno);
      }
    }
  }

 private:
  [[noreturn]] static void fail_late() { throw StoreFailure("it did not answer in time"); }

  void wait(short event, Deadline deadline) const {
    for (;;) {
      const auto left = time_until(deadline);
      pollfd watched{.fd = descriptor_, .events = event, .revents = 0};
      const int ready = ::poll(&watched, 1, static_cast<int>(left.count()));
      if (ready > 0) return;
      if (ready < 0 && errno != EINTR) fail_with("its socket cannot be watched", errno);
      if (left.count() == 0) fail_late();
    }
  }

  int descriptor_;
};

using Resolved = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

addrinfo stream_hints() {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  return hints;
}

[[noreturn]] void fail_to_resolve(const FleetAddress& address, int error) {
  throw StoreFailure(fmt::format("the name {} is not found: {}", address.host, ::gai_strerror(error)));
}

// ThreadSanitizer does not support the C library's own thread, which getaddrinfo_a() starts.
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34) && !defined(__SANITIZE_THREAD__)
/// getaddrinfo() has no time limit, and a name server that is down takes many seconds.
Resolved resolve(const FleetAddress& address, Deadline deadline) {
  struct Request {
    explicit Request(const FleetAddress& wanted) : host(wanted.host), port(wanted.port) {}
    std::string host;
    std::string port;
    addrinfo hints = stream_hints();
    gaicb query{};
  };
  auto request = std::make_unique<Request>(address);
  request->query.ar_name = request->host.c_str();
  request->query.ar_service = request->port.c_str();
  request->query.ar_request = &request->hints;
  gaicb* queries[] = {&request->query};
  if (const int error = ::getaddrinfo_a(GAI_NOWAIT, queries, 1, nullptr); error != 0)
    fail_to_resolve(address, error);
  for (;;) {
    const int status = ::gai_error(&request->query);
    if (status == 0) return {request->query.ar_result, &::freeaddrinfo};
    if (status != EAI_INPROGRESS) fail_to_resolve(address, status);
    const auto left = time_until(deadline);
    if (left.count() == 0) break;
    const timespec limit{.tv_sec = left.count() / 1000, .tv_nsec = left.count() % 1000 * 1'000'000};
    static_cast<void>(::gai_suspend(queries, 1, &limit));
  }
  // The C library continues to use the memory of a request that it cannot cancel.
  if (::gai_cancel(&request->query) != EAI_CANCELED) static_cast<void>(request.release());
  throw StoreFailure(fmt::format("the name {} was not found in time", address.host));
}
#else
/// Here the resolver's own time limit applies.
Resolved resolve(const FleetAddress& address, Deadline) {
  const addrinfo hints = stream_hints();
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found);
  if (error != 0) fail_to_resolve(address, error);
  return {found, &::freeaddrinfo};
}
#endif

/// The addresses of an address in digits, which needs no name server.
Resolved resolve_digits(const FleetAddress& address) {
  addrinfo hints = stream_hints();
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found) != 0) found = nullptr;
  return {found, &::freeaddrinfo};
}

std::unique_ptr<Channel> connect_unix(const FleetAddress& address, Deadline deadline) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (address.path.size() >= sizeof name.sun_path)
    throw StoreFailure(
        fmt::format("the path of its socket is longer than {} bytes", sizeof name.sun_path - 1));
  std::copy(address.path.begin(), address.path.end(), name.sun_path);
  auto socket = std::make_unique<Socket>(AF_UNIX);
  socket->connect(reinterpret_cast<const sockaddr*>(&name), sizeof name, deadline);
  return socket;
}

}  // namespace

std::unique_ptr<Channel> connect_socket(const FleetAddress& address, Deadline deadline) {
  if (address.kind == FleetAddress::Kind::unix_socket) return connect_unix(address, deadline);
  Resolved found = resolve_digits(address);
  if (found == nullptr) found = resolve(address, deadline);
  for (const addrinfo* at = found.get(); at != nullptr; at = at->ai_next) {
    try {
      auto socket = std::make_unique<Socket>(at->ai_family);
      socket->connect(at->ai_addr, at->ai_addrlen, deadline);
      socket->send_at_once();
      return socket;
    } catch (const StoreFailure&) {
      if (at->ai_next == nullptr) throw;
    }
  }
  throw StoreFailure("its name has no address");
}

TMAJIT_END
