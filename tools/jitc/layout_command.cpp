#include "commands.hpp"
#include "files.hpp"
#include "layout_svg.hpp"
#include "layout_text.hpp"
#include "layout_view.hpp"
#include "parse.hpp"
#include "report.hpp"
#include "terminal.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::BoxLayout;
using tmajit::Error;
using tmajit::ErrorCode;

constexpr std::uint32_t lines_of_text = 32;
constexpr std::uint32_t lines_of_picture = 64;

struct LayoutOptions {
  std::string type = "f32";
  std::string box;
  std::string swizzle = "none";
  std::string interleave = "none";
  std::string colour;  ///< default: column, and row where all columns have one colour
  std::string pattern;
  std::optional<std::uint32_t> width;        ///< bytes a lane; default: an element, or a matrix's row
  std::optional<std::uint32_t> instruction;  ///< default: the one with most conflicts
  std::optional<std::uint32_t> lines;        ///< 0: all
  std::string out;
};

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

/// Widths that `pattern` can go over the box with.
std::vector<std::uint32_t> widths_of(const BoxLayout& box, tmajit::AccessPattern pattern) {
  std::vector<std::uint32_t> widths;
  for (std::uint32_t width = 1; width <= unit_bytes; width *= 2) {
    if (tmajit::instructions(box, pattern, width) != 0) widths.push_back(width);
  }
  return widths;
}

std::optional<ShownAccess> shown_access(const LayoutOptions& options, const BoxLayout& box) {
  if (options.pattern.empty()) {
    if (options.width || options.instruction) refuse("--access and --instruction say more of a --pattern");
    return std::nullopt;
  }
  const auto pattern = tmajit::parse_access_pattern(options.pattern);
  const auto widths = widths_of(box, pattern);
  if (widths.empty()) {
    refuse(fmt::format(
        "--pattern {}: a matrix has 8 rows of 16 bytes, and elements of 2 bytes if it is transposed; "
        "this box has {} rows of {}-byte elements",
        options.pattern, box.rows(), box.element_bytes()));
  }
  const auto width = options.width.value_or(widths.front());
  if (std::find(widths.begin(), widths.end(), width) == widths.end()) {
    refuse(fmt::format("--access {}: a lane of {} over this box touches {} bytes", width, options.pattern,
                       fmt::join(widths, ", ")));
  }
  const auto count = tmajit::instructions(box, pattern, width);
  const auto number = options.instruction.value_or(tmajit::conflicts(box, pattern, width).worst);
  if (number >= count) refuse(fmt::format("--instruction {}: there are {}, from 0 on", number, count));
  return ShownAccess{.pattern = pattern,
                     .number = number,
                     .instructions = count,
                     .access = tmajit::warp_access(box, pattern, width, number)};
}

ColourBy colour_by(const std::string& text, const BoxLayout& box) {
  if (text.empty()) return box.row_bytes() == unit_bytes ? ColourBy::row : ColourBy::column;
  if (text == "column") return ColourBy::column;
  if (text == "row") return ColourBy::row;
  refuse(fmt::format("--colour {}: column or row", text));
}

/// Before anything is made, so that a name that is no picture's is refused at once.
void check_suffix(const std::string& out) {
  if (out.empty() || std::filesystem::path(out).extension() == ".svg") return;
  refuse(fmt::format(
      "-o {}: pictures are written as SVG, to a file whose name ends in .svg; text and JSON go to "
      "standard output",
      out));
}

Json to_json(const BoxLayout& box, tmajit::BoxElement element) {
  const auto index = box.index(element);
  Json list = Json::array();
  for (std::size_t d = 0; d < box.extents().size(); ++d) list.push_back(index[d]);
  return list;
}

Json units_of(const BoxLayout& box) {
  Json units = Json::array();
  for (std::uint32_t offset = 0; offset < box.bytes(); offset += unit_bytes) {
    const auto element = box.element(offset);
    if (!element) continue;
    units.push_back(
        {{"offset", offset}, {"bank", tmajit::bank_of(offset)}, {"index", to_json(box, *element)}});
  }
  return units;
}

Json to_json(const tmajit::Conflicts& conflicts) {
  return {{"instructions", conflicts.instructions},
          {"conflicting", conflicts.conflicting},
          {"wavefronts", conflicts.wavefronts},
          {"ideal_wavefronts", conflicts.ideal},
          {"ways", conflicts.ways}};
}

Json to_json(const std::vector<PatternConflicts>& patterns) {
  Json list = Json::array();
  for (const auto& pattern : patterns) {
    Json under = Json::object();
    for (const auto& [swizzle, conflicts] : pattern.under) {
      under[std::string(tmajit::name(swizzle))] = conflicts ? to_json(*conflicts) : Json(nullptr);
    }
    list.push_back({{"pattern", tmajit::name(pattern.pattern)},
                    {"access_bytes", pattern.width},
                    {"swizzles", std::move(under)}});
  }
  return list;
}

