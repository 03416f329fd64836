#pragma once

#include <tmajit/version.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct ZSTD_CDict_s;

TMAJIT_BEGIN

/// Compresses texts with a dictionary, each on its own. The dictionary is any text that resembles them.
/// Thread-safe.
class Compressor {
 public:
  /// Throws std::bad_alloc.
  explicit Compressor(std::string_view dictionary);
  [[nodiscard]] std::string compress(std::string_view bytes) const;

 private:
  std::shared_ptr<const ZSTD_CDict_s> dictionary_;
};

/// Reverses a Compressor with the same dictionary, which must outlive the object. Thread-safe.
class Decompressor {
 public:
  explicit Decompressor(std::string_view dictionary) : dictionary_(dictionary) {}
  /// Accepts any bytes. Throws std::bad_alloc. Returns nullopt if they do not decompress to exactly
  /// `whole_bytes`.
  [[nodiscard]] std::optional<std::string> decompress(std::string_view compressed,
                                                      std::size_t whole_bytes) const;

 private:
  std::string_view dictionary_;
};

TMAJIT_END
