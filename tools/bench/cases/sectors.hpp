#pragma once

#include "case.hpp"

#include <cstdint>

namespace bench {

/// Bytes of the 32-byte sectors in which the elements lie that a slice reads; its steps are positive. Its
/// source starts with a sector.
std::uint64_t sector_bytes_of(const Case& slice);

}  // namespace bench
