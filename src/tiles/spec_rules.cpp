#include "spec/combine_rules.hpp"
#include "spec/coordinates.hpp"
#include "spec/counted.hpp"
#include "spec/limits.hpp"
#include "spec/map_rules.hpp"
#include "spec/saturate.hpp"
#include "tiles/tile_rules.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr auto tiles_source = "tmajit, tiles of the caller's choice";
constexpr auto capability_source =
    "CUDA C++ Programming Guide, Technical Specifications per Compute Capability";

struct Range {
  std::uint32_t least;
  std::uint32_t most;
};

// Counts and unused bytes.

void check_count(std::string_view rule, std::string_view field, std::uint32_t value, Range range,
                 const TileSpec& spec, Violations& violations) {
  if (value >= range.least && value <= range.most) return;
  violations.add(
      {.rule = std::string(rule),
       .subject = std::string(field),
       .found = fmt::format("{}", value),
       .need = range.least == range.most
                   ? fmt::format("{} for a {} kernel", range.least, spec.traits->name)
                   : fmt::format("{} to {} for a {} kernel", range.least, range.most, spec.traits->name),
       .legal = fmt::format("{} = {}", field, std::clamp(value, range.least, range.most)),
       .source = tiles_source});
}

/// The value of a fact, or the requested value if it does not fit a byte.
std::uint32_t asked_for(std::uint8_t fact, std::uint32_t beyond) {
  return std::max<std::uint32_t>(fact, beyond);
}

void add_unused(std::uint64_t value, std::string field, Violations& violations) {
  violations.add({.rule = "unused.zero",
                  .subject = field,
                  .found = fmt::format("{}", value),
                  .need = "0 beyond the rank, so that equal kernels are equal bytes",
                  .legal = fmt::format("{} = 0", field),
                  .source = tiles_source});
}

void check_unused_operand(const TileSpec& spec, std::uint32_t index, Violations& violations) {
  const auto& operand = spec.operands[index];
  if (operand == OperandSpec{}) return;
  violations.add(
      {.rule = "unused.zero",
       .subject = fmt::format("operands[{}]", index),
       .found = "a value",
       .need = fmt::format("none beyond the last input, operand {}, so that equal kernels are equal bytes",
                           spec.inputs),
       .legal = fmt::format("operands[{}] default-constructed", index),
       .source = tiles_source});
}

void check_unused(const TileSpec& spec, Violations& violations) {
  if (!has_operands(spec)) return;
  // If the rank is 0, it is unknown which dimensions are unused.
  for (std::uint32_t d = spec.rank; spec.rank != 0 && d < max_map_rank; ++d) {
    if (spec.tile[d] != 0) add_unused(spec.tile[d], fmt::format("tile[{}]", d), violations);
    for (std::uint32_t i = 0; i <= spec.inputs; ++i) {
      const auto stride = spec.operands[i].element_strides[d];
      if (stride == 0) continue;
      add_unused(stride, fmt::format("{}: element_strides[{}]", operand_name(spec, i), d), violations);
    }
  }
  for (std::uint32_t i = spec.inputs + 1U; i < spec.operands.size(); ++i) {
    check_unused_operand(spec, i, violations);
  }
  for (std::uint32_t k = spec.numbers; k < spec.number_types.size(); ++k) {
    const auto type = static_cast<std::uint64_t>(spec.number_types[k]);
    if (type != 0) add_unused(type, fmt::format("number_types[{}]", k), violations);
  }
}

