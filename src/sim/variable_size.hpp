#pragma once

/// Sizes and alignments of PTX variables.
#include "ptx/ast.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <bit>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {

/// More than any memory has.
inline constexpr std::uint64_t most_variable_bytes = 1ULL << 40;

/// 0 for `[]`. Throws Error{unsupported} for what no memory holds.
[[nodiscard]] inline std::uint64_t bytes_of(const ptx::Variable& variable) {
  std::uint64_t bytes = std::max(ptx::bits_of(variable.type) / 8, 1U) * std::uint64_t{variable.vector_width};
  for (const auto& extent : variable.extents) {
    const std::uint64_t n = extent.value_or(0);
    if (bytes != 0 && n > most_variable_bytes / bytes) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("PTX line {}: {} has more than {} bytes", variable.location.line, variable.name,
                              most_variable_bytes));
    }
    bytes *= n;
  }
  return bytes;
}

/// At least 1. Throws Error{unsupported} unless it is a power of two of at most 64 KiB.
[[nodiscard]] inline std::uint64_t alignment_of(const ptx::Variable& variable) {
  const std::uint64_t natural =
      std::max(ptx::bits_of(variable.type) / 8, 1U) * std::uint64_t{variable.vector_width};
  const std::uint64_t alignment = variable.alignment.value_or(natural);
  if (!std::has_single_bit(alignment) || alignment > 1U << 16) {
    throw Error(ErrorCode::unsupported,
                fmt::format("PTX line {}: {} is aligned to {} bytes, a power of two up to 65536 is legal",
                            variable.location.line, variable.name, alignment));
  }
  return alignment;
}

}  // namespace sim
TMAJIT_END
