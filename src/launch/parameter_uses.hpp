#pragma once

#include "ptx/resolve.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

TMAJIT_BEGIN

/// How a kernel uses some bytes of one of its parameters.
struct ParameterUse {
  enum class Kind : std::uint8_t {
    number,
    address,  ///< address of global memory
    map,      ///< a tensor map
  };
  Kind kind = Kind::number;
  std::uint64_t offset = 0;                     ///< bytes, from the parameter's beginning
  ptx::ScalarType type = ptx::ScalarType::b64;  ///< type of a number
  std::uint32_t count = 1;                      ///< count of adjacent numbers
  std::uint32_t rank = 0;                       ///< rank of a map; 0: not known
  bool im2col = false;                          ///< whether a map is for im2col
  bool loaded = false;                          ///< whether the kernel loads it, or only declares it
  /// For an address: the type of the elements there, if loads and stores give more than a number of bits.
  std::optional<ptx::ScalarType> elements = {};

  [[nodiscard]] std::uint64_t bytes() const;
};

/// The uses of each parameter of an entry, sorted by offset; none overlap. Follows loaded registers through
/// the instructions that compute addresses: additions, moves, cvta. Called functions are not examined.
[[nodiscard]] std::vector<std::vector<ParameterUse>> parameter_uses(const ptx::FlatFunction& entry);

TMAJIT_END
