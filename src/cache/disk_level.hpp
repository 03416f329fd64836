#pragma once

#include "cache/kernel_level.hpp"

#include <cstdint>
#include <filesystem>
#include <utility>

TMAJIT_BEGIN

/// A folder of kernels that processes of one user share, or that this process only reads.
class DiskLevel final : public KernelLevel {
 public:
  DiskLevel(std::filesystem::path directory, std::uint64_t max_bytes,
            CacheAccess access = CacheAccess::read_write)
      : disk_(std::move(directory), max_bytes, access), access_(access) {}

  [[nodiscard]] CacheLevel kind() const noexcept override { return CacheLevel::disk; }
  [[nodiscard]] std::string name() const override { return "the cache in " + disk_.directory().string(); }
  [[nodiscard]] std::vector<CompilerIdentity> usable_compilers() const override;
  [[nodiscard]] std::vector<CompilerIdentity> all_compilers() const override {
    return disk_.known_compilers();
  }
  [[nodiscard]] bool has(const CacheKey& key) const override;
  [[nodiscard]] std::optional<Artifact> fetch(const CacheKey& key, bool whole) const override;
  [[nodiscard]] bool is_writable() const noexcept override { return access_ == CacheAccess::read_write; }
  bool keep(const CacheKey& key, const Artifact& artifact, const CompilerIdentity& compiler) const override;
  [[nodiscard]] std::unique_ptr<MakingLease> lease(const CacheKey& key,
                                                   std::chrono::milliseconds patience) const override;

 private:
  DiskCache disk_;
  CacheAccess access_;
};

TMAJIT_END
