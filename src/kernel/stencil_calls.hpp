#pragma once

#include <tmajit/operations/stencil.hpp>
#include <tmajit/tile_options.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// Where a neighbour lies, an offset a dimension; those beyond the call's are 0.
using StencilOffsets = std::array<std::int32_t, max_stencil_dims>;

/// Elements that a stencil's expression reads of its sources: "x0(-1, 0) + x0" reads two elements of one.
struct StencilCalls {
  std::uint32_t offsets = 0;  ///< number of offsets of every call; 0: no source is called
  std::array<std::vector<StencilOffsets>, max_inputs> taps = {};  ///< distinct, by source
};

/// An offset lies at most so far from 0: a thread keeps what lies between in registers.
inline constexpr std::int32_t max_stencil_offset = 64;

struct CallMistake {
  std::size_t offset;  ///< byte of the expression where it shows
  std::string need;    ///< the legal form, as a noun
};

/// Reads the calls of x0 … (x of one source) from an expression. Offsets are whole numbers, written out: a
/// kernel's halo is as wide as they say.
[[nodiscard]] std::optional<CallMistake> read_calls(std::string_view expression, std::uint32_t sources,
                                                    StencilCalls& calls);

/// The dimensions of views of `rank` that `offsets` offsets of a call are along; none where stencil.dims are
/// not as many, different ones.
[[nodiscard]] std::optional<std::array<std::uint32_t, max_stencil_dims>> stencil_dims(const Stencil& stencil,
                                                                                      std::uint32_t rank,
                                                                                      std::uint32_t offsets);

TMAJIT_END
