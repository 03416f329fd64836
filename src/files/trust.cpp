#include "files/trust.hpp"

#include "files/file_system.hpp"

#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

TMAJIT_BEGIN
namespace {

constexpr ::mode_t writable_by_others = S_IWGRP | S_IWOTH;

}  // namespace

bool is_trusted_owner(unsigned owner_id) noexcept {
  return owner_id == ::geteuid() || owner_id == 0;
}

bool is_trusted_file(const struct stat& info) noexcept {
  return is_trusted_owner(info.st_uid) && (info.st_mode & writable_by_others) == 0;
}

std::string why_untrusted(const std::filesystem::path& folder) {
  struct stat info {};
  if (file_system().stat(folder, info) != 0 || !S_ISDIR(info.st_mode)) return {};
  if (!is_trusted_owner(info.st_uid)) {
    return fmt::format(
        "it belongs to the user {} and this process runs as {}; chown it, or name another folder",
        info.st_uid, ::geteuid());
  }
  // In a folder with the sticky bit, other users can add files but not replace existing ones. Readers
  // recognise an added file by its owner (is_trusted_file).
  if ((info.st_mode & writable_by_others) != 0 && (info.st_mode & S_ISVTX) == 0) {
    return fmt::format("others may write to it (its mode is {:04o}); chmod go-w it, or name another folder",
                       info.st_mode & 07777U);
  }
  return {};
}

TMAJIT_END