void check_counts(const TileSpec& spec, Violations& violations) {
  const bool computing = spec.traits->computes;
  const BeyondFacts& asked = spec.asked;
  check_count("rank.range", "rank", spec.view_rank(), {1, spec.traits->max_rank}, spec, violations);
  check_count("inputs.range", "inputs", spec.inputs, {1, spec.traits->max_inputs}, spec, violations);
  const std::uint32_t tensors = std::clamp<std::uint32_t>(spec.inputs, 1, max_inputs);
  check_count("numbers.range", "numbers", spec.numbers, {0, computing ? max_inputs - tensors : 0}, spec,
              violations);
  check_count("stages.range", "stages", asked_for(spec.stages, asked.stages), {1, max_stages}, spec,
              violations);
  check_count("output-stages.range", "output_stages", asked_for(spec.output_stages, asked.output_stages),
              computing ? Range{min_output_stages, max_output_stages} : Range{0, 0}, spec, violations);
  check_count("warps.range", "warps", asked_for(spec.warps, asked.warps),
              computing ? Range{1, max_warps} : Range{1, 1}, spec, violations);
  check_count("ctas-per-sm.range", "ctas_per_sm", asked_for(spec.ctas_per_sm, asked.ctas_per_sm),
              {1, max_ctas_per_sm}, spec, violations);
  check_count("tiles-per-cta.range", "tiles_per_cta", asked_for(spec.tiles_per_cta, asked.tiles_per_cta),
              {0, max_tiles_per_cta}, spec, violations);
  check_unused(spec, violations);
}

// The expression.

void add_expression(std::string_view rule, std::string found, std::string_view need, std::string_view legal,
                    Violations& violations) {
  violations.add({.rule = std::string(rule),
                  .subject = "expression",
                  .found = std::move(found),
                  .need = std::string(need),
                  .legal = std::string(legal),
                  .source = tiles_source});
}

void check_expression(const TileSpec& spec, Violations& violations) {
  const std::string_view text = spec.expression;
  if (text.size() > max_expression) {
    add_expression("expression.length", fmt::format("{} characters", text.size()),
                   fmt::format("at most {} characters", max_expression), "a shorter expression", violations);
    return;
  }
  if (!spec.traits->computes) {
    if (text.empty()) return;
    add_expression("expression.none", fmt::format("\"{}\"", text.substr(0, 40)),
                   fmt::format("none for a {} kernel, which computes nothing", spec.traits->name),
                   "no expression, or a map kernel", violations);
    return;
  }
  const auto control =
      std::ranges::find_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (control != text.end()) {
    add_expression(
        "expression.characters",
        fmt::format("character {:#04x} at {}", static_cast<unsigned>(static_cast<unsigned char>(*control)),
                    control - text.begin()),
        "one line of printable characters", "spaces in place of tabs and line ends", violations);
  }
  if (text.find_first_not_of(' ') == std::string_view::npos) {
    add_expression("expression.empty", "none",
                   fmt::format("the expression that a {} kernel computes", spec.traits->name),
                   "an expression over x, such as \"x\"", violations);
  }
  check_coordinates(text, spec.view_rank(), "expression", tiles_source, violations);
}

// Each operand's tile, and the compatibility of operands.

void check_interleave(const OperandSpec& operand, Violations& violations) {
  if (operand.interleave == Interleave::none || operand.interleave > Interleave::b32) return;
  violations.add(
      {.rule = "interleave.unsupported",
       .subject = "interleave",
       .found = std::string(name(operand.interleave)),
       .need = "none: an interleaved tensor map counts slices of channels, these kernels count elements",
       .legal = "interleave none, or a kernel of your own (custom_source)",
       .source = tiles_source});
}

void check_output_strides(const TileSpec& spec, Violations& violations) {
  // A store writes its tile densely; only inputs may skip elements.
  for (std::uint32_t d = 0; d < spec.rank; ++d) {
    const auto stride = spec.output().element_strides[d];
    if (stride == 1) continue;
    violations.add(
        {.rule = "element-strides.output",
         .subject = fmt::format("element_strides[{}]", d),
         .found = fmt::format("{}", stride),
         .need = "1 for an output",
         .legal = fmt::format("element_strides[{}] = 1; give the output's view larger strides instead", d),
         .source = "tmajit, OperandSpec"});
  }
}

/// The least number of elements that is a multiple of 16 bytes for every operand.
std::uint32_t chunk_unit(const TileSpec& spec) {
  std::uint32_t size = bulk_bytes;
  for (std::uint32_t i = 0; i <= spec.inputs; ++i) {
    if (is_known(spec.operands[i].type)) size = std::min(size, size_of(spec.operands[i].type));
  }
  return bulk_bytes / size;
}

