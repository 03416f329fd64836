#include "codegen/include_expander.hpp"
#include "codegen/prelude.hpp"
#include "codegen/templates.hpp"
#include "plan/move_kernel.hpp"

#include <algorithm>
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

std::string_view access_name(SourceAccess access) {
  switch (access) {
    case SourceAccess::run: return "run";
    case SourceAccess::repeat: return "repeat";
    case SourceAccess::elements: return "elements";
    default: return "image";
  }
}

/// Bits that nothing is computed from are named by their size alone.
std::string type_text(ElementType type, bool bits) {
  return bits ? fmt::format("u{}", 8 * size_of(type)) : std::string(device_type(type));
}

std::string source_facts(const MoveKernel& kernel, std::uint32_t i, bool computes) {
  const SourcePlan& plan = kernel.source[i];
  std::string out = fmt::format("template <>\nstruct Source<{}> {{\n", i);
  out += fmt::format("  using Element = {};\n", type_text(plan.type, !computes));
  out += fmt::format("  static constexpr Access access = Access::{};\n", access_name(plan.access));
  if (plan.access == SourceAccess::run) {
    out += fmt::format("  static constexpr i32 stride = {};  // elements, along the row\n", plan.stride);
  }
  out += fmt::format("  static constexpr u32 alignment = {};\n", plan.alignment);
  if (plan.access == SourceAccess::image) {
    out += fmt::format("  static constexpr u32 image = {};  // offset in shared memory\n", plan.offset);
    out += fmt::format(
        "  static constexpr u32 run = {};  // dimensions of `order`, from the last, in a line\n", plan.run);
    out += fmt::format("  static constexpr u32 pitch = {};  // bytes from line to line\n", plan.pitch);
    out += fmt::format("  static constexpr u32 skew = {};  // bytes after each chunk's lines\n", plan.skew);
    out += fmt::format("  static constexpr bool row_in_line = {};\n", plan.row_in_line);
    out += fmt::format("  static {}\n", extent_function("order", plan.order, kernel.rank));
    out += fmt::format("  static {}\n", extent_function("lines", plan.lines, kernel.rank));
  }
  return out + "};\n";
}

std::string general_facts(const MoveKernel& kernel, bool computes) {
  std::string out =
      fmt::format("constexpr u32 chunk = {};  // elements that a thread does at a time\n", kernel.chunk);
  out += fmt::format("constexpr u32 turns = {};  // chunks that it has in flight\n", kernel.turns);
  out += fmt::format("constexpr bool staggered = {};\n", kernel.staggered);
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

std::string facts(const MoveKernel& kernel, bool computes) {
  std::string out = "\n// ---- what this kernel is specialised for ----\nnamespace tmajit {\n\n";
  out += fmt::format("constexpr u32 rank = {};\n", kernel.rank);
  out += fmt::format("constexpr u32 threads = {};\n", kernel.threads);
  out += extent_function("box", kernel.box, kernel.rank) + "  // elements of a tile, outermost first\n";
  if (kernel.method == MoveMethod::general) {
    out += general_facts(kernel, computes);
  } else {
    out += fmt::format("constexpr u32 element_bytes = {};\n", kernel.element_bytes);
  }
  if (kernel.method == MoveMethod::transpose) {
    out += fmt::format("constexpr u32 row = {};     // contiguous in the destination\n", kernel.rank - 1);
    out += fmt::format("constexpr u32 column = {};  // contiguous in the source\n", kernel.column);
    out += extent_function("source_order", kernel.source_order, kernel.rank) + "  // dimensions, by stride\n";
  }
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

std::string entry_point(const MoveKernel& kernel, std::string_view entry) {
  std::string out =
      fmt::format("\n// ---- the kernel ----\nextern \"C\" __global__ void __launch_bounds__({})\n{}(",
                  kernel.threads, entry);
  const std::string_view constant = "const __grid_constant__ tmajit::";
  if (kernel.method == MoveMethod::general) {
    out += fmt::format("{}Sources views", constant);
    if (kernel.padded) out += fmt::format(", {}Window<{}> window", constant, kernel.rank);
    return out + fmt::format(") {{\n  tmajit::compute_views(views, {});\n}}\n",
                             kernel.padded ? std::string("window")
                                           : fmt::format("tmajit::Window<{}>{{}}", kernel.rank));
  }
  return out + fmt::format("{}ViewPair<{}> views) {{\n  tmajit::{}(views);\n}}\n", constant, kernel.rank,
                           kernel.method == MoveMethod::rows ? "move_rows" : "transpose_tile");
}

}  // namespace

Source move_source(const MoveKernel& kernel, std::string_view expression) {
  const bool computes = !expression.empty();
  IncludeExpander expander;
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

std::string move_recipe(const MoveKernel& kernel, std::string_view expression) {
  std::string recipe;
  recipe.reserve(2048);
  const auto put = [&](const auto& value) {
    static_assert(std::has_unique_object_representations_v<std::decay_t<decltype(value)>>);
    recipe.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  // Field by field: between fields a struct has bytes that mean nothing.
  put(kernel.method), put(kernel.element_bytes), put(kernel.rank), put(kernel.column), put(kernel.threads);
  put(kernel.box), put(kernel.source_order), put(kernel.type), put(kernel.chunk), put(kernel.turns);
  put(kernel.contiguous), put(kernel.alignment), put(kernel.staggered), put(kernel.padded);
  put(kernel.sources), put(kernel.coordinates), put(kernel.wide_coordinates), put(kernel.dimension_of);
  put(kernel.backwards);
  for (std::uint32_t i = 0; i < kernel.sources; ++i) {
    const SourcePlan& plan = kernel.source[i];
    put(plan.type), put(plan.access), put(plan.stride), put(plan.alignment), put(plan.offset), put(plan.run);
    put(plan.line_bytes), put(plan.pitch), put(plan.skew), put(plan.row_in_line), put(plan.order);
    put(plan.lines);
  }
  recipe += expression;
  return recipe;
}

TMAJIT_END
