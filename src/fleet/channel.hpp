#pragma once

#include "fleet/address.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

TMAJIT_BEGIN

using Deadline = std::chrono::steady_clock::time_point;

/// A connection to a server. Each function ends at its deadline, however slowly the server answers, and
/// throws StoreFailure.
class Channel {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  virtual ~Channel() = default;

  virtual void send(std::string_view bytes, Deadline deadline) = 0;
  /// At least one byte; 0 if the server has closed the connection.
  [[nodiscard]] virtual std::size_t receive(char* bytes, std::size_t limit, Deadline deadline) = 0;
};

/// A connection by TCP or a Unix domain socket.
[[nodiscard]] std::unique_ptr<Channel> connect_socket(const FleetAddress& address, Deadline deadline);

TMAJIT_END
