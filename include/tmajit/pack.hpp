#pragma once

#include <tmajit/cache.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// A file of kernels made beforehand: their machine code or PTX without source and log, by key. Runtimes
/// search packs before folders of kernels (RuntimeOptions::packs). docs/packs.md describes them.
///
/// The file is mapped, and each kernel is compressed on its own: opening a pack reads its index alone. Every
/// byte is covered by a checksum: index and kernels are verified before they are used, a kernel also after it
/// was decompressed. Replace a pack by renaming another file to its path, never by writing into it.
/// Thread-safe.
class TMAJIT_API Pack {
 public:
  /// The end of a pack's file name.
  static constexpr std::string_view extension = ".pack";

  /// Throws Error{io} if the file cannot be read, Error{invalid_argument} if it is no pack, or is damaged.
  explicit Pack(std::filesystem::path file);
  Pack(Pack&&) noexcept;
  Pack& operator=(Pack&&) noexcept;
  ~Pack();

  [[nodiscard]] const std::filesystem::path& file() const noexcept;
  [[nodiscard]] std::uint64_t bytes() const noexcept;  ///< of the file
  /// generator_id() of the library that wrote the pack. A library with another one finds none of the
  /// generated kernels in it.
  [[nodiscard]] std::string_view generator() const noexcept;
  /// The compilers of its kernels, with neither path nor stamp.
  [[nodiscard]] std::span<const CompilerIdentity> compilers() const noexcept;
  [[nodiscard]] std::size_t kernels() const noexcept;  ///< their number
  [[nodiscard]] std::vector<CacheKey> keys() const;    ///< ascending

  [[nodiscard]] bool has(const CacheKey& key) const noexcept;
  /// The kernel, without source and log; nullopt if the pack does not have it. Throws Error{invalid_argument}
  /// if its bytes are damaged, Error{io} if the file was truncated since it was opened.
  [[nodiscard]] std::optional<Artifact> fetch(const CacheKey& key) const;
  /// Reads the whole file. Throws what fetch() throws if any byte of it is damaged.
  void verify() const;
  /// Bytes of a kernel's entry in the file; 0 if the pack does not have it.
  [[nodiscard]] std::uint64_t bytes_of(const CacheKey& key) const noexcept;

  /// The reason why runtimes refuse the file, and a remedy, as a clause: another user could have written it.
  /// Empty if they accept it.
  [[nodiscard]] std::string why_refused() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Work done so far, and all of it, in kernels. May be called by any thread, but calls do not overlap.
using KernelProgress = std::function<void(std::size_t done, std::size_t count)>;

struct PackSummary {
  std::size_t kernels = 0;
  std::uint64_t bytes = 0;           ///< of the file
  std::uint64_t whole_bytes = 0;     ///< of the kernels when decompressed
  std::vector<CacheKey> left_out{};  ///< keys of kernels that `from` does not have
};
struct PackOptions {
  /// Also keep the PTX of kernels that have a cubin. The simulated device needs it, and a GPU does not.
  bool keep_ptx = false;
  KernelProgress progress = {};
};
/// Writes a pack of the kernels of a cache folder with these keys, whole or not at all. It has their cubins,
/// and the PTX of kernels without a cubin. `compilers` have made them. Throws Error{io}.
TMAJIT_API PackSummary write_pack(const std::filesystem::path& file, std::span<const CacheKey> keys,
                                  const DiskCache& from, std::span<const CompilerIdentity> compilers,
                                  const PackOptions& options = {});

/// The packs that every runtime searches, unless RuntimeOptions::shipped_packs is false: those that
/// `$TMAJIT_PACKS` names, files and folders separated by colons; without that variable, those that come with
/// the library.
[[nodiscard]] TMAJIT_API std::vector<std::filesystem::path> shipped_packs();

TMAJIT_END
