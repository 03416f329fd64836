#pragma once

#include <tmajit/operation.hpp>
#include <tmajit/tiles.hpp>

#include <span>

TMAJIT_BEGIN

/// The view of a destination for `sources`. Its element type is `type` for families that compute, u8 for
/// images of shared memory, and the first source's type for other families. Throws Error{invalid_argument} as
/// plan_tiles() does.
[[nodiscard]] TensorView destination_of(const Tiles& tiles, std::span<const TensorView> sources,
                                        ElementType type);

/// The operation of a request. Its tensors keep their dimensions: none is merged or reversed.
[[nodiscard]] Operation operation_of(const TileRequest& request);

TMAJIT_END
