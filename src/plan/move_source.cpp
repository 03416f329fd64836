#include "codegen/include_expander.hpp"
#include "codegen/prelude.hpp"
#include "codegen/templates.hpp"
#include "plan/block_function.hpp"
#include "plan/engine_tiles.hpp"
#include "plan/gather_plan.hpp"
#include "plan/move_kernel.hpp"
#include "plan/tile_image.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

using Numbers = std::array<std::uint32_t, max_view_rank>;

std::string entry_of(const MoveKernel& kernel) {
  return fmt::format("tmajit_{}", name(kernel.method));
}

std::string extent_function(std::string_view name, const auto& values, std::uint32_t count) {
  return fmt::format("__device__ constexpr Extent<{}> {}() {{ return {{{{{}}}}}; }}", count, name,
                     fmt::join(values.begin(), values.begin() + count, ", "));
}

/// Bits that nothing is computed from are named by their size alone.
std::string type_text(ElementType type, bool bits) {
  return bits ? fmt::format("u{}", 8 * size_of(type)) : std::string(device_type(type));
}

/// Which part of a number is a dimension's index, in blocks of 32: 8 along the last dimension by 4 along
/// another.
struct Blocking {
  std::uint32_t column = max_view_rank;
  [[nodiscard]] std::uint32_t side(std::uint32_t d, std::uint32_t rank) const {
    if (column >= rank) return 1;
    return d + 1 == rank ? 8 : d == column ? 4 : 1;
  }
};

/// A function that takes a number apart: the dimensions of `order`, the last varying fastest, have `counts`
/// indices each. Straight lines: nothing is left for the compiler to unroll.
std::string index_function(std::string_view prefix, std::string_view name, const Numbers& order,
                           const Numbers& counts, std::uint32_t rank, Blocking blocking) {
  const std::string indent(std::min(prefix.find_first_not_of(' '), prefix.size()), ' ');
  std::string out =
      fmt::format("{}__device__ __forceinline__ void {}(u32 n, u32 (&index)[rank]) {{\n", prefix, name);
  if (blocking.column < rank) out += fmt::format("{0}  const u32 block = n % 32;\n{0}  n /= 32;\n", indent);
  std::uint32_t left = 0;  // dimensions of more than one index
  for (std::uint32_t k = 0; k < rank; ++k) {
    if (counts[order[k]] / blocking.side(order[k], rank) > 1) ++left;
  }
  for (std::uint32_t k = rank; k-- > 0;) {
    const std::uint32_t d = order[k];
    const std::uint32_t side = blocking.side(d, rank);
    const std::uint32_t count = counts[d] / side;
    const std::string in_block = side == 8 ? "block % 8" : side == 4 ? "block / 8" : "";
    std::string value;
    if (count > 1) value = left > 1 ? fmt::format("n % {}", count) : "n";
    if (side > 1) value = value.empty() ? in_block : fmt::format("{} * {} + {}", value, side, in_block);
    out += fmt::format("{}  index[{}] = {};\n", indent, d, value.empty() ? "0" : value);
    if (count > 1 && --left > 0) out += fmt::format("{}  n /= {};\n", indent, count);
  }
  return out + fmt::format("{}}}\n", indent);
}

