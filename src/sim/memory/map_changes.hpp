#pragma once

/// Tensor maps that a kernel changes in global memory. Tracks which changes fences have made visible to the
/// tensormap proxy, through which copies read the maps (PTX ISA 9.7.13.4, "fence.proxy.tensormap", and
/// 9.7.13.16).
#include <tmajit/tensor_map_spec.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

TMAJIT_BEGIN
namespace sim {

/// Size and alignment of a tensor map in bytes.
inline constexpr std::uint32_t map_bytes = 128;
inline constexpr std::uint32_t map_alignment = 64;

/// The changed maps of a launch. Thread-safe: CTAs on several host threads change maps.
class MapChanges {
 public:
  enum class Missing : std::uint8_t { nothing, release, acquire };

  /// tensormap.replace in global memory.
  void change(std::uint64_t address, std::uint64_t cta);
  /// tensormap.cp_fenceproxy: the map is changed and released; `narrow`: at CTA scope.
  void publish(std::uint64_t address, std::uint64_t cta, bool cta_scope);
  /// fence.proxy.tensormap::generic.release: releases all maps that the CTA has changed. The order among its
  /// threads is checked elsewhere.
  void release(std::uint64_t cta, bool cta_scope);
  /// fence.proxy.tensormap::generic.acquire: acquires the map for all threads of the CTA.
  void acquire(std::uint64_t address, std::uint64_t cta);
  /// Which fence is missing before a copy of that CTA may use the map at `address`, which the kernel has
  /// changed. A map that threads have copied there with plain stores counts as released by any release.
  [[nodiscard]] Missing missing(std::uint64_t address, std::uint64_t cta) const;

 private:
  struct Change {
    std::uint64_t cta = 0;
    std::uint64_t changed = 0;
    std::uint64_t released = 0;
    bool cta_scope = false;
  };
  mutable std::mutex mutex_;
  std::uint64_t time_ = 0;
  std::uint64_t last_release_ = 0;
  std::map<std::uint64_t, Change> changes_;                                    ///< by address
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> acquired_;  ///< by address and CTA
};

/// The dimension of a spec's arrays that belongs to ordinal `ord`, counted from the innermost. In a map that
/// is being changed, the entries beyond its rank hold the values set for its further ordinals.
[[nodiscard]] constexpr std::size_t index_of_ordinal(std::uint32_t rank, std::uint32_t ord) noexcept {
  return ord < rank ? rank - 1 - ord : ord;
}

/// The spec with another rank; each ordinal keeps its values.
[[nodiscard]] TensorMapSpec with_rank(const TensorMapSpec& spec, std::uint8_t rank);
/// The spec as copies use it: entries beyond its rank are reset.
[[nodiscard]] TensorMapSpec as_used(TensorMapSpec spec);

}  // namespace sim
TMAJIT_END
