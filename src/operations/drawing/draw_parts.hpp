#pragma once

#include "operations/drawing/benchmark_case.hpp"
#include "operations/drawing/random_case.hpp"

namespace reference {

/// For tests of concat and split: the shapes of a tensor and of its one to five parts along an axis.
struct DrawnParts {
  std::size_t axis = 0;
  Shape whole;
  std::vector<Shape> parts;
};
[[nodiscard]] DrawnParts draw_parts(TestCaseDraw& draw);

/// For benchmarks of concat and split: parts of a matrix of 16384 rows and columns.
struct BenchmarkParts {
  const char* name;
  std::uint32_t axis;
  std::vector<bench::Array> arrays;
};

/// Parts with even and with odd extents.
[[nodiscard]] std::vector<BenchmarkParts> benchmark_parts(const bench::CaseBuilder& list);

}  // namespace reference
