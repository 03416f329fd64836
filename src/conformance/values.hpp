#pragma once

#include "reference/random.hpp"

#include <tmajit/element_type.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace conformance {

[[nodiscard]] std::vector<std::byte> random_bytes(reference::Random& random, std::size_t count);

/// The set that elements are drawn from.
enum class Values : std::uint8_t {
  bits,        ///< any bits
  numbers,     ///< integers at the ends of their range and anywhere; finite floats whose sums are normal
  rounded,     ///< floats whose exact sums need more digits than the type has; some sums are ties
  subnormals,  ///< subnormals, zeros and the smallest normal numbers
  zeros,       ///< zeros of both signs, and ones
  infinities,  ///< infinities, the largest numbers, whose sums overflow, and ones
  nans,        ///< NaNs of both signs, quiet and signaling, and ones
};
/// `count` elements of `type`. For an integer type, every set except `bits` is `numbers`.
[[nodiscard]] std::vector<std::byte> random_values(reference::Random& random, tmajit::ElementType type,
                                                   Values values, std::size_t count);

}  // namespace conformance
