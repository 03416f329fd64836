#pragma once

#include "case.hpp"

#include <cstdint>

namespace bench {

/// Bytes of the 32-byte sectors that hold the elements of a slice with positive steps. Its source starts at
/// the beginning of a sector.
std::uint64_t sector_bytes_of(const Case& slice);

}  // namespace bench