Numbers in_order() {
  Numbers order{};
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

std::string source_facts(const MoveKernel& kernel, std::uint32_t i, bool computes) {
  const SourcePlan& plan = kernel.source[i];
  std::string out = fmt::format("template <>\nstruct Source<{}> {{\n", i);
  out += fmt::format("  using Element = {};\n", type_text(plan.type, !computes));
  out += fmt::format("  static constexpr Access access = Access::{};\n", name(plan.access));
  if (plan.access == SourceAccess::run) {
    out += fmt::format("  static constexpr i32 stride = {};  // elements, along the row\n", plan.stride);
  }
  out += fmt::format("  static constexpr u32 alignment = {};\n", plan.alignment);
  if (plan.access == SourceAccess::image) {
    out += fmt::format("  static constexpr u32 image = {};  // offset in shared memory\n", plan.offset);
    out += fmt::format("  static constexpr u32 outer = {};  // of the dimensions that a line spans\n",
                       plan.order[kernel.rank - plan.run]);
    out += fmt::format("  static constexpr u32 pitch = {};  // bytes from line to line\n", plan.pitch);
    out += fmt::format("  static constexpr u32 skew = {};  // bytes after each chunk's lines\n", plan.skew);
    out += fmt::format("  static constexpr bool row_in_line = {};\n", plan.row_in_line);
    out += fmt::format("  static {}\n", extent_function("lines", plan.lines, kernel.rank));
    out +=
        fmt::format("  static {}  // bytes\n", extent_function("image_step", plan.image_step, kernel.rank));
    out += "  // Lines in the order of the source's memory.\n";
    out += index_function("  static ", "line_index", plan.order, plan.lines, kernel.rank, {});
  }
  return out + "};\n";
}

/// A warp that reads an image does 8 chunks of 4 rows rather than 32 of one: together they meet every bank.
std::uint32_t block_column(const MoveKernel& kernel, const Numbers& chunks) {
  const auto is_image = [](const SourcePlan& plan) { return plan.access == SourceAccess::image; };
  const bool images = std::any_of(kernel.source.begin(), kernel.source.begin() + kernel.sources, is_image);
  const bool divides = chunks[kernel.rank - 1] % 8 == 0 && chunks[kernel.column] % 4 == 0;
  return images && divides && kernel.column + 1 < kernel.rank ? kernel.column : max_view_rank;
}

std::string general_facts(const MoveKernel& kernel, bool computes) {
  std::string out =
      fmt::format("constexpr u32 chunk = {};  // elements that a thread does at a time\n", kernel.chunk);
  out += fmt::format("constexpr u32 turns = {};  // chunks that it has in flight\n", kernel.turns);
  Numbers chunks = kernel.box;
  chunks[kernel.rank - 1] /= kernel.chunk;
  out += "// Chunk n of the tile.\n";
  out += index_function("", "chunk_index", in_order(), chunks, kernel.rank, {block_column(kernel, chunks)});
  out += fmt::format("constexpr bool staggered = {};\n", kernel.staggered);
  out += fmt::format("constexpr bool whole = {};  // no chunk is cut by an edge\n", kernel.whole);
  out += fmt::format("constexpr bool padded = {};\n", kernel.padded);
  out += fmt::format("constexpr bool computes = {};\n", computes);
  out += fmt::format(
      "struct Destination {{\n  using Element = {};\n  static constexpr bool contiguous = {};\n"
      "  static constexpr u32 alignment = {};\n}};\n",
      type_text(kernel.type, !computes && !kernel.padded), kernel.contiguous, kernel.alignment);
  out += "template <u32 i>\nstruct Source;\n";
  std::string indices;
  for (std::uint32_t i = 0; i < kernel.sources; ++i) {
    out += source_facts(kernel, i, computes);
    indices += fmt::format("{}{}", i == 0 ? "" : ", ", i);
  }
  out += "template <u32... i>\nstruct Indices {\n  static constexpr u32 count = sizeof...(i);\n};\n";
  out += fmt::format("using AllSources = Indices<{}>;\n", indices);
  const std::uint32_t count = std::max(kernel.coordinates, 1U);
  Numbers dimension_of = kernel.dimension_of;
  if (kernel.coordinates == 0) dimension_of[0] = kernel.rank;
  std::array<int, max_view_rank> backwards{};
  std::ranges::copy(kernel.backwards, backwards.begin());
  out += fmt::format("using Coordinate = {};\n", kernel.wide_coordinates ? "u64" : "u32");
  out += fmt::format("constexpr u32 coordinates = {};  // of the user's destination\n", count);
  out += extent_function("dimension_of", dimension_of, count) + "  // and which of the nest's they are\n";
  out += extent_function("backwards", backwards, count) + "\n";
  return out;
}

std::string transpose_facts(const MoveKernel& kernel) {
  const TileImage image(kernel);
  std::string out = fmt::format("constexpr u32 vector = {};  // elements of a block's side\n", kernel.chunk);
  out += fmt::format("constexpr u32 swizzle = {};  // banks from one block of a column to the next\n",
                     image.best_swizzle());
  out += fmt::format("constexpr u32 source_alignment = {};  // bytes\n", kernel.alignment);
  out += fmt::format("constexpr bool staggered = {};\n", kernel.staggered);
  out += fmt::format("constexpr bool whole = {};  // no block is cut by an edge\n", kernel.whole);
  out += "// Block n of the tile, in the order of the source's memory.\n";
  out += index_function("", "block_index", kernel.source_order, image.blocks(), kernel.rank, {});
  out += "// Vector n of the tile, in the order of the destination's.\n";
  return out + index_function("", "vector_index", in_order(), image.vectors(), kernel.rank, {});
}

std::string tile_order_fact(const MoveKernel& kernel) {
  const Numbers order = kernel.tile_dimensions();
  return fmt::format("__device__ constexpr TileOrder<{0}> tile_order() {{ return {{{{{1}}}, {2}, {3}}}; }}\n",
                     kernel.rank, fmt::join(order.begin(), order.begin() + kernel.rank, ", "), kernel.column,
                     kernel.tile_group());
}

std::string facts(const MoveKernel& kernel, bool computes) {
  std::string out = "\n// ---- what this kernel is specialised for ----\nnamespace tmajit {\n\n";
  out += fmt::format("constexpr u32 rank = {};\n", kernel.rank);
  if (kernel.method != MoveMethod::engine_rows)
    out += fmt::format("constexpr u32 threads = {};\n", kernel.threads);
  if (kernel.method != MoveMethod::engine_rows) {
    out += extent_function("box", kernel.box, kernel.rank) + "  // elements of a tile, outermost first\n";
    out += fmt::format("using Offset = {};  // bytes, in a tile\n", kernel.wide_offsets ? "i64" : "i32");
  }
  if (kernel.method == MoveMethod::general) {
    out += general_facts(kernel, computes);
  } else if (kernel.method != MoveMethod::engine_rows) {
    out += fmt::format("constexpr u32 element_bytes = {};\n", kernel.element_bytes);
  }
  if (kernel.method == MoveMethod::rows || (kernel.transposes() && !kernel.uses_engine())) {
    out += tile_order_fact(kernel);
  }
  if (kernel.method == MoveMethod::rows) {
    Numbers vectors = kernel.box;
    vectors[kernel.rank - 1] /= 16 / kernel.element_bytes;
    out += fmt::format("constexpr bool whole = {};  // no vector is cut by an edge\n", kernel.whole);
    out += "// Vector n of the tile.\n";
    out += index_function("", "vector_index", in_order(), vectors, kernel.rank, {});
  }
  if (kernel.transposes()) {
    out += fmt::format("constexpr u32 row = {};     // contiguous in the destination\n", kernel.rank - 1);
    out += fmt::format("constexpr u32 column = {};  // contiguous in the source\n", kernel.column);
  }
  if (kernel.method == MoveMethod::transpose) out += transpose_facts(kernel);
  if (kernel.method == MoveMethod::direct_transpose) {
    out += fmt::format("constexpr u32 vector = {};  // elements of a block's side\n", kernel.chunk);
    out += block_function(kernel, 4);
  }
  if (kernel.method == MoveMethod::gather) out += gather_facts(kernel);
  if (kernel.uses_engine()) out += engine_facts(kernel);
  return out + "\n}  // namespace tmajit\n";
}

std::size_t lines(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

/// The user's expression as a function of one element, on a line and in a file of its own, so that the
/// compiler's line and column are the user's.
std::string evaluate_function(const MoveKernel& kernel, std::string_view expression, std::string_view file,
                              std::size_t lines_before) {
  std::string out = "\n// ---- the user's expression ----\nnamespace tmajit {\n\n";
  out += "__device__ __forceinline__ auto evaluate([[maybe_unused]] const Coordinate (&g)[coordinates]";
  for (std::uint32_t i = 0; i < kernel.sources; ++i) {
    out += fmt::format(
        ",\n                                         [[maybe_unused]] const Value<Source<{0}>::Element> x{0}",
        i);
  }
  out += ") {\n";
  if (kernel.sources == 1) out += "  [[maybe_unused]] const auto x = x0;\n";
  out += fmt::format("  return (\n#line 1 \"expression\"\n{}\n", expression);
  out += fmt::format("#line {} \"{}\"\n  );\n}}\n\n}}  // namespace tmajit\n", lines_before + lines(out) + 2,
                     file);
  return out;
}

std::string headline(const MoveKernel& kernel, const Source& source) {
  return fmt::format("// {}: {} dimensions, tile {}.\n// Made by tmajit " TMAJIT_VERSION_STRING
                     "; compiles as it is with nvcc -arch=sm_90a.\n",
                     source.entry, kernel.rank,
                     fmt::join(kernel.box.begin(), kernel.box.begin() + kernel.rank, "x"));
}

/// What ptxas may rely on. Of transposes that a thread loads by words it would otherwise save registers, and
/// start some loads only when others have come.
std::string launch_bounds(const MoveKernel& kernel) {
  constexpr std::uint32_t least_threads = 448;  // of an SM
  if (kernel.method != MoveMethod::transpose) return fmt::format("{}", kernel.threads);
  return fmt::format("{}, {}", kernel.threads, ceil_div(least_threads, kernel.threads));
}

std::string entry_point(const MoveKernel& kernel, std::string_view entry) {
  std::string out =
      fmt::format("\n// ---- the kernel ----\nextern \"C\" __global__ void __launch_bounds__({})\n{}(",
                  launch_bounds(kernel), entry);
  const std::string_view constant = "const __grid_constant__ tmajit::";
  if (kernel.method == MoveMethod::general) {
    out += fmt::format("{}Sources views", constant);
    if (kernel.padded) out += fmt::format(", {}Window<{}> window", constant, kernel.rank);
    return out + fmt::format(") {{\n  tmajit::compute_views(views, {});\n}}\n",
                             kernel.padded ? std::string("window")
                                           : fmt::format("tmajit::Window<{}>{{}}", kernel.rank));
  }
  if (kernel.uses_engine()) return out + engine_entry(kernel);
  if (kernel.method == MoveMethod::gather) {
    return out + fmt::format("{}GatherViews views) {{\n  tmajit::gather_tile(views);\n}}\n", constant);
  }
  return out + fmt::format("{}ViewPair<{}> views) {{\n  tmajit::{}(views);\n}}\n", constant, kernel.rank,
                           kernel.method == MoveMethod::rows               ? "move_rows"
                           : kernel.method == MoveMethod::direct_transpose ? "transpose_directly"
                                                                           : "transpose_tile");
}

}  // namespace

Source move_source(const MoveKernel& planned, std::string_view expression) {
  const MoveKernel kernel = as_words(planned);
  const bool computes = !expression.empty();
  IncludeExpander expander(kernel.uses_engine() ? map_order(kernel).rank() : 0);
  const std::string body =
      close_gaps(expander.strip(template_text(fmt::format("kernels/{}.cu", name(kernel.method)))));
  Source source;
  source.entry = entry_of(kernel);
  source.expression = expression;
  source.text = headline(kernel, source);
  source.text += expander.headers();
  source.text += facts(kernel, computes);
  if (computes) {
    source.text += evaluate_function(kernel, expression, source.entry + ".cu", lines(source.text));
  }
  source.text += fmt::format("\n// ---- {} ----\n{}", name(kernel.method), body);
  source.text += entry_point(kernel, source.entry);
  return source;
}

std::string move_recipe(const MoveKernel& planned, std::string_view expression) {
  const MoveKernel kernel = as_words(planned);
  std::string recipe;
  recipe.reserve(2048);
  const auto put = [&](const auto& value) {
    static_assert(std::has_unique_object_representations_v<std::decay_t<decltype(value)>>);
    recipe.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  // Field by field: between fields a struct has bytes that mean nothing.
  put(kernel.method), put(kernel.element_bytes), put(kernel.rank), put(kernel.column), put(kernel.threads),
      put(kernel.stages), put(kernel.wide_offsets);
  put(kernel.box), put(kernel.source_order), put(kernel.tile_order), put(kernel.type), put(kernel.whole),
      put(kernel.chunk), put(kernel.turns);
  put(kernel.contiguous), put(kernel.alignment), put(kernel.staggered), put(kernel.padded);
  put(kernel.sources), put(kernel.coordinates), put(kernel.wide_coordinates), put(kernel.dimension_of);
  put(kernel.backwards);
  for (std::uint32_t i = 0; i < kernel.sources; ++i) {
    const SourcePlan& plan = kernel.source[i];
    put(plan.type), put(plan.access), put(plan.stride), put(plan.alignment), put(plan.offset), put(plan.run);
    put(plan.pitch), put(plan.skew), put(plan.row_in_line), put(plan.order);
    put(plan.lines), put(plan.image_step);
  }
  // Only those of `gather` have these: the recipes of others stay what they were.
  if (kernel.run_dimension != 0 || kernel.alike || kernel.skewed != max_view_rank || kernel.part != 0) {
    put(kernel.run_dimension), put(kernel.alike), put(kernel.skewed), put(kernel.part);
  }
  recipe += expression;
  return recipe;
}

TMAJIT_END
