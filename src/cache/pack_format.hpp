#pragma once

#include <tmajit/cache.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// The bytes of a pack, numbers little-endian:
///
///    0   8  magic
///    8   4  schema of this format
///   12   4  number of compilers
///   16   8  bytes of the file
///   24   8  bytes of the directory
///   32   8  number of kernels
///   40   8  bytes of the dictionary
///   48   8  checksum of the dictionary
///   56   8  checksum of the bytes before this one and of the directory
///   64   …  directory: generator_id() of the library that wrote the pack, after its length (8 bytes); for
///           each compiler major and minor version (4 bytes each) and its build, after its length; then for
///           each kernel, in ascending order of keys, an index record
///        …  dictionary of Zstandard
///        …  entries in the order of the index: entry_format.hpp, without source and log, compressed
///
/// An index record has the key (32 bytes), the entry's offset in the file (8 bytes), its bytes (4), its bytes
/// when decompressed (4), and the checksum of its compressed bytes (8). No byte of the file is unused.
inline constexpr std::size_t pack_header_bytes = 64;
inline constexpr std::size_t pack_record_bytes = 56;
/// A kernel that is longer when decompressed is not packed, and an entry that claims to be is damaged.
inline constexpr std::uint32_t max_packed_bytes = std::uint32_t{1} << 28;

/// The first fields of a pack's directory.
struct PackTables {
  std::string generator;
  std::vector<CompilerIdentity> compilers;  ///< versions and builds alone
};

/// Position and size of a kernel's entry.
struct PackRecord {
  CacheKey key;
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t whole_bytes = 0;
  std::uint64_t checksum = 0;
};

/// An entry to be written, compressed.
struct PackedEntry {
  CacheKey key;
  std::string bytes;
  std::uint32_t whole_bytes = 0;
};

/// The bytes of a pack. Sorts the entries, which must have different keys.
[[nodiscard]] std::string encode_pack(const PackTables& tables, std::string_view dictionary,
                                      std::vector<PackedEntry> entries);

/// Writes the checksum of header and directory into bytes that have the extents of a pack; leaves other bytes
/// unchanged.
void seal_pack(std::string& bytes);

/// A view of a pack's bytes. The directory was verified: checksum, order of keys, extents of all entries.
/// Dictionary and entries were not.
struct PackView {
  PackTables tables;
  std::string_view index;  ///< the index records
  std::string_view dictionary;
  std::uint64_t dictionary_checksum = 0;

  [[nodiscard]] std::size_t kernels() const noexcept { return index.size() / pack_record_bytes; }
  [[nodiscard]] PackRecord record(std::size_t number) const;
  [[nodiscard]] std::optional<PackRecord> find(const CacheKey& key) const;
};

struct DecodedPack {
  std::optional<PackView> view;
  std::string_view fault;  ///< fault of the bytes, if there is no view
};
/// Accepts any bytes. The view refers to them.
[[nodiscard]] DecodedPack decode_pack(std::string_view bytes);

TMAJIT_END