void check_chunk(const TileSpec& spec, const OperandSpec& operand, Violations& violations) {
  if (!is_known(operand.type)) return;
  const auto size = size_of(operand.type);
  const auto bytes = sat_mul(spec.tile[0], size);
  if (bytes != 0 && bytes % bulk_bytes == 0) return;
  const std::uint64_t unit = chunk_unit(spec);
  const auto above = round_up(std::max<std::uint64_t>(spec.tile[0], 1), unit);
  const auto legal = above <= std::numeric_limits<std::uint32_t>::max() ? above : above - unit;
  violations.add(
      {.rule = "chunk.bytes",
       .subject = "tile[0]",
       .found = fmt::format("{} ({} × {})", counted(bytes, "byte"), spec.tile[0], name(operand.type)),
       .need = "a positive multiple of 16 bytes",
       .legal = fmt::format("tile[0] = {}", legal),
       .source = "PTX ISA, cp.async.bulk, size"});
}

void check_bulk_operand(const TileSpec& spec, const OperandSpec& operand, Violations& violations) {
  check_chunk(spec, operand, violations);
  if (operand.swizzle != Swizzle::none && operand.swizzle <= Swizzle::b128) {
    violations.add({.rule = "swizzle.bulk",
                    .subject = "swizzle",
                    .found = std::string(name(operand.swizzle)),
                    .need = "none: bulk copies move bytes in order",
                    .legal = "swizzle none, or a map kernel",
                    .source = "PTX ISA, cp.async.bulk"});
  }
}

void check_operand(const TileSpec& spec, std::uint32_t index, Violations& violations) {
  const auto& operand = spec.operands[index];
  const auto map = partial_map(spec, index);
  violations.about(operand_name(spec, index), spec.asked.outer_dimensions);
  check_kind(map, violations);
  check_interleave(operand, violations);
  if (spec.traits->by_addresses) {
    check_bulk_operand(spec, operand, violations);
    if (index == 1 && operand.element_strides[0] != 1) {
      violations.add({.rule = "element-strides.innermost",
                      .subject = "element_strides[0]",
                      .found = fmt::format("{}", map.element_strides[0]),
                      .need = "1: bulk copies skip nothing",
                      .legal = "element_strides[0] = 1",
                      .source = "PTX ISA, cp.async.bulk"});
    }
  } else {
    check_box(map, violations);
  }
  violations.about({});
}

/// Whether a copy may have these types. A copy moves bits, so the bits must mean the same in both types.
bool copies_as(ElementType from, ElementType to) noexcept {
  if (from == to) return true;
  if (!is_known(from) || !is_known(to) || size_of(from) != size_of(to)) return false;
  const bool integers = !is_float(from) && !is_float(to);  // a conversion between them wraps: the same bits
  return integers || (is_float(from) && is_float(to) && size_of(from) == 4);
}

void check_copied_types(const TileSpec& spec, Violations& violations) {
  const auto& source = spec.input(0);
  const auto& destination = spec.output();
  if (!copies_as(source.type, destination.type)) {
    violations.add({.rule = "copy.type",
                    .subject = "type",
                    .found = fmt::format("{} for a source of {}", name(destination.type), name(source.type)),
                    .need = "a type with the same bits: a copy converts nothing",
                    .legal = fmt::format("{}, or a map kernel with the expression \"x\"", name(source.type)),
                    .source = "tmajit, copy"});
  }
}

void check_combined_types(const TileSpec& spec, Violations& violations) {
  const ElementType source = spec.input(0).type;
  const ElementType destination = spec.output().type;
  if (is_known(source) && is_known(destination) && source != destination) {
    violations.add({.rule = "combine.same-type",
                    .subject = "type",
                    .found = fmt::format("{} for a source of {}", name(destination), name(source)),
                    .need = "the source's type: the engine converts nothing",
                    .legal = std::string(name(source)),
                    .source = "PTX ISA, cp.reduce.async.bulk.tensor"});
  }
  if (is_known(destination)) check_combined(spec.combine_op(), destination, "type", violations);
}

