#pragma once

#include "operations/drawing/benchmark_case.hpp"
#include "operations/drawing/random_case.hpp"

namespace reference {

/// The shapes of a tensor and of one to five parts of it along an axis.
struct DrawnParts {
  std::size_t axis = 0;
  Shape whole;
  std::vector<Shape> parts;
};
[[nodiscard]] DrawnParts draw_parts(CaseDraw& draw);

/// Parts of a matrix of 16384 rows and columns, for benchmarks of concat and split.
struct MeasuredParts {
  const char* name;
  std::uint32_t axis;
  std::vector<bench::Array> arrays;
};

/// Parts with even and with odd extents.
[[nodiscard]] std::vector<MeasuredParts> measured_parts(const bench::CaseBuilder& list);

}  // namespace reference
