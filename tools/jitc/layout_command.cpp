#include "commands.hpp"
#include "files.hpp"
#include "option_group.hpp"
#include "options.hpp"
#include "parse.hpp"
#include "report.hpp"
#include "terminal.hpp"
#include "usage.hpp"

#include <tmajit/report/layout.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::BoxLayout, tmajit::ColourBy, tmajit::LayoutView, tmajit::ShownAccess;

// A line shows the 128 bytes of all banks.
constexpr std::uint32_t default_lines_of_text = 32;
constexpr std::uint32_t default_lines_of_picture = 64;
/// Bytes that a swizzle moves as one unit.
constexpr std::uint32_t unit_bytes = 16;

struct LayoutOptions {
  std::string type = "f32";
  std::string box;
  std::string swizzle = "none";
  std::string interleave = "none";
  std::string colour;  ///< default: column; row for a box of one column
  std::string pattern;
  std::optional<std::uint32_t> width;        ///< bytes per lane; default: an element, or a row of a matrix
  std::optional<std::uint32_t> instruction;  ///< default: the first with most conflicts
  std::optional<std::uint32_t> lines;        ///< 0: all
  std::string out;
};

/// The access that --pattern, --access and --instruction select; nullopt without --pattern.
std::optional<ShownAccess> shown_access(const LayoutOptions& options, const LayoutView& view) {
  if (options.pattern.empty()) {
    if (options.width || options.instruction) refuse("--access and --instruction require --pattern");
    return std::nullopt;
  }
  const auto pattern = tmajit::parse<tmajit::AccessPattern>(options.pattern);
  const auto& box = view.box;
  std::vector<std::uint32_t> widths;
  for (const auto& known : view.patterns) {
    if (known.pattern == pattern) widths.push_back(known.width);
  }
  if (widths.empty()) {
    refuse(
        "--pattern {}: a matrix has 8 rows of 16 bytes, and elements of 2 bytes if it is transposed; "
        "this box has {} rows of {}-byte elements",
        options.pattern, box.rows(), box.element_bytes());
  }
  const auto width = options.width.value_or(widths.front());
  if (std::find(widths.begin(), widths.end(), width) == widths.end()) {
    refuse("--access {}: in pattern {}, a lane of this box accesses {} bytes", width, options.pattern,
           fmt::join(widths, ", "));
  }
  const auto count = tmajit::instructions(box, pattern, width);
  const auto number = options.instruction.value_or(tmajit::conflicts(box, pattern, width).worst);
  if (number >= count) refuse("--instruction {}: there are {} instructions, numbered from 0", number, count);
  return ShownAccess{.pattern = pattern,
                     .number = number,
                     .instructions = count,
                     .access = tmajit::warp_access(box, pattern, width, number)};
}

ColourBy colour_by(const std::string& text, const BoxLayout& box) {
  if (text.empty()) return box.row_bytes() == unit_bytes ? ColourBy::row : ColourBy::column;
  return tmajit::parse<tmajit::ColourBy>(text);
}

/// Refuses a file name without .svg before any other work.
void check_suffix(const std::string& out) {
  if (to_standard_output(out) || std::filesystem::path(out).extension() == ".svg") return;
  refuse(
      "-o {}: pictures are written as SVG, to a file whose name ends in .svg; text and JSON go to "
      "standard output",
      out);
}

int layout(const LayoutOptions& options, bool json) {
  check_suffix(options.out);
  const auto extents = parse_box(options.box, "--box");
  const bool picture = !options.out.empty();
  LayoutView view{.box = BoxLayout(tmajit::parse<tmajit::ElementType>(options.type), extents,
                                   tmajit::parse<tmajit::Swizzle>(options.swizzle),
                                   tmajit::parse<tmajit::Interleave>(options.interleave)),
                  .extents = extents,
                  .lines = options.lines.value_or(picture ? default_lines_of_picture : default_lines_of_text),
                  .cut_hint = "--lines 0 shows all"};
  view.colour = colour_by(options.colour, view.box);
  view.patterns = tmajit::conflicts_of_patterns(view.box, extents);
  view.shown = shown_access(options, view);
  std::optional<OutputFile> file;
  if (picture) file.emplace(options.out);
  if (file) {
    file->write(layout_svg(view));
    file->commit();
  }
  if (json) {
    Json report = Json::parse(layout_json(view));
    if (file) report["output"] = options.out;
    print_json(report);
  } else if (file) {
    say("layout", "{}: {}, {}", output_name(options.out), describe_box(view), describe_image(view));
  } else {
    write_stdout(layout_text(view, columns(STDOUT_FILENO), takes_colour(STDOUT_FILENO)));
  }
  return 0;
}

}  // namespace

void add_layout_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand(
      "layout",
      "Show where a box's elements are stored in shared memory, and which accesses have bank conflicts");
  auto options = std::make_shared<LayoutOptions>();
  OptionGroup group(command);
  group.add("--type,--dtype", options->type, "TYPE", "Element type")->check(offers(element_types()));
  group.add("--box", options->box, "64x64", "The box, 1 to 5 dimensions, row-major")->required();
  group.add("--swizzle", options->swizzle, "MODE", "none, 32B, 64B or 128B")
      ->check(offers({"none", "32B", "64B", "128B"}));
  group
      .add("--interleave", options->interleave, "MODE",
           "none, 16B or 32B; with the latter two, the box's innermost dimension counts slices of that many "
           "bytes")
      ->check(offers({"none", "16B", "32B"}));
  group
      .add("--pattern", options->pattern, "PATTERN",
           "Draw one instruction of a warp that goes over the box: row, column, matrix (ldmatrix and "
           "stmatrix) or matrix-transposed (the same with .trans)")
      ->check(offers({"row", "column", "matrix", "matrix-transposed"}));
  group
      .add("--access", options->width, "BYTES",
           "Bytes that a lane accesses: 1, 2, 4, 8 or 16; default: an element")
      ->check(offers({"1", "2", "4", "8", "16"}));
  group.add("--instruction", options->instruction, "N",
            "Which of the pattern's instructions; default: the first of those with most conflicts");
  group
      .add("--colour,--color", options->colour, "WHAT",
           "What colours show: column, in units of 16 bytes (the default), or row")
      ->check(one_of({"column", "row"}));
  group.add("--lines", options->lines, "N",
            "Show at most N lines of 128 bytes; 0: all. Default: 32 as text, 64 in a picture");
  group.add("-o,--output", options->out, "FILE.svg",
            "Draw a picture instead; the name ends in .svg. Default: text to standard output");
  command.footer(
      "An access of a warp takes as many wavefronts as it reads or writes different 4-byte words in one "
      "bank. "
      "8-byte\n"
      "accesses are served for half a warp at a time, 16-byte accesses for a quarter.\n\n"
      "Examples:\n"
      "  jitc layout --type bf16 --box 64x64 --swizzle 128B\n"
      "  jitc layout --type f32 --box 32x32 --pattern column\n"
      "  jitc layout --type bf16 --box 64x64 --swizzle 128B --pattern matrix -o tile.svg\n"
      "  jitc layout --type u8 --box 128x128 --swizzle 128B --colour row --lines 0 -o tile.svg\n"
      "  jitc layout --type f16 --box 64x32 --swizzle 64B --json");
  add_action(command, session, [options](bool json) { return layout(*options, json); });
}

}  // namespace jitc
