#pragma once

#include <tmajit/version.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

TMAJIT_BEGIN

/// HMAC-SHA256 (RFC 2104).
[[nodiscard]] std::array<std::uint8_t, 32> hmac_sha256(std::string_view secret, std::string_view message);

/// Signs the bytes that a fleet keeps in its store, if the fleet has a secret. A store, or a process that
/// writes to it without the secret, can then withhold kernels but not replace them.
class Seal {
 public:
  explicit Seal(std::string secret) : secret_(std::move(secret)) {}

  /// The bytes to store: magic, HMAC and `bytes`; `bytes` alone without a secret. `kind` is signed, too, so
  /// that bytes of one kind do not pass for another.
  [[nodiscard]] std::string close(std::string_view kind, std::string_view bytes) const;

  struct Opened {
    std::string_view bytes;  ///< part of the stored bytes
    std::string_view fault;  ///< the reason if they are not used
  };
  [[nodiscard]] Opened open(std::string_view kind, std::string_view stored) const;

  /// Bytes that close() adds at most.
  static constexpr std::size_t overhead = 40;

 private:
  std::string secret_;
};

TMAJIT_END
