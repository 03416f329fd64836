#include "files/files.hpp"
#include "files/trust.hpp"

#include <tmajit/cache.hpp>
#include <tmajit/error.hpp>

#include <cstdlib>

#include <pwd.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

TMAJIT_BEGIN

namespace {

std::filesystem::path environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// The user's home folder according to the user database.
std::filesystem::path home_on_record() {
  std::vector<char> buffer(std::size_t{16} * 1024);
  passwd record{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &record, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) {
    return {};
  }
  return record.pw_dir;
}

/// A folder for this user in the temporary folder, where all users can write. It must belong to this user
/// alone: another user may have created it, with kernels in it.
std::filesystem::path private_temporary_folder() {
  std::error_code error;
  auto folder = std::filesystem::temp_directory_path(error);
  if (error) folder = "/tmp";
  folder /= fmt::format("tmajit-{}", ::geteuid());
  error = make_private_folder(folder);
  if (error || std::filesystem::is_symlink(folder, error) || error || !why_untrusted(folder).empty()) {
    throw Error(ErrorCode::io,
                fmt::format("no folder for compiled kernels: neither HOME nor XDG_CACHE_HOME is "
                            "set, and {} is not this user's alone; set TMAJIT_CACHE_DIR",
                            folder.string()));
  }
  return folder;
}

}  // namespace

std::filesystem::path DiskCache::default_directory() {
  if (auto chosen = environment("TMAJIT_CACHE_DIR"); !chosen.empty())
    return std::filesystem::absolute(chosen);
  // The XDG Base Directory Specification demands that relative paths are ignored.
  if (auto caches = environment("XDG_CACHE_HOME"); caches.is_absolute()) return caches / "tmajit";
  if (auto home = environment("HOME"); home.is_absolute()) return home / ".cache" / "tmajit";
  if (auto home = home_on_record(); home.is_absolute() && home != "/") return home / ".cache" / "tmajit";
  return private_temporary_folder();
}

TMAJIT_END
