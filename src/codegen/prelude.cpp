#include "codegen/prelude.hpp"

#include <algorithm>
#include <span>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

std::span<const std::uint32_t> tile_of(const KernelSpec& spec) {
  return {spec.tile.data(), spec.rank};
}

/// Elements of input `operand`'s tensor that a tile spans, outermost first.
std::string extent_of(const KernelSpec& spec, const OperandSpec& operand) {
  std::array<std::uint32_t, max_map_rank> extent{};
  for (std::size_t d = 0; d < spec.rank; ++d) extent[d] = spec.tile[d] * operand.element_strides[d];
  return fmt::format("{{{{{}}}}}", fmt::join(extent.begin(), extent.begin() + spec.rank, ", "));
}

std::string placement_of(const KernelSpec& spec, const OperandSpec& operand, const SharedLayout::Ring& ring) {
  const TileLayout layout = tile_layout(operand.type, tile_of(spec), operand.swizzle);
  const std::uint32_t swizzle_mask = (1U << static_cast<std::uint32_t>(operand.swizzle)) - 1;
  return fmt::format(
      "{{.offset = {}, .stage_bytes = {}, .load_bytes = {}, .tile_bytes = {}, .pitch = {}, .swizzle_mask = "
      "{}}}",
      ring.offset, ring.stage_bytes, layout.transaction_bytes, ring.tile_bytes, layout.pitch_bytes,
      swizzle_mask);
}

/// copy and snapshot move bytes: one ring, and of the type only its size.
std::string forward_facts(const KernelSpec& spec, const SharedLayout& layout) {
  std::string out = fmt::format("using Element = u{};  // for its size\n", 8 * size_of(spec.output().type));
  out += fmt::format(
      "__device__ constexpr Extent<rank> extent() {{ return {}; }}  // of the source that a tile spans\n",
      extent_of(spec, spec.input(0)));
  out += fmt::format("__device__ constexpr Placement input() {{\n  return {};\n}}\n",
                     placement_of(spec, spec.input(0), layout.inputs[0]));
  return out;
}

std::string operand_facts(const KernelSpec& spec, const SharedLayout& layout) {
  std::string out = "\ntemplate <u32 i>\nstruct Input;\n";
  std::uint32_t widest = size_of(spec.output().type);
  for (std::uint32_t i = 0; i < spec.inputs; ++i) {
    widest = std::max(widest, size_of(spec.input(i).type));
    out += fmt::format(
        "template <>\nstruct Input<{}> {{\n  using Element = {};\n  static __device__ constexpr Extent<rank> "
        "extent() {{ return {}; }}\n"
        "  static __device__ constexpr Placement placement() {{\n    return {};\n  }}\n}};\n",
        i, device_type(spec.input(i).type), extent_of(spec, spec.input(i)),
        placement_of(spec, spec.input(i), layout.inputs[i]));
  }
  out += fmt::format(
      "struct Output {{\n  using Element = {};\n  static __device__ constexpr Placement placement() {{\n    "
      "return {};\n  }}\n}};\n",
      device_type(spec.output().type), placement_of(spec, spec.output(), layout.output));
  std::string indices;
  for (std::uint32_t i = 0; i < spec.inputs; ++i) indices += fmt::format("{}{}", i == 0 ? "" : ", ", i);
  out += fmt::format("template <u32... i>\nstruct Indices {{}};\nusing AllInputs = Indices<{}>;\n", indices);
  out += fmt::format("constexpr u32 widest_element = {};  // bytes\n", widest);
  return out;
}

}  // namespace

std::string_view device_type(ElementType type) {
  switch (type) {
    case ElementType::f32_ftz: return "f32";
    case ElementType::tf32_ftz: return "tf32";
    default: return name(type);
  }
}

std::string prelude(const KernelSpec& spec) {
  const SharedLayout layout = shared_layout(spec);
  const bool computes = spec.family == Family::map || spec.family == Family::bulk;
  const bool is_bulk = spec.family == Family::bulk;
  const auto tile = tile_of(spec);
  std::uint64_t elements = 1;
  for (const std::uint32_t n : tile) elements *= n;

  std::string out = "\n// ---- what this kernel is specialised for ----\nnamespace tmajit {\n\n";
  out += fmt::format("constexpr u32 rank = {};\n", spec.rank);
  out += fmt::format(
      "__device__ constexpr Extent<rank> tile() {{ return {{{{{}}}}}; }}  // elements, outermost first\n",
      fmt::join(tile, ", "));
  out += fmt::format("constexpr u32 stages = {};\n", spec.stages);
  out += fmt::format("constexpr u32 tiles_per_cta = {};{}\n", spec.tiles_per_cta,
                     spec.tiles_per_cta == 0 ? "  // a persistent grid" : "");
  out += fmt::format("constexpr u32 barriers = {};  // offset in shared memory\n", layout.barriers);
  if (computes) {
    out += fmt::format("constexpr u32 output_stages = {};\n", spec.output_stages);
    out += fmt::format("constexpr u32 warps = {};  // that compute\n", spec.warps);
    if (!is_bulk) out += fmt::format("constexpr u32 tile_elements = {};\n", elements);
    out += fmt::format("using Coordinate = {};\n", is_bulk ? "u64" : "u32");
    out += operand_facts(spec, layout);
  } else {
    out += forward_facts(spec, layout);
  }
  out += "\n}  // namespace tmajit\n";
  return out;
}

TMAJIT_END
