#include "ops/tuning_store.hpp"

#include "cache/layout.hpp"
#include "files/file_lock.hpp"
#include "files/trust.hpp"
#include "spec/log.hpp"

#include <tmajit/error.hpp>

#include <chrono>
#include <exception>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// A change takes milliseconds, and a process that ends releases the lock. So a process that holds it for
/// longer is suspended (SIGSTOP). After this time the file is changed without the lock. If two processes then
/// store a choice at once, one choice may be lost.
constexpr std::chrono::seconds lock_patience{10};

void require_trusted(const std::filesystem::path& folder) {
  if (const auto why = why_untrusted(folder); !why.empty()) {
    throw Error(ErrorCode::io, fmt::format("the folder {} is not used: {}", folder.string(), why));
  }
}

}  // namespace

TuningStore::TuningStore(const std::optional<std::filesystem::path>& cache_directory) {
  if (cache_directory) file_ = tuning_path(*cache_directory);
}

void TuningStore::load() noexcept try {
  // The file is read into a separate table. If the process forks during the read, the child inherits a valid
  // `table_`, not a half-written one. The child then calls load() again and overwrites it, because glibc
  // restarts a call_once that a fork interrupted (pthread_once).
  table_ = TuningTable::shipped();
  if (!file_) return;
  require_trusted(file_->parent_path());
  auto table = TuningTable::shipped();
  table.load(*file_);
  table_ = std::move(table);
} catch (const std::exception& error) {
  log(LogLevel::warn, "tuned choices are not read: {}", error.what());
}

void TuningStore::load_once() noexcept {
  std::call_once(load_once_, [this] { load(); });
  loaded_.store(true, std::memory_order_release);
}

bool TuningStore::remember(List<TunedChoice> choices) {
  for (const TunedChoice& choice : choices) table().add(choice);
  if (!file_) return true;
  const auto folder = file_->parent_path();
  try {
    require_trusted(folder);
    const FileLock lock(tuning_lock_path(folder), lock_patience);  // also creates the folder
    TuningTable stored;
    stored.load(*file_);
    for (const TunedChoice& choice : choices) stored.add(choice);
    stored.save(*file_);
    return true;
  } catch (const Error& error) {
    log(LogLevel::warn, "a tuned choice is not stored: {}", error.what());
    return false;
  }
}

TMAJIT_END
