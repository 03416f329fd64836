#pragma once

#include <tmajit/combine.hpp>
#include <tmajit/error.hpp>
#include <tmajit/kernel_plan.hpp>
#include <tmajit/tensor.hpp>
#include <tmajit/tile_options.hpp>

#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// A request for a kernel whose family and tile the caller chooses. No dimension of the tensors is merged or
/// moved.
struct TileRequest {
  std::string_view family = "copy";  ///< one of families() with an operation
  Tensor destination = {};
  std::vector<Tensor> sources = {};    ///< tensors, then numbers that the expression reads as p0, p1 …
  std::string_view expression = {};    ///< expression of families that compute
  CombineOp combine = CombineOp::add;  ///< operation of families that combine
  TileOptions tiles = {};
  Chip chip = {};  ///< chip whose SMs a persistent grid fills
};

/// The kernel. Throws SpecError with every rule that the request breaks, and Error{invalid_argument} for a
/// request without a meaning: an unknown family, ranks that differ, no input or too many, lists of the wrong
/// length.
[[nodiscard]] TMAJIT_API KernelPlan plan_tiles(const TileRequest& request);

/// Every rule of the driver, the PTX ISA or the hardware that the request breaks; empty if it is legal. With
/// more than five dimensions, the rules of boxes and tensor maps apply to the innermost five, as in a loop of
/// launches over the outer dimensions. An address of 0 stands for any address. Throws Error{invalid_argument}
/// as plan_tiles() does.
[[nodiscard]] TMAJIT_API std::vector<Violation> validate(const TileRequest& request);

/// The destination that follows from the request's sources: their shape, divided by the element strides and
/// rounded up, dense; or u8 [tiles, bytes of a tile] for families that write images. Families that compute
/// use the type of the request's destination; other families use the source's.
[[nodiscard]] TMAJIT_API TensorView destination_view(const TileRequest& request);

TMAJIT_END
