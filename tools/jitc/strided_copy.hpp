#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace jitc {

/// Copies elements of `size` bytes (1, 2, 4 or 8) from one strided array in host memory to another of the
/// same shape, in C order; `swap` reverses the bytes of each. Strides count elements and may be of any sign;
/// a source stride of 0 repeats.
void copy_strided(std::uint32_t size, std::byte* to, std::span<const std::int64_t> to_strides,
                  const std::byte* from, std::span<const std::int64_t> from_strides,
                  std::span<const std::uint64_t> shape, bool swap = false);

}  // namespace jitc
