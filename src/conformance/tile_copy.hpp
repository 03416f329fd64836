#pragma once

#include "conformance/case.hpp"
#include "reference/engine_reduction.hpp"

#include <tmajit/tensor_map_spec.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace conformance {

/// The cache hints that kernels give the copy engine: none, the four priorities, half of the accesses with
/// each, and a range of addresses.
inline constexpr std::uint32_t hint_count = 10;

/// One load, store or reduction between a tensor and a tile in shared memory, by a kernel of one CTA.
struct TileCopy {
  enum class Kind : std::uint8_t { load, store, reduce };
  Kind kind = Kind::load;
  reference::EngineReduction operation = reference::EngineReduction::add;  ///< operation of a reduction
  tmajit::TensorMapSpec map;                                               ///< tiled or im2col
  std::array<std::int64_t, tmajit::max_map_rank> at{};                     ///< coordinates; outermost first
  std::array<std::int64_t, tmajit::max_map_rank - 2> offsets{};            ///< im2col loads; outermost first
  std::uint32_t begin = 0;  ///< offset of the tile from a multiple of 1024 bytes; a multiple of 128
  std::uint32_t hint = 0;   ///< below hint_count
  bool prefetch = false;    ///< whether the kernel prefetches the map and the tile before a load
  bool moved = false;       ///< Trial::moved
  std::vector<std::byte> elements = {};  ///< contents of the tensor; empty: random bits
  std::vector<std::byte> operands = {};  ///< contents of shared memory around the tile; empty: random bits
};

/// Describes a copy completely, so that it can be repeated by hand.
[[nodiscard]] std::string describe(const TileCopy& copy);
/// A trial of the copy, with random data where the copy has none, and the reference's results.
[[nodiscard]] Trial trial_of(const TileCopy& copy, reference::Random& random);
/// Bytes of a unit of the innermost dimension: an element, or with an interleaved layout a slice of channels.
[[nodiscard]] std::uint32_t inner_bytes(const tmajit::TensorMapSpec& map);
/// Bytes of the tensor's memory, with some after its end that must not change.
[[nodiscard]] std::uint64_t tensor_bytes(const tmajit::TensorMapSpec& map);
/// Bytes of the window: the shared memory that holds the tile of `copy`, and the bytes before and after it.
[[nodiscard]] std::uint64_t window_bytes(const TileCopy& copy);

}  // namespace conformance
