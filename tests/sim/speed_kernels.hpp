#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tests {

/// A kernel k(const unsigned* a, const unsigned* b, unsigned* c, unsigned n) of speed_source() whose speed on
/// the simulated device is measured. Each of a, b and c has `speed_words` words.
struct SpeedKernel {
  std::string_view name;   ///< name in the table of docs/sim.md
  std::string_view entry;  ///< entry in speed_source()
  std::uint32_t ctas = 1;
  std::uint32_t threads = 256;
  std::uint32_t cluster = 1;
  std::uint32_t n = 0;
  std::uint32_t shared_bytes = 0;  ///< dynamic shared memory
};

inline constexpr std::size_t speed_words = 1 << 20;

/// CUDA C++ source of all these kernels.
std::string_view speed_source();
const std::vector<SpeedKernel>& speed_kernels();

}  // namespace tests
