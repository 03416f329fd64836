#pragma once

#include "operations/shared/benchmark_case.hpp"

#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

namespace bench {

/// Bytes that a case moves.
struct Traffic {
  std::uint64_t read = 0;     ///< each element once
  std::uint64_t written = 0;  ///< each element once
  /// Bytes of the 32-byte sectors that those elements lie in, read and written: more where a slice has steps
  /// or its rows start within a sector.
  std::uint64_t sectors = 0;
  [[nodiscard]] std::uint64_t bytes() const { return read + written; }
};
Traffic traffic(const Case& c);

/// Where each array starts in the buffer of its side, and how long the buffer must be.
struct Places {
  std::vector<std::uint64_t> offsets;
  std::uint64_t bytes = 0;
};
Places places(const std::vector<Array>& arrays);
/// Bytes for the buffer of either side: it holds its arrays and half of what the driver's copy beside it
/// moves.
std::uint64_t buffer_bytes(const Case& c, const std::vector<Array>& arrays);

/// All of the above, for the Python side; docs/movement.md names the fields.
nlohmann::ordered_json to_json(const Case& c);
nlohmann::ordered_json to_json(const Tile& tile);

}  // namespace bench