Json to_json(const BoxLayout& box, const ShownAccess& shown) {
  Json lanes = Json::array();
  for (std::uint32_t lane = 0; lane < shown.access.lanes; ++lane) {
    const auto offset = shown.access.offsets[lane];
    lanes.push_back({{"lane", lane}, {"offset", offset}, {"bank", tmajit::bank_of(offset)}});
    if (const auto element = box.element(offset)) lanes.back()["index"] = to_json(box, *element);
  }
  const auto taken = tmajit::wavefronts(shown.access);
  return {{"pattern", tmajit::name(shown.pattern)},
          {"access_bytes", shown.access.width},
          {"instruction", shown.number},
          {"instructions", shown.instructions},
          {"wavefronts", taken.needed},
          {"ideal_wavefronts", taken.ideal},
          {"ways", taken.ways},
          {"words_of_banks", tmajit::words_of_banks(shown.access)},
          {"lanes", std::move(lanes)}};
}

Json to_json(const LayoutView& view) {
  const auto& box = view.box;
  Json json{{"type", tmajit::name(box.type())},
            {"box", view.extents},
            {"swizzle", tmajit::name(box.swizzle())},
            {"interleave", tmajit::name(box.interleave())},
            {"rows", box.rows()},
            {"columns", box.columns()},
            {"element_bytes", box.element_bytes()},
            {"row_bytes", box.row_bytes()},
            {"pitch_bytes", box.pitch_bytes()},
            {"bytes", box.bytes()},
            {"alignment", box.alignment()},
            {"elements_per_unit", unit_bytes / box.element_bytes()},
            {"units", units_of(box)},
            {"patterns", to_json(view.patterns)}};
  if (view.shown) json["access"] = to_json(box, *view.shown);
  return json;
}

int layout(const LayoutOptions& options, bool json) {
  check_suffix(options.out);
  const auto extents = parse_box(options.box, "--box");
  const bool picture = !options.out.empty();
  LayoutView view{
      .box = BoxLayout(tmajit::parse_element_type(options.type), extents,
                       tmajit::parse_swizzle(options.swizzle), tmajit::parse_interleave(options.interleave)),
      .extents = extents,
      .lines = options.lines.value_or(picture ? lines_of_picture : lines_of_text)};
  view.colour = colour_by(options.colour, view.box);
  view.shown = shown_access(options, view.box);
  std::optional<OutputFile> file;
  if (picture) file.emplace(options.out);
  view.patterns = conflicts_of_patterns(view.box, extents);
  if (file) {
    file->write(layout_svg(view));
    file->commit();
  }
  if (json) {
    Json report = to_json(view);
    if (file) report["output"] = options.out;
    print_json(report);
  } else if (file) {
    say("layout", fmt::format("{}: {}, {}", options.out, describe_box(view), describe_image(view)));
  } else {
    write_stdout(layout_text(view, columns(STDOUT_FILENO), takes_colour(STDOUT_FILENO)));
  }
  return 0;
}

}  // namespace

void add_layout_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand(
      "layout", "Show where a box's elements lie in shared memory, and which accesses conflict");
  auto options = std::make_shared<LayoutOptions>();
  command.add_option("--type,--dtype", options->type, "Element type")
      ->type_name("TYPE")
      ->capture_default_str();
  command.add_option("--box", options->box, "The box, 1 to 5 dimensions, row-major")
      ->type_name("64x64")
      ->required();
  command.add_option("--swizzle", options->swizzle, "none, 32B, 64B or 128B")
      ->type_name("MODE")
      ->capture_default_str();
  command
      .add_option("--interleave", options->interleave,
                  "none, 16B or 32B: the box's innermost dimension then counts slices of as many bytes")
      ->type_name("MODE")
      ->capture_default_str();
  command
      .add_option("--pattern", options->pattern,
                  "Draw one instruction of a warp that goes over the box: row, column, matrix (ldmatrix and "
                  "stmatrix) or matrix-transposed (the same with .trans)")
      ->type_name("PATTERN");
  command
      .add_option("--access", options->width,
                  "Bytes that a lane touches: 1, 2, 4, 8 or 16; default: an element")
      ->type_name("BYTES");
  command
      .add_option("--instruction", options->instruction,
                  "Which of the pattern's instructions; default: the first of those with most conflicts")
      ->type_name("N");
  command
      .add_option("--colour,--color", options->colour,
                  "What colours tell: column, an element's by 16 bytes, which is the default, or row")
      ->type_name("WHAT");
  command
      .add_option("--lines", options->lines,
                  "Lines of 128 bytes that are shown at most, 0 for all; default: 32, in a picture 64")
      ->type_name("N");
  command
      .add_option("-o,--output", options->out,
                  "Draw a picture instead; the name ends in .svg. Default: text to standard output")
      ->type_name("FILE.svg");
  add_common_options(command, session);
  command.footer(
      "A warp's access takes as many wavefronts as one bank has different 4-byte words to give; 8-byte "
      "accesses\n"
      "are answered by half warps, 16-byte ones by quarters.\n\n"
      "Examples:\n"
      "  jitc layout --type bf16 --box 64x64 --swizzle 128B\n"
      "  jitc layout --type f32 --box 32x32 --pattern column\n"
      "  jitc layout --type bf16 --box 64x64 --swizzle 128B --pattern matrix -o tile.svg\n"
      "  jitc layout --type u8 --box 128x128 --swizzle 128B --colour row --lines 0 -o tile.svg\n"
      "  jitc layout --type f16 --box 64x32 --swizzle 64B --json");
  command.callback([options, &session] {
    session.action = [options, &session] { return layout(*options, session.json); };
  });
}

}  // namespace jitc
