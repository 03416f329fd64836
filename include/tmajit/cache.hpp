#pragma once

#include <tmajit/compile.hpp>
#include <tmajit/names.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
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

/// Where a kernel came from. A pack is a file of kernels made beforehand; a fleet is a store that several
/// machines share.
enum class CacheLevel { memory, pack, disk, fleet, compiled };
[[nodiscard]] TMAJIT_API std::string_view name(CacheLevel level) noexcept;
template <>
[[nodiscard]] TMAJIT_API CacheLevel parse<CacheLevel>(std::string_view name);

/// A folder of compiled kernels that any number of processes of one user share. Entries are published
/// atomically and verified when they are read. A cache that cannot be read or written never fails a compile:
/// fetch() then finds nothing and store() logs a warning.
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

  explicit DiskCache(std::filesystem::path directory);  ///< Error{invalid_argument} if it is empty

  [[nodiscard]] std::optional<Artifact> fetch(const CacheKey& key) const;
  /// False if the entry could not be written (disk full, read-only); the reason is logged.
  bool store(const CacheKey& key, const Artifact& artifact) const;

  /// NVRTC builds that have stored kernels here, newest first. A process without NVRTC looks up kernels by
  /// these.
  [[nodiscard]] std::vector<CompilerIdentity> known_compilers() const;
  void remember(const CompilerIdentity& compiler) const;

  struct Entry {
    CacheKey key;
    std::string entry;  ///< the kernel's name
    MadeFor made_for;
    std::uint64_t bytes = 0;
    std::filesystem::file_time_type stored;
  };
  /// All complete entries. Throws Error{io} if the folder exists but cannot be listed.
  [[nodiscard]] std::vector<Entry> entries() const;
  /// Removes all entries and returns their number. Throws Error{io} if an entry cannot be removed.
  std::size_t clear() const;

  /// The reason why the folder is refused, and a remedy, as a clause; empty if it is accepted.
  [[nodiscard]] std::string why_refused() const;

  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }

 private:
  void warn(const std::string& message) const;
  [[nodiscard]] bool is_refused() const;  ///< also warns if the folder is refused

  std::filesystem::path directory_;
  std::shared_ptr<std::atomic<bool>>
      warned_;  ///< only the first failure is a warning, not one for each kernel
};

TMAJIT_END
