#pragma once

#include <tmajit/operation.hpp>
#include <tmajit/tiles.hpp>

#include <span>

TMAJIT_BEGIN

/// The view of a destination for sources like these. Families that compute make elements of `type`, images
/// are bytes, and others keep the first source's type. Throws Error{invalid_argument} where no kernel can be
/// made sense of.
[[nodiscard]] TensorView destination_of(const Tiles& tiles, std::span<const TensorView> sources,
                                        ElementType type);

/// The operation of a request, on tensors as they are.
[[nodiscard]] Operation operation_of(const TileRequest& request);

TMAJIT_END