/// Checks kernels that compute nothing: they store a tile from the shared memory that it was loaded to.
void check_forwarded(const TileSpec& spec, Violations& violations) {
  const auto& source = spec.input(0);
  const auto& destination = spec.output();
  violations.about("output");
  if (spec.traits->combines) {
    check_combined_types(spec, violations);
  } else {
    check_copied_types(spec, violations);
  }
  if (source.swizzle != destination.swizzle) {
    violations.add(
        {.rule = "copy.swizzle",
         .subject = "swizzle",
         .found = fmt::format("{}, {} at the source", name(destination.swizzle), name(source.swizzle)),
         .need = "the source's: a tile is stored from the shared memory into which it was loaded",
         .legal = fmt::format("swizzle {}", name(source.swizzle)),
         .source = "tmajit, copy"});
  }
  violations.about({});
}

void check_snapshot_output(const TileSpec& spec, Violations& violations) {
  const auto& output = spec.output();
  if (output.type == ElementType::u8 && output.swizzle == Swizzle::none &&
      output.interleave == Interleave::none)
    return;
  violations.add({.rule = "snapshot.output",
                  .subject = "output",
                  .found = fmt::format("{} with swizzle {} and interleave {}", name(output.type),
                                       name(output.swizzle), name(output.interleave)),
                  .need = "plain bytes: a snapshot writes the tile's image as it is",
                  .legal = "u8 with swizzle none and interleave none",
                  .source = "tmajit, snapshot"});
}

void check_operands(const TileSpec& spec, Violations& violations) {
  if (spec.traits->writes_images) {
    check_snapshot_output(spec, violations);
  } else {
    check_operand(spec, 0, violations);
  }
  for (std::uint32_t i = 1; i <= spec.inputs; ++i) check_operand(spec, i, violations);
  violations.about("output");
  check_output_strides(spec, violations);
  violations.about({});
  if (!spec.traits->computes && !spec.traits->writes_images) check_forwarded(spec, violations);
}

// Shared memory, threads and transaction bytes.

bool fits_shared(const TileSpec& spec) noexcept {
  return shared_layout(spec).bytes <= shared_bytes_for(spec.ctas_per_sm);
}

/// The nearest smaller spec whose shared memory fits, as text: fewer stages, else a smaller tile. Nothing if
/// no tile is small enough.
std::optional<std::string> smaller(TileSpec spec) {
  spec.asked.stages = 0;
  for (auto fewer = spec; fewer.stages > 1;) {
    --fewer.stages;
    if (fewer.stages <= max_stages && fits_shared(fewer)) return fmt::format("stages = {}", fewer.stages);
  }
  spec.stages = std::clamp<std::uint8_t>(spec.stages, 1, 2);
  const auto rank = std::clamp<std::uint32_t>(spec.rank, 1, max_map_rank);
  const std::uint32_t most = spec.traits->by_addresses ? spec.tile[0] : max_box;
  // The innermost dimension is halved last, because that shortens rows.
  for (std::uint32_t d = 0; d < rank; ++d) {
    const std::uint32_t unit = d + 1 == rank ? chunk_unit(spec) : 1;
    const std::uint64_t extent = round_down(std::min(spec.tile[d], most), unit);
    spec.tile[d] = static_cast<std::uint32_t>(std::max<std::uint64_t>(extent, unit));
    while (!fits_shared(spec) && spec.tile[d] >= 2 * unit) {
      spec.tile[d] = static_cast<std::uint32_t>(round_down(spec.tile[d] / 2, unit));
    }
  }
  if (!fits_shared(spec)) return std::nullopt;
  // The caller's tile is the first input's box, which includes the elements that strides skip.
  spec.asked = {};
  const auto box = partial_map(spec, 1).box;
  return fmt::format("a tile of {} with stages = {}", fmt::join(std::span(box).first(rank), "x"),
                     spec.stages);
}

