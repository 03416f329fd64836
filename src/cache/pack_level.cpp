#include "cache/pack_level.hpp"

#include "spec/log.hpp"

#include <exception>
#include <utility>

TMAJIT_BEGIN

std::unique_ptr<const PackLevel> PackLevel::open(const std::filesystem::path& file) try {
  Pack pack(file);
  if (const std::string why = pack.why_refused(); !why.empty()) {
    log(LogLevel::warn, "the pack {} is not used: {}", file.string(), why);
    return nullptr;
  }
  return std::make_unique<const PackLevel>(std::move(pack));
} catch (const std::exception& failure) {
  log(LogLevel::warn, "{}", failure.what());
  return nullptr;
}

// One damaged byte shows that the file is not what was written, so no further kernel is taken from it.
std::optional<Artifact> PackLevel::fetch(const CacheKey& key, bool whole) const try {
  if (whole || is_broken_) return std::nullopt;
  return pack_.fetch(key);
} catch (const std::exception& failure) {
  if (!is_broken_.exchange(true)) log(LogLevel::warn, "{}", failure.what());
  return std::nullopt;
}

TMAJIT_END
