#pragma once

#include "families/shared/views.hpp"

#include <tmajit/tensor_map_spec.hpp>

#include <cstdint>
#include <optional>

TMAJIT_BEGIN

/// What an `exchange` kernel is specialised for. Its last dimension is a run that lies in one piece in both
/// views, counted in units that a thread stores at a time.
///
/// Of a cluster's tile each CTA loads some indices of `across`, with all of `along`, which lies next to the
/// runs in the source; and stores some indices of `along`, with all of `across`, which lies next to them in
/// the destination.
struct ExchangeFacts {
  std::uint32_t unit_bytes = 16;
  std::uint32_t rank = 3;
  std::uint32_t across = 1;
  std::uint32_t along = 0;
  std::uint32_t cluster = 2;
  std::uint32_t stages = 2;
  Flag wide_offsets = 0;
  PerDimension box{};    ///< that a CTA stores
  PerDimension order{};  ///< dimensions by the source's strides, the largest first

  [[nodiscard]] std::uint32_t map_unit() const noexcept;   ///< bytes of an element of the source's tensor map
  [[nodiscard]] std::uint32_t run_bytes() const noexcept;  ///< of a run's part in a tile
  [[nodiscard]] std::uint32_t owned() const noexcept;      ///< indices of `across` that a CTA loads
  [[nodiscard]] std::uint32_t piece_bytes() const noexcept;    ///< that go from one of these to one CTA
  [[nodiscard]] std::uint32_t piece_pitch() const noexcept;    ///< from piece to piece where they arrive
  [[nodiscard]] std::uint32_t image_bytes() const noexcept;    ///< that a CTA loads
  [[nodiscard]] std::uint32_t arrived_bytes() const noexcept;  ///< that come from the others
  [[nodiscard]] std::uint32_t stage_bytes() const noexcept;    ///< of shared memory
  [[nodiscard]] std::uint32_t shared_bytes()
      const noexcept;  ///< of all stages, what aligning the first takes included
};

/// The problem in units of a run, which is its last dimension; nothing if it has no runs of 16 bytes or more,
/// or if source and destination have the same dimension next to them.
[[nodiscard]] std::optional<Problem> in_runs(const Problem& problem);

/// The kernel for a problem in runs whose CTAs load about so many bytes of a tile; nothing where there is
/// none.
[[nodiscard]] std::optional<ExchangeFacts> exchange_facts(const Problem& runs, std::uint32_t cluster,
                                                          std::uint32_t tile_bytes);

/// What a CTA loads; nothing if no tensor map can describe the source.
[[nodiscard]] std::optional<TensorMapSpec> exchange_map(const ExchangeFacts& facts, const Problem& runs);

TMAJIT_END