void check_cta(const TileSpec& spec, std::uint64_t bytes, Violations& violations) {
  if (bytes <= max_shared_bytes_per_cta) return;
  auto alone = spec;
  alone.ctas_per_sm = 1;
  violations.add(
      {.rule = "shared.cta",
       .subject = "shared memory",
       .found = fmt::format("{} bytes a CTA, {} too many", bytes, bytes - max_shared_bytes_per_cta),
       .need = fmt::format("at most {} bytes (227 KiB)", max_shared_bytes_per_cta),
       .legal = smaller(alone).value_or("a smaller tile and fewer stages"),
       .source = capability_source});
}

void check_sm(const TileSpec& spec, std::uint64_t bytes, Violations& violations) {
  const auto each = sat_add(bytes, cta_reserve_bytes);
  const auto asked = asked_for(spec.ctas_per_sm, spec.asked.ctas_per_sm);
  const auto all = sat_mul(each, asked);
  if (spec.ctas_per_sm < 2 || all <= max_shared_bytes_per_sm) return;
  const auto ctas = std::clamp<std::uint64_t>(max_shared_bytes_per_sm / each, 1, max_ctas_per_sm);
  const auto other = smaller(spec);
  violations.add({.rule = "shared.sm",
                  .subject = "ctas_per_sm",
                  .found = fmt::format("{} CTAs of {} bytes and {} reserved: {} too many", asked, bytes,
                                       cta_reserve_bytes, all - max_shared_bytes_per_sm),
                  .need = fmt::format("at most {} bytes (228 KiB) an SM", max_shared_bytes_per_sm),
                  .legal = fmt::format("ctas_per_sm = {}{}", ctas, other ? ", or " + *other : ""),
                  .source = capability_source});
}

void check_threads(const TileSpec& spec, Violations& violations) {
  const auto asked = asked_for(spec.ctas_per_sm, spec.asked.ctas_per_sm);
  const auto all = std::uint64_t{threads(spec)} * asked;
  if (spec.ctas_per_sm < 2 || all <= max_threads_per_sm) return;
  violations.add({.rule = "threads.sm",
                  .subject = "ctas_per_sm",
                  .found = fmt::format("{} CTAs of {} threads: {}", asked, threads(spec), all),
                  .need = fmt::format("at most {} threads an SM", max_threads_per_sm),
                  .legal = fmt::format("ctas_per_sm = {}",
                                       std::clamp(max_threads_per_sm / threads(spec), 1U, max_ctas_per_sm)),
                  .source = capability_source});
}

void check_transaction(const TileSpec& spec, Violations& violations) {
  const auto bytes = stage_transaction_bytes(spec);
  if (bytes <= max_transaction_bytes) return;
  violations.add({.rule = "stage.transaction-bytes",
                  .subject = "tile",
                  .found = fmt::format("{} bytes loaded a stage", bytes),
                  .need = "less than 2^20 bytes on one mbarrier",
                  .legal = "a smaller tile",
                  .source = "PTX ISA, mbarrier, tx-count"});
}

void check_budget(const TileSpec& spec, Violations& violations) {
  const auto bytes = shared_layout(spec).bytes;
  check_cta(spec, bytes, violations);
  check_sm(spec, bytes, violations);
  check_threads(spec, violations);
  check_transaction(spec, violations);
}

}  // namespace

bool has_operands(const TileSpec& spec) noexcept {
  const TileTraits& traits = *spec.traits;
  return spec.rank <= traits.max_rank && spec.inputs >= 1 && spec.inputs <= traits.max_inputs;
}

std::string operand_name(const TileSpec& spec, std::uint32_t index) {
  if (index == 0) return "output";
  return spec.inputs == 1 ? "input" : fmt::format("input {}", index - 1);
}

void check_spec(const TileSpec& spec, Violations& violations) {
  check_counts(spec, violations);
  check_expression(spec, violations);
  if (!has_operands(spec)) return;
  check_operands(spec, violations);
  check_budget(spec, violations);
}

TMAJIT_END
