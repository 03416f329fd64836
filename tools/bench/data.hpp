#pragma once

#include "bench.hpp"

#include <cstddef>
#include <vector>

namespace bench {

/// Fills `bytes` at `address` with random elements of `type`; floating-point ones are finite, |x| < 2.
/// The pattern repeats after 16 MiB.
void fill_random(Gpu& gpu, tmajit::DevicePtr address, std::uint64_t bytes, tmajit::ElementType type,
                 std::uint64_t seed);

/// Part of a tensor: `count` elements from `first`.
struct Window {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// All of a small tensor; the ends and some random parts of a large one.
std::vector<Window> sample_windows(std::uint64_t elements, std::uint64_t seed);

/// Copies out and waits.
std::vector<std::byte> read(Gpu& gpu, tmajit::DevicePtr address, std::uint64_t bytes);

}  // namespace bench
