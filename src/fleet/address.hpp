#pragma once

#include <tmajit/fleet.hpp>

#include <string>

TMAJIT_BEGIN

/// Where a fleet's store is: a URL in parts.
struct FleetAddress {
  enum class Kind { tcp, tls, unix_socket, folder };
  Kind kind = Kind::tcp;
  std::string host = {};  ///< a name or an address, without brackets
  std::string port = "6379";
  std::string path = {};      ///< of the socket or folder
  std::string database = {};  ///< a number; empty: Redis's default
  std::string user = {};
  std::string password = {};

  /// For messages; without user and password.
  [[nodiscard]] std::string text() const;
};

/// The address in the options' URL. Throws Error{invalid_argument} for a URL that is none of a store.
[[nodiscard]] FleetAddress address_of(const FleetOptions& options);

TMAJIT_END
