#include "runtime/tuning_store.hpp"

#include "cache/layout.hpp"
#include "files/files.hpp"
#include "spec/log.hpp"

#include <tmajit/error.hpp>

#include <exception>

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/file.h>
#include <unistd.h>

TMAJIT_BEGIN
namespace {

/// Keeps other processes, and other threads, from rewriting a file of `folder` at the same time. Where the
/// filesystem has no locks there is none, and of two choices stored at once one can be lost.
class FolderLock {
 public:
  explicit FolderLock(const std::filesystem::path& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (descriptor_ >= 0) static_cast<void>(::flock(descriptor_, LOCK_EX));
  }
  ~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace

TuningStore::TuningStore(const std::optional<std::filesystem::path>& cache_directory) {
  if (cache_directory) file_ = tuning_path(*cache_directory);
}

void TuningStore::load() noexcept try {
  table_ = TuningTable::shipped();
  if (file_) table_.load(*file_);
} catch (const std::exception& error) {
  log(LogLevel::warn, "tuned choices are not read: {}", error.what());
}

TuningTable& TuningStore::table() noexcept {
  std::call_once(loaded_, [this] { load(); });
  return table_;
}

bool TuningStore::remember(const TunedChoice& choice) {
  table().add(choice);
  if (!file_) return true;
  const auto folder = file_->parent_path();
  try {
    if (const auto error = make_private_folder(folder)) {
      throw Error(ErrorCode::io, fmt::format("cannot make {}: {}", folder.string(), error.message()));
    }
    const FolderLock lock(folder);
    TuningTable kept;
    kept.load(*file_);
    kept.add(choice);
    kept.save(*file_);
    return true;
  } catch (const Error& error) {
    log(LogLevel::warn, "a tuned choice is not stored: {}", error.what());
    return false;
  }
}

TMAJIT_END
