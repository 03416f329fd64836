#pragma once

#include "operations/drawing/benchmark_case.hpp"

#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

namespace bench {

/// Bytes that a case moves.
struct Traffic {
  std::uint64_t read = 0;     ///< each element once
  std::uint64_t written = 0;  ///< each element once
  /// Bytes of the 32-byte sectors that hold those elements, read and written: more than the elements' bytes
  /// if a slice has steps or its rows start inside a sector.
  std::uint64_t sector_bytes = 0;
  [[nodiscard]] std::uint64_t bytes() const { return read + written; }
};
Traffic traffic(const Case& bench_case);

/// Offset of each array in the buffer of its side (sources or destinations), and the bytes that the arrays
/// need.
struct BufferLayout {
  std::vector<std::uint64_t> offsets;
  std::uint64_t bytes = 0;
};
BufferLayout buffer_layout(const std::vector<Array>& arrays);
/// Bytes to allocate for the buffer of one side: enough for its arrays, and for the driver's copy, which
/// moves as many bytes as the case.
std::uint64_t buffer_bytes(const Case& bench_case, const std::vector<Array>& arrays);

/// The case with traffic and layout as JSON, for the Python programs.
nlohmann::ordered_json to_json(const Case& bench_case);
nlohmann::ordered_json to_json(const Tile& tile);

}  // namespace bench
