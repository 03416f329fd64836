#pragma once

#include <tmajit/compile.hpp>
#include <tmajit/names.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

TMAJIT_BEGIN

/// Names everything that determines a compiled kernel: schema, source (or a plan and the generator of its
/// source), entry, ordered options, architecture, NVRTC build. SHA-256.
struct CacheKey {
  std::array<std::uint8_t, 32> digest{};
  [[nodiscard]] TMAJIT_API std::string hex() const;
  friend bool operator==(const CacheKey&, const CacheKey&) = default;
};

/// The key of a kernel of the user's own.
[[nodiscard]] TMAJIT_API CacheKey cache_key(const Source& source, const CompileOptions& options,
                                            const CompilerIdentity& compiler);

class KernelPlan;
/// The key of a plan's kernel. KernelPlan::key() and generator_id() stand for the source, so that no source
/// is generated.
[[nodiscard]] TMAJIT_API CacheKey cache_key(const KernelPlan& plan, const CompileOptions& options,
                                            const CompilerIdentity& compiler);

/// The inputs of these keys in words, in the order in which the key is computed from them. Two keys differ if
/// and only if a field differs.
[[nodiscard]] TMAJIT_API std::vector<KeyField> key_fields(const Source& source, const CompileOptions& options,
                                                          const CompilerIdentity& compiler);
[[nodiscard]] TMAJIT_API std::vector<KeyField> key_fields(const KernelPlan& plan,
                                                          const CompileOptions& options,
                                                          const CompilerIdentity& compiler);

/// Where a kernel came from. A pack is a file of kernels made beforehand; a fleet is a store that several
/// machines share.
enum class CacheLevel { memory, pack, disk, fleet, compiled };
[[nodiscard]] TMAJIT_API std::string_view name(CacheLevel level) noexcept;
template <>
[[nodiscard]] TMAJIT_API CacheLevel parse<CacheLevel>(std::string_view name);

struct CachedKernel {
  CacheKey key;
  Artifact artifact;
};
/// The kernel in a file of a cache. Throws Error{io} if the file cannot be read, Error{invalid_argument} if
/// it is no whole entry of this version of tmajit.
[[nodiscard]] TMAJIT_API CachedKernel read_cache_file(const std::filesystem::path& file);

/// The bound of a cache's size where none is given: `$TMAJIT_CACHE_BYTES`, else 4 GiB. 0 means no bound.
/// Throws Error{invalid_argument} for a variable that is no size: "500MiB", "4GiB" or a number of bytes.
[[nodiscard]] TMAJIT_API std::uint64_t default_max_cache_bytes();

enum class CacheAccess { read_write, read_only };

/// A folder of compiled kernels that any number of processes of one user share, also processes of several
/// machines on a network file system. Entries are published atomically and verified when they are read. A
/// cache that cannot be read or written never fails a compile: fetch() then finds nothing and store() logs a
/// warning. docs/cache.md describes the folder.
///
/// A user with write access to an entry decides what runs. So the cache refuses a folder that belongs to a
/// user other than this process's or root, or that other users may write to (unless it has the sticky bit):
/// a warning says so, nothing is found and nothing is stored. An entry of another user is not used either.
/// Files and folders made here are accessible to this user only.
class TMAJIT_API DiskCache {
 public:
  /// `$TMAJIT_CACHE_DIR`, or `tmajit` under `$XDG_CACHE_HOME` or `~/.cache`; for a user without a home,
  /// `tmajit-<uid>` in the temporary folder. Throws Error{io} if this folder belongs to another user.
  [[nodiscard]] static std::filesystem::path default_directory();

  /// With CacheAccess::read_only nothing in the folder changes: no entry, time or lock. Throws
  /// Error{invalid_argument} if the path is empty.
  explicit DiskCache(std::filesystem::path directory, std::uint64_t max_bytes = default_max_cache_bytes(),
                     CacheAccess access = CacheAccess::read_write);

  /// The entry's time is set to now, at most once in ten minutes.
  [[nodiscard]] std::optional<Artifact> fetch(const CacheKey& key) const;
  /// False if the entry could not be written (disk full, read-only); the reason is logged. If the cache now
  /// exceeds its bound, the least recently used entries are evicted until 90 % of the bound remain. Entries
  /// that were used in the last minute stay.
  bool store(const CacheKey& key, const Artifact& artifact) const;

  /// NVRTC builds that have stored kernels here, newest first. A process without NVRTC looks up kernels by
  /// these.
  [[nodiscard]] std::vector<CompilerIdentity> known_compilers() const;
  void remember(const CompilerIdentity& compiler) const;

  struct Entry {
    CacheKey key;
    std::string entry;  ///< the kernel's name
    MadeFor made_for;
    std::vector<KeyField> key_fields;
    std::uint64_t bytes = 0;
    std::chrono::system_clock::time_point used;  ///< last use, to ten minutes
  };
  /// All complete entries. Throws Error{io} if the folder exists but cannot be listed.
  [[nodiscard]] std::vector<Entry> entries() const;
  /// Removes all entries and returns their number. Throws Error{io} if an entry cannot be removed.
  std::size_t clear() const;

  struct Trimmed {
    std::size_t removed = 0;
    std::uint64_t removed_bytes = 0;
    std::size_t remaining = 0;
    std::uint64_t remaining_bytes = 0;
  };
  /// Removes the entries that were last used longer than `unused_for` ago, then the least recently used ones
  /// until at most `max_bytes` remain. A file counts as whole blocks of 4 KiB. Throws Error{io} if an entry
  /// cannot be removed.
  Trimmed trim(std::uint64_t max_bytes, std::optional<std::chrono::seconds> unused_for = {}) const;

  struct BrokenEntry {
    std::filesystem::path file;
    std::string fault;
    bool removed = false;
  };
  struct Verified {
    std::size_t entries = 0;         ///< entries that were read, the broken ones included
    std::size_t other_versions = 0;  ///< entries of other versions of tmajit, whose format is unknown
    std::vector<BrokenEntry> broken;
  };
  /// Reads every entry and checks its length, checksum and key. With `remove`, removes the broken ones,
  /// except those that cannot be read. `progress` gets the number of entries read so far, and of all. Throws
  /// Error{io} if the folder exists but cannot be listed.
  [[nodiscard]] Verified verify(bool remove,
                                const std::function<void(std::size_t, std::size_t)>& progress = {}) const;

  /// The reason why the folder is refused, and a remedy, as a clause; empty if it is accepted.
  [[nodiscard]] std::string why_refused() const;

  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }

 private:
  struct State;
  void warn(const std::string& message) const;
  [[nodiscard]] bool is_refused() const;  ///< also warns if the folder is refused

  std::filesystem::path directory_;
  std::uint64_t max_bytes_;
  CacheAccess access_;
  std::shared_ptr<State> state_;
};

TMAJIT_END
