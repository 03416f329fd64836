#pragma once

#include <tmajit/cache.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// The bytes of an entry, numbers little-endian:
///
///    0   8  magic
///    8   4  schema of this format
///   12   4  zero
///   16   8  bytes of the payload, which ends the file
///   24   8  checksum of the payload
///   32  32  key
///   64   …  payload: entry, MadeFor's three texts, the number of key fields (8 bytes), their names and
///           values, source, PTX, cubin and log; then Resources, 4 bytes for each field. Each text comes
///           after its length (8 bytes)
inline constexpr std::size_t entry_header_bytes = 64;
/// Enough of an entry's front for read_entry_info().
inline constexpr std::size_t entry_info_bytes = 4096;
/// A longer file is no entry: no kernel comes near this size.
inline constexpr std::uint64_t max_entry_bytes = std::uint64_t{1} << 30;

[[nodiscard]] std::string encode_entry(const CacheKey& key, const Artifact& artifact);

struct DecodedEntry {
  std::optional<Artifact> artifact;
  CacheKey key;            ///< if there is an artifact
  std::string_view fault;  ///< fault of the bytes, if there is no artifact
  /// Another version of tmajit wrote the entry, in a format that this one does not know.
  bool other_version = false;
};
/// Accepts any bytes. Returns the artifact only if every byte is as encode_entry() writes it for some key.
[[nodiscard]] DecodedEntry decode_entry(std::string_view bytes);
/// The same, and the key must be `key`.
[[nodiscard]] DecodedEntry decode_entry(std::string_view bytes, const CacheKey& key);

struct EntryInfo {
  CacheKey key;
  std::string entry;
  MadeFor made_for;
  std::vector<KeyField> key_fields;
};
/// Reads an entry's key, kernel name, MadeFor and key fields from `front`, the first bytes of a file of
/// `file_bytes`; nullopt if these show that the file is no whole entry. The payload is not verified.
[[nodiscard]] std::optional<EntryInfo> read_entry_info(std::string_view front, std::uint64_t file_bytes);

TMAJIT_END
