#include "families/tiles/tile_family.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

std::span<const std::uint32_t> tile_of(const TileSpec& spec) {
  return {spec.tile.data(), spec.rank};
}

/// Elements of an input's tensor that a tile spans, outermost first.
std::array<std::uint32_t, max_map_rank> extent_of(const TileSpec& spec, const OperandSpec& operand) {
  std::array<std::uint32_t, max_map_rank> extent{};
  for (std::size_t d = 0; d < spec.rank; ++d) extent[d] = spec.tile[d] * operand.element_strides[d];
  return extent;
}

std::string placement_of(const TileSpec& spec, const OperandSpec& operand, const SharedLayout::Ring& ring) {
  const TileLayout layout = tile_layout(operand.type, tile_of(spec), operand.swizzle);
  const std::uint32_t swizzle_mask = (1U << static_cast<std::uint32_t>(operand.swizzle)) - 1;
  return fmt::format(
      "{{.offset = {}, .stage_bytes = {}, .load_bytes = {}, .tile_bytes = {}, .pitch = {}, .swizzle_mask = "
      "{}}}",
      ring.offset, ring.stage_bytes, layout.transaction_bytes, ring.tile_bytes, layout.pitch_bytes,
      swizzle_mask);
}

/// Facts of kernels that only move bytes: they have one ring, and need only the size of the type.
std::string forward_facts(const TileSpec& spec, const SharedLayout& layout) {
  const auto extent = extent_of(spec, spec.input(0));
  std::string out =
      fmt::format("using Element = {};  // a type of the elements' size\n", bits_type(spec.output().type));
  out += extent_fact("extent", std::span(extent).first(spec.rank), "of the source that a tile spans");
  return out + fmt::format("__device__ constexpr Placement input() {{\n  return {};\n}}\n",
                           placement_of(spec, spec.input(0), layout.inputs[0]));
}

/// The type suffix of reduction instructions, for the element type of a tensor map.
std::string_view suffix_of(ElementType type) {
  switch (type) {
    case ElementType::i32: return "s32";
    case ElementType::i64: return "s64";
    default: return name(type);
  }
}

std::string thread_function(CombineOp op, ElementType type) {
  const bool is_half = type == ElementType::f16 || type == ElementType::bf16;
  const std::string_view suffix = suffix_of(type);
  switch (op) {
    case CombineOp::add: return fmt::format("ptx::global_reduce_add_{}{}", is_half ? "noftz_" : "", suffix);
    case CombineOp::min:
    case CombineOp::max:
      return fmt::format("{}_{}_{}", is_half ? "global" : "ptx::global_reduce", name(op), suffix);
    case CombineOp::inc:
    case CombineOp::dec: return fmt::format("ptx::global_reduce_{}_u32", name(op));
    default: return fmt::format("ptx::global_reduce_{}_b{}", name(op), 8 * size_of(type));
  }
}

/// Device functions that reduce a tile, and a single element at a row's end, into the destination.
std::string combine_facts(const TileSpec& spec) {
  std::string out = fmt::format(
      "__device__ __forceinline__ void combine_box(const TensorMap& destination, const Coordinates<rank>& "
      "at, "
      "u32 source) {{\n  ptx::tensor_reduce_{}(destination, at, source);\n}}\n",
      name(spec.combine_op()));
  if (spec.row_tails == 0) return out;
  return out + fmt::format(
                   "__device__ __forceinline__ void combine_element(Element* to, Element value) {{\n  "
                   "{}(to, value);\n}}\n",
                   thread_function(spec.combine_op(), spec.map_type(spec.output())));
}

/// The types of the numbers of the launch, and whether there are any.
std::string numbers_facts(const TileSpec& spec) {
  if (spec.numbers == 0) return policy_fact("Numbers", "NoNumbers");
  std::string out = number_fact("numbers_passed", spec.numbers) + "template <u32 k> struct Number;\n";
  for (std::uint32_t k = 0; k < spec.numbers; ++k) {
    out += fmt::format("template <> struct Number<{}> {{ using Element = {}; }};\n", k,
                       device_type(spec.number_types.at(k)));
  }
  return out + indices_fact("AllNumbers", 0, spec.numbers) + policy_fact("Numbers", "LaunchNumbers");
}

std::string operand_facts(const TileSpec& spec, const SharedLayout& layout) {
  std::string out = "\ntemplate <u32 i> struct Input;\n";
  std::uint32_t widest = size_of(spec.output().type);
  std::vector<std::uint32_t> indices;
  for (std::uint32_t i = 0; i < spec.inputs; ++i) {
    indices.push_back(i);
    widest = std::max(widest, size_of(spec.input(i).type));
    const auto extent = extent_of(spec, spec.input(i));
    out += fmt::format(
        "template <> struct Input<{}> {{\n  using Element = {};\n{}"
        "  static __device__ constexpr Placement placement() {{ return {}; }}\n}};\n",
        i, device_type(spec.input(i).type),
        extent_fact("extent", std::span(extent).first(spec.rank), {}, "  static "),
        placement_of(spec, spec.input(i), layout.inputs[i]));
  }
  out += fmt::format(
      "struct Output {{\n  using Element = {};\n  static __device__ constexpr Placement placement() {{ "
      "return {}; "
      "}}\n}};\n",
      device_type(spec.output().type), placement_of(spec, spec.output(), layout.output));
  out += fmt::format("template <u32... i> struct Indices {{}};\nusing AllInputs = Indices<{}>;\n",
                     fmt::join(indices, ", "));
  return out + number_fact("widest_element", widest, "bytes") + numbers_facts(spec);
}

