#pragma once

#include "fleet/channel.hpp"

#include <tmajit/fleet.hpp>

#include <memory>

TMAJIT_BEGIN

/// TLS by OpenSSL 3 or 1.1, which is loaded at run time, so that a program without rediss:// needs none.
class Tls {
 public:
  /// Throws Error{unavailable} without OpenSSL, Error{invalid_argument} for files of certificates that
  /// OpenSSL refuses.
  explicit Tls(const FleetOptions& options);
  ~Tls();
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;

  /// Encrypts a connection. The server must have a certificate for `host` that a trusted authority has
  /// signed. Throws StoreFailure.
  [[nodiscard]] std::unique_ptr<Channel> secure(std::unique_ptr<Channel> plain, const std::string& host,
                                                Deadline deadline) const;

  struct Context;

 private:
  std::shared_ptr<const Context> context_;  // connections share it
};

TMAJIT_END
