#pragma once

#include <tmajit/version.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

TMAJIT_BEGIN

/// The store of kernels that the machines of a fleet share: a Redis server, or a folder. A kernel that one
/// machine has compiled is read by all others (docs/fleet.md). A process that can write to the store decides
/// what runs on every machine, unless `secret` is set (SECURITY.md).
///
/// The store never makes a request fail. A store that is down, slow, or full costs at most `max_wait` for a
/// request and one line of the log. Then it is left alone for a pause, which grows from 1 s to 60 s.
struct FleetOptions {
  /// The store's address; empty: there is none. Legal are:
  ///   redis://[user[:password]@]host[:port][/database]
  ///   rediss://…                the same with TLS
  ///   redis+unix:///path        a Unix domain socket
  ///   file:///path              a folder, for instance on a network filesystem
  std::string url = {};
  std::string user = {};      ///< Redis's ACL user; replaces that of the URL
  std::string password = {};  ///< replaces that of the URL
  /// For TLS: PEM files of the authorities that may sign the server's certificate (empty: the system's), and
  /// of this client's certificate and key, where the server asks for them.
  std::filesystem::path ca_file = {};
  std::filesystem::path certificate_file = {};
  std::filesystem::path key_file = {};
  /// Signs entries by HMAC-SHA256. Then only entries of processes with the same secret are used.
  std::string secret = {};
  std::string prefix = "tmajit";  ///< begins the names of Redis's keys
  /// The longest time of one request to Redis, including the time to connect.
  std::chrono::milliseconds max_wait{50};
  /// Time after which another machine makes a kernel whose maker has not kept it.
  std::chrono::milliseconds lease{30'000};
  std::chrono::seconds time_to_live{0};  ///< time after which Redis removes an entry; 0: none
  std::uint64_t max_entry_bytes = std::uint64_t{64} << 20;  ///< larger entries are neither read nor kept

  /// From `$TMAJIT_FLEET` (the URL), `$TMAJIT_FLEET_PASSWORD`, `$TMAJIT_FLEET_SECRET`,
  /// `$TMAJIT_FLEET_PASSWORD_FILE`, `$TMAJIT_FLEET_SECRET_FILE`, `$TMAJIT_FLEET_CA`,
  /// `$TMAJIT_FLEET_CERTIFICATE` and `$TMAJIT_FLEET_KEY`. Throws Error{io} if a named file cannot be read.
  [[nodiscard]] TMAJIT_API static FleetOptions from_environment();
};

TMAJIT_END