std::string call_of(const TileSpec& spec, std::string_view function) {
  const std::string_view numbers = spec.numbers != 0 ? "tmajit::Numbers{numbers}" : "tmajit::Numbers{}";
  if (spec.traits->by_addresses) return fmt::format("{}({}, out, in, count)", function, numbers);
  const std::string_view ends = spec.row_tails != 0 ? "_and_ends" : "";
  const std::string_view tail = spec.row_tails != 0 ? ", tail" : "";
  if (!spec.traits->computes) {
    return fmt::format("{}{}({}, source, grid{})", function, ends,
                       spec.traits->writes_images ? "images" : "destination", tail);
  }
  std::string inputs;
  for (std::uint32_t i = 0; i < spec.inputs; ++i) inputs += fmt::format(", x{}", i);
  return fmt::format("{}{}({}, grid{}, out{})", function, ends, numbers, tail, inputs);
}

/// The start of a chunk within a row depends on the addresses. `t` and `tile_index` must not, so they are
/// computed from `g`.
void place_by_coordinate(SourceParts& parts) {
  std::string& lines = parts.before_expression;
  const ExpressionReads named = parts.reads;
  if (named.t || named.tile_index) lines += "  const u32 t[1] = {static_cast<u32>(g[0] % tile().at[0])};\n";
  if (named.tile_index) lines += "  const u32 tile_index = t[0];\n";
  parts.reads = {.g = named.g || named.t || named.tile_index};
}

}  // namespace

SourceParts TileFamily::source(const Candidate& candidate, std::string_view expression) const {
  const TileSpec spec = spec_of(candidate, expression);
  const SharedLayout layout = shared_layout(spec);
  const bool computes = spec.traits->computes;
  const bool is_row = spec.traits->by_addresses;
  SourceParts parts{.why = std::string(why_),
                    .map_rank = is_row ? 0U : spec.rank,
                    .min_ctas = spec.ctas_per_sm,
                    .call = call_of(spec, call_),
                    .reads = reads_of(expression),
                    .coordinates = spec.rank};
  parts.set("row_tail", spec.row_tails != 0);  // rows of the output may end within 16 bytes
  // A CTA may have more tiles than stages.
  parts.set("reloads", spec.tiles_per_cta == 0 || spec.tiles_per_cta > spec.stages);
  std::string& out = parts.facts;
  out += number_fact("rank", spec.rank);
  out += extent_fact("tile", tile_of(spec), "elements, outermost first");
  out += number_fact("stages", spec.stages);
  out += number_fact("tiles_per_cta", spec.tiles_per_cta, spec.tiles_per_cta == 0 ? "a persistent grid" : "");
  out += number_fact("barriers", layout.barriers, "offset in shared memory");
  if (!computes) {
    out += forward_facts(spec, layout);
    if (spec.traits->combines) out += combine_facts(spec);
    return parts;
  }
  std::uint64_t elements = 1;
  for (const std::uint32_t n : tile_of(spec)) elements *= n;
  out += number_fact("output_stages", spec.output_stages);
  out += number_fact("warps", spec.warps, "that compute");
  if (!is_row) out += number_fact("tile_elements", elements);
  out += fmt::format("//@ used Coordinate\nusing Coordinate = {};\n//@ end\n", is_row ? "u64" : "u32");
  out += operand_facts(spec, layout);
  if (is_row) place_by_coordinate(parts);
  parts.has_place = true;
  const bool reads = parts.reads.g || parts.reads.t || parts.reads.tile_index;
  out += policy_fact("Where", reads ? "Somewhere" : "Nowhere",
                     "whether the expression reads an element's position");
  parts.result = spec.output().type;
  for (std::uint32_t i = 0; i < spec.inputs; ++i) {
    parts.inputs.push_back(spec.input(i).type);
    parts.elements.push_back(spec.input(i).type);
  }
  parts.elements.push_back(spec.output().type);
  parts.set("numbers", spec.numbers > 0);  // numbers of the launch follow the inputs
  parts.numbers = spec.numbers;
  for (std::uint32_t k = 0; k < spec.numbers; ++k) {
    parts.inputs.push_back(spec.number_types.at(k));
    parts.elements.push_back(spec.number_types.at(k));
  }
  return parts;
}

TMAJIT_END
