#include "plan/block_function.hpp"
#include "plan/engine_tiles.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

/// Lines lie in the order of the map: along the row, then along the dimensions before it.
std::string line_function(const MoveKernel& kernel, const MapOrder& order) {
  std::string sum;
  std::uint32_t step = 1;
  for (std::uint32_t k = order.count - 1; k-- > 0;) {
    const std::uint32_t d = order.dimension[k];
    if (kernel.box[d] > 1) {
      sum += sum.empty() ? "" : " + ";
      sum += step == 1 ? fmt::format("index[{}]", d) : fmt::format("index[{}] * {}", d, step);
    }
    step *= kernel.box[d];
  }
  return fmt::format(
      "// Its first line in a panel.\n"
      "__device__ __forceinline__ u32 block_line(const u32 (&index)[rank]) {{\n  return {};\n}}\n",
      sum.empty() ? "0" : sum);
}

/// Coordinates of a tile's box, innermost dimension first, in elements of the map.
std::string box_function(std::string_view operand, const MoveKernel& kernel, const MapOrder& order,
                         std::uint32_t inner_box) {
  std::vector<std::string> coordinates;
  for (std::uint32_t k = order.count; k-- > 0;) {
    const std::uint32_t d = order.dimension[k];
    const std::uint32_t box = k + 1 == order.count ? inner_box : kernel.box[d];
    coordinates.push_back(fmt::format("static_cast<i32>(tile.at[{}]{})", d,
                                      box == 1 ? std::string() : fmt::format(" * {}", box)));
  }
  if (order.shared) {
    std::string sum;
    for (std::uint32_t d = 0; d < kernel.rank; ++d) {
      if (order.has(d)) continue;
      sum += fmt::format("{}static_cast<i32>(tile.at[{}]) * grid.{}_fold[{}]",
                         sum.empty() ? "" : " +\n           ", d, operand, d);
    }
    coordinates.push_back(sum);
  }
  return fmt::format(
      "__device__ __forceinline__ Coordinates<map_rank> {}_box([[maybe_unused]] const EngineGrid<rank>& "
      "grid,\n"
      "                                                           const TileIndex<rank>& tile) {{\n"
      "  return {{{{{}}}}};\n}}\n",
      operand, fmt::join(coordinates, ",\n           "));
}

}  // namespace

std::string engine_facts(const MoveKernel& kernel) {
  const bool transposes = kernel.method == MoveMethod::engine_transpose;
  const MapOrder order = map_order(kernel);
  const EngineLayout layout = engine_layout(kernel);
  const std::uint32_t element = map_element_bytes(kernel);
  const std::uint32_t inner = order.dimension[order.count - 1];
  const std::uint32_t inner_box = kernel.box[inner] * kernel.element_bytes / element;
  std::string out = fmt::format("constexpr u32 map_rank = {};  // of the tensor maps\n", order.rank());
  out += fmt::format("constexpr u32 stages = {};    // tiles that a CTA has in flight\n", kernel.stages);
  if (transposes) {
    out += fmt::format("constexpr u32 panels = {};    // of a tile, 128 bytes of each line\n", layout.parts);
    out += fmt::format("constexpr u32 panel_columns = {};\n", 128 / element);
    out += fmt::format("constexpr u32 panel_bytes = {};\n", layout.part_bytes);
  } else {
    out +=
        fmt::format("constexpr u32 parts = {};     // boxes that lie side by side in a tile\n", layout.parts);
    out += fmt::format("constexpr u32 part = {};      // elements of 8 bytes\n", inner_box / layout.parts);
    out += fmt::format("constexpr u32 part_bytes = {};\n", layout.part_bytes);
  }
  out += fmt::format("constexpr u32 load_bytes = {};  // of a tile\n", layout.load_bytes);
  out += "// Where the boxes of a tile begin, innermost dimension first.\n";
  out += box_function("source", kernel, order, inner_box);
  if (!transposes) return out + box_function("destination", kernel, order, inner_box);
  return out + block_function(kernel, std::min(kernel.chunk, 8U)) + line_function(kernel, order);
}

std::string engine_entry(const MoveKernel& kernel) {
  const std::string_view constant = "const __grid_constant__ tmajit::";
  const std::string grid = fmt::format("{}EngineGrid<{}> grid", constant, kernel.rank);
  if (kernel.method == MoveMethod::engine_rows) {
    return fmt::format(
        "{0}TensorMap source,\n                   {0}TensorMap destination,\n                   {1}) {{\n"
        "  tmajit::engine_rows(source, destination, grid);\n}}\n",
        constant, grid);
  }
  return fmt::format(
      "{0}TensorMap source,\n                        {1},\n                        {0}DirectView<{2}> "
      "destination) {{\n  tmajit::engine_transpose(source, grid, destination);\n}}\n",
      constant, grid, kernel.rank);
}

MoveKernel as_words(const MoveKernel& kernel) noexcept {
  MoveKernel words = kernel;
  if (kernel.method == MoveMethod::engine_rows) {
    words.box[kernel.rank - 1] = kernel.box[kernel.rank - 1] * kernel.element_bytes / 8;
    words.element_bytes = 8;
  }
  return words;
}

TMAJIT_END
