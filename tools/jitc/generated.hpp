#pragma once

#include <tmajit/element_type.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace jitc {

/// Fills `array` with pseudo-random elements of `type`: integers of every bit pattern, finite floats of an
/// absolute value below 2. The same seed gives the same bytes.
void generate_elements(std::span<std::byte> array, tmajit::ElementType type, std::uint64_t seed);

}  // namespace jitc
