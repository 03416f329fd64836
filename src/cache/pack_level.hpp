#pragma once

#include "cache/kernel_level.hpp"

#include <tmajit/pack.hpp>

#include <atomic>
#include <filesystem>

TMAJIT_BEGIN

/// A pack as a level of the cache.
class PackLevel final : public KernelLevel {
 public:
  explicit PackLevel(Pack pack) : pack_(std::move(pack)) {}
  /// The level of a pack's file. Null if the file cannot be read, is damaged, or could have been written by
  /// another user; the reason is logged.
  [[nodiscard]] static std::unique_ptr<const PackLevel> open(const std::filesystem::path& file);

  [[nodiscard]] CacheLevel kind() const noexcept override { return CacheLevel::pack; }
  [[nodiscard]] std::string name() const override { return "the pack " + pack_.file().string(); }
  [[nodiscard]] std::vector<CompilerIdentity> usable_compilers() const override {
    return {pack_.compilers().begin(), pack_.compilers().end()};
  }
  [[nodiscard]] std::vector<CompilerIdentity> all_compilers() const override { return usable_compilers(); }
  [[nodiscard]] bool has(const CacheKey& key) const override { return pack_.has(key); }
  [[nodiscard]] std::optional<Artifact> fetch(const CacheKey& key, bool whole) const override;

 private:
  Pack pack_;
  mutable std::atomic<bool> is_broken_ = false;  ///< was logged; the pack is not used any more
};

TMAJIT_END
