#include "plan/block_function.hpp"

#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// One step of taking a number apart: `count` values of dimension `d`, `scale` elements apart.
struct Digit {
  std::uint32_t d;
  std::uint32_t count;
  std::uint32_t scale;
};

std::vector<Digit> block_digits(const MoveKernel& kernel, std::uint32_t together) {
  const std::uint32_t vector = kernel.chunk;
  const std::uint32_t row = kernel.rank - 1;
  const std::uint32_t chunks = kernel.box[kernel.column] / vector;
  while (chunks % together != 0) together /= 2;
  std::vector<Digit> digits{{kernel.column, together, vector},
                            {row, kernel.box[row] / vector, vector},
                            {kernel.column, chunks / together, vector * together}};
  for (std::uint32_t d = row; d-- > 0;) {
    if (d != kernel.column) digits.push_back({d, kernel.box[d], 1});
  }
  std::erase_if(digits, [](const Digit& digit) { return digit.count == 1; });
  return digits;
}

}  // namespace

std::string block_function(const MoveKernel& kernel, std::uint32_t together) {
  const std::vector<Digit> digits = block_digits(kernel, together);
  std::vector<std::string> sums(kernel.rank);
  std::string steps;
  std::uint32_t below = 1;
  std::uint32_t blocks = 1;
  for (const Digit& digit : digits) blocks *= digit.count;
  for (const Digit& digit : digits) {
    std::string value = below == 1 ? "n" : fmt::format("n / {}", below);
    if (below * digit.count != blocks) value += fmt::format(" % {}", digit.count);
    if (digit.scale > 1) value += fmt::format(" * {}", digit.scale);
    std::string& sum = sums[digit.d];
    sum += sum.empty() ? value : fmt::format(" + {}", value);
    below *= digit.count;
  }
  std::string out = fmt::format("constexpr u32 blocks = {};  // of a tile\n", blocks);
  out += "// Block n of the tile.\n";
  out += "__device__ __forceinline__ void block_index(u32 n, u32 (&index)[rank]) {\n";
  for (std::uint32_t d = 0; d < kernel.rank; ++d) {
    out += fmt::format("  index[{}] = {};\n", d, sums[d].empty() ? "0" : sums[d]);
  }
  return out + "}\n";
}

TMAJIT_END
