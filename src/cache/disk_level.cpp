#include "cache/disk_level.hpp"

#include "cache/folder.hpp"
#include "cache/layout.hpp"
#include "compile/options.hpp"
#include "files/file_lock.hpp"

#include <utility>

TMAJIT_BEGIN
namespace {

class FileLease final : public MakingLease {
 public:
  FileLease(std::filesystem::path path, std::chrono::milliseconds patience)
      : lock_(std::move(path), patience) {}
  [[nodiscard]] bool timed_out() const noexcept override { return lock_.timed_out(); }

 private:
  FileLock lock_;
};

}  // namespace

std::vector<CompilerIdentity> DiskLevel::usable_compilers() const {
  std::vector<CompilerIdentity> compilers = disk_.known_compilers();
  std::erase_if(compilers, [](const CompilerIdentity& compiler) { return !is_installed(compiler); });
  return compilers;
}

bool DiskLevel::has(const CacheKey& key) const {
  return state_of(entry_path(disk_.directory(), key)).has_value();
}

std::optional<Artifact> DiskLevel::fetch(const CacheKey& key, bool /*whole*/) const {
  return disk_.fetch(key);
}

bool DiskLevel::keep(const CacheKey& key, const Artifact& artifact, const CompilerIdentity& compiler) const {
  if (!disk_.store(key, artifact)) return false;
  disk_.remember(compiler);
  return true;
}

std::unique_ptr<MakingLease> DiskLevel::lease(const CacheKey& key, std::chrono::milliseconds patience) const {
  if (!is_writable() || !disk_.why_refused().empty()) return nullptr;
  auto lease = std::make_unique<FileLease>(making_lock_path(disk_.directory(), key), patience);
  // The caller looks for the kernel again, which another machine may have stored since the first look.
  file_system().refresh(entry_path(disk_.directory(), key).parent_path());
  return lease;
}

TMAJIT_END
