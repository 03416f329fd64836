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

/// A neighbour's offset in each dimension of the stencil; entries beyond the call's arguments are 0.
using StencilOffsets = std::array<std::int32_t, max_stencil_dims>;

/// The neighbours that a stencil's expression reads: "x0(-1, 0) + x0" reads two elements of source 0.
struct StencilCalls {
  std::uint32_t offsets = 0;  ///< number of offsets of every call; 0: no source is called
  std::array<std::vector<StencilOffsets>, max_inputs> taps = {};  ///< distinct neighbours of each source
};

/// Largest absolute offset: a thread holds all elements from the smallest to the largest offset in registers.
inline constexpr std::int32_t max_stencil_offset = 64;

/// Whether a character can be part of a name in an expression.
[[nodiscard]] bool is_word(char c) noexcept;

struct CallMistake {
  std::size_t offset;  ///< position of the mistake in the expression, in bytes
  std::string need;    ///< the legal form, as a noun phrase
};

/// Reads the calls of x0 … (x if there is one source) from an expression. Offsets must be integer literals,
/// because they determine the width of the kernel's halo.
[[nodiscard]] std::optional<CallMistake> read_calls(std::string_view expression, std::uint32_t sources,
                                                    StencilCalls& calls);

/// The dimension of each of a call's `offsets` offsets, for views of `rank`. Returns nothing if stencil.dims
/// is neither empty nor a list of `offsets` different dimensions.
[[nodiscard]] std::optional<std::array<std::uint32_t, max_stencil_dims>> stencil_dims(const Stencil& stencil,
                                                                                      std::uint32_t rank,
                                                                                      std::uint32_t offsets);

TMAJIT_END
