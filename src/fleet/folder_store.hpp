#pragma once

#include "fleet/store.hpp"

#include <tmajit/fleet.hpp>

#include <filesystem>

TMAJIT_BEGIN

/// A fleet's store in a folder that machines share, in the layout of a cache folder (cache/layout.hpp).
/// Leases are files, because locks of network filesystems do not reach every machine.
///
/// Without a secret, the folder is trusted as a cache folder is (files/trust.hpp). With one, every user may
/// write to it, because entries are signed.
class FolderStore final : public FleetStore {
 public:
  FolderStore(std::filesystem::path folder, const FleetOptions& options, std::size_t max_bytes);

  [[nodiscard]] std::string name() const override { return "the store in " + folder_.string(); }
  [[nodiscard]] std::optional<std::string> get(const CacheKey& key) const override;
  [[nodiscard]] bool has(const CacheKey& key) const override;
  void put(const CacheKey& key, std::string_view bytes) const override;
  [[nodiscard]] std::vector<std::string> compilers() const override;
  void add_compiler(std::string_view record) const override;
  [[nodiscard]] Turn try_lease(const CacheKey& key, std::string_view token) const override;
  void release(const CacheKey& key, std::string_view token) const override;

 private:
  void require_trust() const;
  [[nodiscard]] std::optional<std::string> read(const std::filesystem::path& path, std::size_t limit) const;
  void publish(const std::filesystem::path& path, std::string_view bytes) const;
  void make_folder(const std::filesystem::path& folder) const;
  [[nodiscard]] bool make_lease(const std::filesystem::path& lease, std::string_view token) const;

  std::filesystem::path folder_;
  std::chrono::milliseconds lease_;
  std::size_t max_bytes_;
  bool anyone_may_write_;  ///< entries are signed
};

TMAJIT_END
