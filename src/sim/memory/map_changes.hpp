#pragma once

/// Tensor maps that a kernel changes in global memory. Copies read maps through the tensormap proxy; a change
/// is visible to them only after fences, which this class tracks (PTX ISA 9.7.13.4, "fence.proxy.tensormap",
/// and 9.7.13.16).
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
  /// The fence that is missing.
  enum class Missing : std::uint8_t { nothing, release, acquire };

  /// Records a tensormap.replace in global memory.
  void change(std::uint64_t address, std::uint64_t cta);
  /// Records a tensormap.cp_fenceproxy, which changes the map and releases it, at CTA scope or wider.
  void publish(std::uint64_t address, std::uint64_t cta, bool cta_scope);
  /// Records a fence.proxy.tensormap::generic.release, which releases all maps that any thread of the CTA has
  /// changed. The race detector checks the order among the threads.
  void release(std::uint64_t cta, bool cta_scope);
  /// Records a fence.proxy.tensormap::generic.acquire, which acquires the map for all threads of the CTA.
  void acquire(std::uint64_t address, std::uint64_t cta);
  /// Returns the fence that is missing before a copy by that CTA may use the changed map at `address`. A map
  /// that threads have copied to `address` with plain stores counts as released by any release.
  [[nodiscard]] Missing missing(std::uint64_t address, std::uint64_t cta) const;

 private:
  struct Change {
    std::uint64_t cta = 0;
    std::uint64_t changed = 0;   ///< time of the last change
    std::uint64_t released = 0;  ///< time of its release; 0: none
    bool cta_scope = false;      ///< scope of the release
  };
  mutable std::mutex mutex_;
  std::uint64_t time_ = 0;  ///< counts changes and fences
  std::uint64_t last_release_ = 0;
  std::map<std::uint64_t, Change> changes_;                                    ///< by address
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> acquired_;  ///< time, by address and CTA
};

/// The index in a spec's arrays of dimension `ord`, counted from the innermost. In a map that is being
/// changed, the entries from index `rank` on hold the values that were set for ordinals of at least `rank`.
[[nodiscard]] constexpr std::size_t index_of_ordinal(std::uint32_t rank, std::uint32_t ord) noexcept {
  return ord < rank ? rank - 1 - ord : ord;
}

/// The spec with another rank. Each dimension, counted from the innermost, keeps its values.
[[nodiscard]] TensorMapSpec with_rank(const TensorMapSpec& spec, std::uint8_t rank);
/// The spec as copies use it: entries beyond its rank are cleared, and the innermost stride is filled in.
[[nodiscard]] TensorMapSpec as_used(TensorMapSpec spec);

}  // namespace sim
TMAJIT_END
