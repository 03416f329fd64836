#include "operations/drawing/draw_parts.hpp"

#include <algorithm>
#include <array>

namespace reference {

DrawnParts draw_parts(TestCaseDraw& draw) {
  DrawnParts drawn{.whole = draw.shape(), .parts = {}};
  if (drawn.whole.empty()) drawn.whole = {draw.extent(40)};
  drawn.axis = between(draw.kernel_property_random, 0, drawn.whole.size() - 1);
  drawn.parts.assign(between(draw.kernel_property_random, 1, 5), drawn.whole);
  std::uint64_t left = drawn.whole[drawn.axis];
  for (Shape& part : drawn.parts) {
    std::uint64_t taken = between(draw.launch_parameter_random, 0, left);
    if (left % draw.granule() == 0) taken = std::min(round_up(taken, draw.granule()), left);
    part[drawn.axis] = &part == &drawn.parts.back() ? left : taken;
    left -= part[drawn.axis];
  }
  return drawn;
}

std::vector<BenchmarkParts> benchmark_parts(const bench::CaseBuilder& list) {
  struct Row {
    const char* name;
    std::uint32_t axis;
    std::array<std::uint64_t, 3> extents;
  };
  constexpr std::array rows{Row{"4096+4096+8192 rows", 0, {4096, 4096, 8192}},
                            Row{"4096+4096+8192 columns", 1, {4096, 4096, 8192}},
                            Row{"4099+4093+8191 columns", 1, {4099, 4093, 8191}}};
  std::vector<BenchmarkParts> all;
  for (const Row& row : rows) {
    BenchmarkParts& parts = all.emplace_back(BenchmarkParts{row.name, row.axis, {}});
    for (const std::uint64_t n : row.extents) {
      parts.arrays.push_back(
          {tmajit::ElementType::f32, {list.scaled_in_matrix(16384), list.scaled_in_matrix(16384)}});
      parts.arrays.back().shape[row.axis] = list.scaled_in_matrix(n);
    }
  }
  return all;
}

}  // namespace reference
