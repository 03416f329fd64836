#pragma once

#include <tmajit/combine.hpp>
#include <tmajit/list.hpp>
#include <tmajit/tensor.hpp>
#include <tmajit/tile_options.hpp>

#include <string>
#include <string_view>

TMAJIT_BEGIN

class Runtime;
struct Operation;

/// A kernel whose family and tile the caller chooses. No dimension of the tensors is merged or moved.
struct Tiles {
  static constexpr std::string_view operation = "tiles";
  std::string family = "copy";  ///< copy, map, bulk, snapshot or reduce_into
  /// Expression of families that compute. It also reads t[d], tile_index, and numbers p0 … that follow the
  /// sources (`number()`).
  std::string expression = {};
  CombineOp combine = CombineOp::add;  ///< operation of families that combine
  TileOptions options = {};
};

namespace operation {
/// The destination has the sources' shape, divided by the element strides and rounded up. Throws
/// Error{invalid_argument} for an unknown family; plan() throws SpecError with every rule of the driver, the
/// PTX ISA or the hardware that the tile breaks.
[[nodiscard]] TMAJIT_API Operation tiles(const Tensor& destination, const Tiles& tiles, List<Tensor> sources);
}  // namespace operation

/// One call: plan(runtime, operation::tiles(…)) and a launch (docs/move.md).
TMAJIT_API void tiles(const Runtime& runtime, const Tensor& destination, const Tiles& tiles,
                      List<Tensor> sources, Stream stream = nullptr);

TMAJIT_END
