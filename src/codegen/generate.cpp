#include "codegen/include_expander.hpp"
#include "codegen/prelude.hpp"
#include "codegen/templates.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/validate.hpp>

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::string_view grid_constant = "const __grid_constant__";

std::size_t lines(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::string headline(const KernelSpec& spec, std::string_view entry) {
  std::string tile;
  for (std::size_t d = 0; d < spec.rank; ++d) tile += fmt::format("{}{}", d == 0 ? "" : "x", spec.tile[d]);
  std::string types;
  for (std::uint32_t i = 0; i < spec.inputs; ++i) types += fmt::format("{} ", name(spec.input(i).type));
  return fmt::format(
      "// {}: {}-> {}, rank {}, tile {}, swizzle {}, {} stages.\n"
      "// Made by tmajit " TMAJIT_VERSION_STRING "; compiles as it is with nvcc -arch=sm_90a.\n",
      entry, types, name(spec.output().type), spec.rank, tile, name(spec.input(0).swizzle), spec.stages);
}

/// The user's expression as a function of one element. It stands on a line of its own, in a file of its own,
/// so that the compiler's line and column are the user's; the line after it is `next_line` of the whole text.
std::string evaluate_function(const KernelSpec& spec, std::string_view file, std::size_t lines_before) {
  const bool is_bulk = spec.family == Family::bulk;
  std::string out = "\n// ---- the user's expression ----\nnamespace tmajit {\n\n";
  std::string values;
  for (std::uint32_t i = 0; i < spec.inputs; ++i) {
    values += fmt::format(
        ",\n                                         [[maybe_unused]] const Value<Input<{0}>::Element> x{0}",
        i);
  }
  if (is_bulk) {
    // Where a chunk begins depends on the addresses; what `t` means must not.
    out += fmt::format(
        "__device__ __forceinline__ auto evaluate(const Coordinate (&g)[rank], const u32 (&)[rank], u32{}) "
        "{{\n"
        "  [[maybe_unused]] const u32 t[rank] = {{static_cast<u32>(g[0] % tile().at[0])}};\n"
        "  [[maybe_unused]] const u32 tile_index = t[0];\n",
        values);
  } else {
    out += fmt::format(
        "__device__ __forceinline__ auto evaluate([[maybe_unused]] const Coordinate (&g)[rank],\n"
        "                                         [[maybe_unused]] const u32 (&t)[rank],\n"
        "                                         [[maybe_unused]] u32 tile_index{}) {{\n",
        values);
  }
  if (spec.inputs == 1) out += "  [[maybe_unused]] const auto x = x0;\n";
  out += "  return (\n#line 1 \"expression\"\n";
  out += spec.expression_text();
  out += '\n';
  // The #line itself is line lines_before + lines(out) + 1; it numbers the one after it.
  out += fmt::format("#line {} \"{}\"\n  );\n}}\n\n}}  // namespace tmajit\n", lines_before + lines(out) + 2,
                     file);
  return out;
}

std::string entry_point(const KernelSpec& spec, std::string_view entry) {
  std::string out =
      fmt::format("\n// ---- the kernel ----\nextern \"C\" __global__ void __launch_bounds__({}, {})\n{}(",
                  threads(spec), spec.ctas_per_sm, entry);
  const auto map = [](std::string_view parameter) {
    return fmt::format("{} tmajit::TensorMap {}", grid_constant, parameter);
  };
  const std::string tail = fmt::format("{} tmajit::RowTail<{}> tail", grid_constant, spec.rank);
  const std::string grid = fmt::format("{} tmajit::TileGrid<{}> grid", grid_constant, spec.rank);
  switch (spec.family) {
    case Family::copy:
      out += fmt::format("{},\n            {},\n            {},\n            {}) {{\n", map("source"),
                         map("destination"), grid, tail);
      out += "  tmajit::copy_tiles(source, destination, grid, tail);\n";
      break;
    case Family::snapshot:
      out += fmt::format("{},\n                tmajit::u8* images,\n                {}) {{\n", map("source"),
                         grid);
      out += "  tmajit::snapshot_tiles(source, images, grid);\n";
      break;
    case Family::bulk:
      out += fmt::format(
          "const tmajit::{}* in, tmajit::{}* out, tmajit::u64 count) {{\n  tmajit::map_bulk(in, out, "
          "count);\n",
          device_type(spec.input(0).type), device_type(spec.output().type));
      break;
    case Family::map: {
      std::string arguments = "grid, tail, out";
      for (std::uint32_t i = 0; i < spec.inputs; ++i) {
        out += fmt::format("{},\n           ", map(fmt::format("x{}", i)));
        arguments += fmt::format(", x{}", i);
      }
      out += fmt::format("{},\n           {},\n           {}) {{\n  tmajit::map_tiles({});\n", map("out"),
                         grid, tail, arguments);
      break;
    }
  }
  return out + "}\n";
}

}  // namespace

Source generate(const KernelSpec& spec) {
  if (auto violations = validate(spec); !violations.empty()) throw SpecError(std::move(violations));

  Source source;
  source.entry = fmt::format("tmajit_{}", name(spec.family));
  source.expression = spec.expression_text();
  const bool computes = !source.expression.empty();

  // Headers first, then the facts, then what is compiled against them. The family's own headers (forward,
  // elementwise) need the facts, so theirs come after.
  IncludeExpander expander(spec.rank);
  static_cast<void>(
      expander.strip(computes ? "#include \"tmajit/element.cuh\"\n#include \"tmajit/placement.cuh\"\n"
                              : "#include \"tmajit/placement.cuh\"\n"));
  std::string& text = source.text;
  text = headline(spec, source.entry);
  text += expander.headers();
  text += prelude(spec);
  if (computes) text += evaluate_function(spec, source.entry + ".cu", lines(text));

  const std::size_t before = expander.headers().size();
  const std::string kernel =
      close_gaps(expander.strip(template_text(fmt::format("kernels/{}.cu", name(spec.family)))));
  text += std::string_view(expander.headers()).substr(before);
  text += fmt::format("\n// ---- the {} family ----\n", name(spec.family));
  text += kernel;
  text += entry_point(spec, source.entry);
  return source;
}

Source custom_source(std::string_view text, std::string_view entry, std::string_view label) {
  IncludeExpander expander;
  const std::string own = expander.strip(text);
  return {expander.headers() + fmt::format("\n#line 1 \"{}\"\n", label) + own, std::string(entry), {}};
}

std::vector<std::pair<std::string, std::string>> device_headers() {
  std::vector<std::pair<std::string, std::string>> headers;
  for (const EmbeddedFile& file : embedded_templates()) {
    if (file.path.starts_with("kernels/")) continue;
    const std::string_view name = file.path.substr(file.path.find('/') + 1);
    headers.emplace_back(fmt::format("tmajit/{}", name), template_text(file.path));
  }
  return headers;
}

TMAJIT_END
