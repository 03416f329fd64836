#include "plan/gather_plan.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

using Numbers = std::array<std::uint32_t, max_view_rank>;

std::string numbers_function(std::string_view type, std::string_view name, const auto& values,
                             std::uint32_t count) {
  return fmt::format("__device__ constexpr {}<{}> {}() {{ return {{{{{}}}}}; }}", type, count, name,
                     fmt::join(values.begin(), values.begin() + count, ", "));
}

/// Straight lines that take `n` apart into indices of the dimensions of `order`, the last varying fastest,
/// and hand each to `use(d, value)`, which gives a statement. Dimensions of one index are left out.
std::string take_apart(const auto& order, const Numbers& counts, const auto& use) {
  std::string out;
  std::uint32_t left = 0;
  for (const std::uint32_t d : order) left += counts[d] > 1 ? 1 : 0;
  for (std::size_t k = order.size(); k-- > 0;) {
    const std::uint32_t d = order[k];
    if (counts[d] <= 1) continue;
    const bool last = --left == 0;
    out += use(d, last ? std::string("n") : fmt::format("n % {}", counts[d]));
    if (!last) out += fmt::format("  n /= {};\n", counts[d]);
  }
  return out;
}

std::string index_function(std::string_view name, const auto& order, const Numbers& counts) {
  std::string out = fmt::format("__device__ __forceinline__ void {}(u32 n, u32 (&index)[rank]) {{\n", name);
  for (const std::uint32_t d : order) {
    if (counts[d] <= 1) out += fmt::format("  index[{}] = 0;\n", d);
  }
  out += take_apart(order, counts, [](std::uint32_t d, const std::string& value) {
    return fmt::format("  index[{}] = {};\n", d, value);
  });
  return out + "}\n";
}

}  // namespace

std::string gather_facts(const MoveKernel& kernel) {
  const GatherLayout layout(kernel);
  const SourcePlan& plan = kernel.source[0];
  const std::uint32_t rank = kernel.rank;
  const std::vector<std::uint32_t> by_source(plan.order.begin(), plan.order.begin() + rank);
  std::vector<std::uint32_t> in_order;
  for (std::uint32_t d = 0; d < rank; ++d) in_order.push_back(d);

  Numbers of_run{};
  Numbers of_runs{};
  for (std::uint32_t d = 0; d < rank; ++d) (d < kernel.run_dimension ? of_runs : of_run)[d] = kernel.box[d];
  std::array<std::int32_t, max_view_rank> steps{};
  Numbers reach{};
  std::int64_t below = 0;
  for (std::uint32_t k = 0; k < rank; ++k) {
    const std::uint32_t d = plan.order[k];
    steps[d] = static_cast<std::int32_t>(plan.image_step[d]);
    if (k < rank - plan.run) continue;
    reach[d] = static_cast<std::uint32_t>(std::abs(steps[d]));
    if (steps[d] < 0) below += std::int64_t{reach[d]} * (kernel.box[d] - 1);
  }

  std::string out;
  out += "// Runs of the destination's memory, and the vectors of 16 bytes that they meet.\n";
  out += fmt::format("constexpr u32 run_dimension = {};  // the outermost of a run\n", kernel.run_dimension);
  out += fmt::format("constexpr u32 run_elements = {};\n", layout.run_elements);
  out += fmt::format("constexpr u32 inner = {};  // elements from index to index of that dimension\n",
                     layout.run_elements / kernel.box[kernel.run_dimension]);
  out += fmt::format("constexpr u32 runs = {};\n", layout.runs);
  out += index_function("run_index", by_source, of_runs);
  out += fmt::format("constexpr bool aligned = {};  // runs begin at multiples of 16 bytes\n",
                     kernel.alignment == 16);
  out += fmt::format("constexpr bool alike = {};    // or equally far from them\n", kernel.alike);
  const std::uint32_t along = kernel.run_dimension;
  std::int64_t part_step = std::int64_t{steps[along]} * kernel.part;
  if (along == kernel.skewed) part_step += std::int64_t{kernel.part / plan.skew} * 16;
  out += fmt::format("constexpr u32 parts = {};  // of a run, alike but for where they lie\n", layout.parts);
  out += fmt::format("constexpr i32 part_step = {};  // bytes of the image from part to part\n", part_step);
  out += fmt::format("constexpr u32 slots = {};  // of a part\n", layout.slots);
  out += fmt::format("constexpr u32 slots_along = {};  // of a warp\n", layout.slots_along);
  out += fmt::format("constexpr u32 warps_along = {};\n", layout.warps_along);
  out += "// The table of places.\n";
  out += fmt::format("constexpr u32 places = {};\n", layout.places);
  out += fmt::format("constexpr u32 place_pitch = {};\n", layout.place_pitch);
  out += fmt::format("constexpr u32 below = {};  // bytes of a line before its element of index 0\n", below);
  out += "// Where element n of a run lies, from where the run begins.\n";
  out += "__device__ __forceinline__ i32 place(u32 n) {\n";
  out += fmt::format("  i32 at = {};\n", below);
  out += take_apart(in_order, of_run, [&](std::uint32_t d, const std::string& value) {
    std::string line = fmt::format("  at += static_cast<i32>({}) * {}", value, steps[d]);
    if (d == kernel.skewed) line += fmt::format(" + {} / {} * 16", value, plan.skew);
    return line + ";\n";
  });
  out += "  return at;\n}\n";
  out += "// Lines of the source's memory.\n";
  out += fmt::format("constexpr bool aligned_lines = {};  // they begin at multiples of 16 bytes\n",
                     plan.alignment == 16);
  out += fmt::format("constexpr u32 line_bytes = {};\n", layout.line_bytes);
  out += fmt::format("constexpr u32 line_units = {};  // of 16 bytes that one meets\n",
                     ceil_div(layout.line_bytes + 16 - plan.alignment, 16));
  out += fmt::format("constexpr u32 line_count = {};\n", layout.line_count);
  out += index_function("line_index", by_source, plan.lines);
  out += numbers_function("Extent", "line_reach", reach, rank) + "  // bytes from index to index of a line\n";
  out += fmt::format("struct Steps {{\n  i32 at[{}];\n}};\n", rank);
  out += fmt::format("__device__ constexpr Steps image_step() {{ return {{{{{}}}}}; }}  // bytes\n",
                     fmt::join(steps.begin(), steps.begin() + rank, ", "));
  out += fmt::format("constexpr u32 skewed = {};  // a dimension with 16 bytes more ...\n", kernel.skewed);
  out += fmt::format("constexpr u32 skew_every = {};\n", std::max(plan.skew, 1U));
  out += fmt::format("constexpr u32 image_bytes = {};\n", layout.image_bytes);
  return out;
}

TMAJIT_END
