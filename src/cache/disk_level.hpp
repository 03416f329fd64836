#pragma once

#include "cache/kernel_level.hpp"

#include <filesystem>

TMAJIT_BEGIN

/// A folder of kernels that processes of one user share.
class DiskLevel final : public KernelLevel {
 public:
  explicit DiskLevel(std::filesystem::path directory) : disk_(std::move(directory)) {}

  [[nodiscard]] CacheLevel kind() const noexcept override { return CacheLevel::disk; }
  [[nodiscard]] std::string name() const override { return "the cache in " + disk_.directory().string(); }
  [[nodiscard]] std::vector<CompilerIdentity> usable_compilers() const override;
  [[nodiscard]] std::vector<CompilerIdentity> all_compilers() const override {
    return disk_.known_compilers();
  }
  [[nodiscard]] bool has(const CacheKey& key) const override;
  [[nodiscard]] std::optional<Artifact> fetch(const CacheKey& key, bool whole) const override;
  [[nodiscard]] bool is_writable() const noexcept override { return true; }
  bool keep(const CacheKey& key, const Artifact& artifact, const CompilerIdentity& compiler) const override;
  [[nodiscard]] std::unique_ptr<MakingLease> lease(const CacheKey& key,
                                                   std::chrono::milliseconds patience) const override;

 private:
  DiskCache disk_;
};

TMAJIT_END
