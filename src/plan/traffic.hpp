#pragma once

#include "kernel/family.hpp"

#include <tmajit/prediction.hpp>

#include <array>
#include <cstdint>

TMAJIT_BEGIN

/// Elements of a box in each dimension of a nest: of a tile, or of several, the last of which may be a part.
using ElementBox = std::array<double, max_view_rank>;

/// The box of so many tiles that CTAs take one after the other, at least one.
[[nodiscard]] ElementBox box_of_tiles(const Footprint& footprint, const CanonicalNest& nest, double tiles);

/// How the memory is asked for a box.
struct BoxAccess {
  std::uint32_t store_bytes = 0;  ///< all pieces begin at multiples of so many, whatever the box
  bool row_by_row = false;        ///< as the copy engine loads: what two rows share of a sector is read twice
};

/// The pieces of an operand's memory that all boxes of a nest make. Where pieces begin anywhere, they meet
/// sectors as many bytes longer as their alignment leaves open.
[[nodiscard]] PredictedTraffic traffic_of(const ElementBox& box, const Problem& problem,
                                          const CanonicalNest& nest, std::uint32_t operand,
                                          BoxAccess access = {});

TMAJIT_END
