#include "spec/default_tile.hpp"
#include "spec/limits.hpp"
#include "spec/parse_name.hpp"
#include "spec/saturate.hpp"

#include <tmajit/error.hpp>
#include <tmajit/kernel_spec.hpp>

#include <algorithm>
#include <limits>
#include <string>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

/// `value` as the byte that a spec has for it. validate() judges the range; what a byte cannot hold, it
/// cannot be shown.
std::uint8_t as_byte(std::uint32_t value, std::string_view what, std::uint32_t most) {
  if (value > std::numeric_limits<std::uint8_t>::max())
    refuse(fmt::format("{} = {}; at most {} is legal", what, value, most));
  return static_cast<std::uint8_t>(value);
}

std::uint8_t checked_rank(std::uint32_t rank) {
  if (rank > max_map_rank) {
    refuse(fmt::format("a view of {} dimensions; a tensor map has at most {}: merge or loop over dimensions",
                       rank, max_map_rank));
  }
  return static_cast<std::uint8_t>(rank);
}

void check_length(std::size_t length, std::uint32_t rank, std::string_view what) {
  if (length != 0 && length != rank) {
    refuse(fmt::format("{} has {} entries, but the tensors have {} dimensions", what, length, rank));
  }
}

OperandSpec operand_of(ElementType type, const KernelSpec& spec, const TileOptions& options) {
  OperandSpec operand{.type = type, .swizzle = options.swizzle, .interleave = options.interleave};
  std::fill_n(operand.element_strides.begin(), spec.rank, std::uint8_t{1});
  return operand;
}

OperandSpec input_of(ElementType type, const KernelSpec& spec, const TileOptions& options) {
  auto operand = operand_of(type, spec, options);
  for (std::size_t d = 0; d < options.element_strides.size(); ++d) {
    operand.element_strides[d] =
        as_byte(options.element_strides[d], fmt::format("element_strides[{}]", d), max_element_stride);
  }
  return operand;
}

void set_tile(KernelSpec& spec, const TileOptions& options) {
  for (std::size_t d = 0; d < options.box.size(); ++d) {
    const std::uint32_t stride = std::max<std::uint32_t>(spec.input(0).element_strides[d], 1);
    if (options.box[d] % stride != 0) {
      refuse(fmt::format("box[{}] = {} is not a multiple of element_strides[{}] = {}; {} or {} would be", d,
                         options.box[d], d, stride, round_down(options.box[d], stride),
                         round_up(options.box[d], stride)));
    }
    spec.tile[d] = options.box[d] / stride;
  }
}

void set_expression(KernelSpec& spec, std::string_view expression) {
  if (expression.size() > max_expression) {
    refuse(fmt::format("an expression of {} characters; at most {} are possible", expression.size(),
                       max_expression));
  }
  // Would end the text early, and what follows it would be lost without a word.
  if (expression.find('\0') != std::string_view::npos) refuse("the expression contains a NUL character");
  std::ranges::copy(expression, spec.expression.begin());
}

/// Takes what the caller chose and fills in the rest. Operands are set already.
void set_options(KernelSpec& spec, const TileOptions& options, std::span<const std::uint64_t> extents) {
  set_tile(spec, options);
  spec.stages = as_byte(options.stages, "stages", max_stages);
  spec.output_stages = as_byte(options.output_stages, "output_stages", max_output_stages);
  spec.warps = as_byte(options.warps, "warps", max_warps);
  spec.ctas_per_sm = as_byte(options.ctas_per_sm, "ctas_per_sm", max_ctas_per_sm);
  spec.tiles_per_cta = as_byte(options.tiles_per_cta.value_or(0), "tiles_per_cta", max_tiles_per_cta);
  fill_defaults(spec,
                {.tile = options.box.empty(),
                 .stages = options.stages == 0,
                 .output_stages = options.output_stages == 0,
                 .warps = options.warps == 0,
                 .ctas_per_sm = options.ctas_per_sm == 0,
                 .tiles_per_cta = !options.tiles_per_cta},
                extents);
}

/// A spec whose bytes are all zero, so that what stays unused is, too.
KernelSpec blank(Family family, std::uint8_t rank, std::uint8_t inputs) {
  KernelSpec spec;
  for (auto& operand : spec.operands) operand.type = ElementType{};
  spec.family = family;
  spec.rank = rank;
  spec.inputs = inputs;
  return spec;
}

/// The tiled families: `sources` in, `output` out.
KernelSpec tiled_spec(Family family, std::span<const TensorView> sources, ElementType output,
                      std::span<const std::uint64_t> extents, std::string_view expression,
                      const TileOptions& options) {
  auto spec =
      blank(family, static_cast<std::uint8_t>(extents.size()), static_cast<std::uint8_t>(sources.size()));
  check_length(options.box.size(), spec.rank, "box");
  check_length(options.element_strides.size(), spec.rank, "element_strides");
  for (std::size_t i = 0; i < sources.size(); ++i)
    spec.operands[i] = input_of(sources[i].type, spec, options);
  spec.output() = operand_of(output, spec, options);
  set_expression(spec, expression);
  set_options(spec, options, extents);
  return spec;
}

/// The shape that tiles walk over: a source's shape over its element strides.
std::array<std::uint64_t, max_map_rank> walked_shape(const TensorView& source, std::uint32_t rank,
                                                     std::span<const std::uint32_t> element_strides) {
  std::array<std::uint64_t, max_map_rank> shape{};
  for (std::uint32_t d = 0; d < rank; ++d) {
    shape[d] = ceil_div(source.shape[d], d < element_strides.size() ? element_strides[d] : 1);
  }
  return shape;
}

}  // namespace

std::string_view name(Family family) noexcept {
  switch (family) {
    case Family::copy: return "copy";
    case Family::map: return "map";
    case Family::bulk: return "bulk";
    case Family::snapshot: return "snapshot";
  }
  return "unknown";
}

Family parse_family(std::string_view text) {
  return parse_name<Family>(text, "kernel family", all_families);
}

KernelSpec copy_spec(const TensorView& source, const TensorView& destination, const TileOptions& options) {
  if (source.rank != destination.rank) {
    refuse(fmt::format("the source has {} dimensions, the destination {}; they must agree", source.rank,
                       destination.rank));
  }
  const auto rank = checked_rank(destination.rank);
  return tiled_spec(Family::copy, {&source, 1}, destination.type, std::span(destination.shape).first(rank),
                    {}, options);
}

KernelSpec map_spec(std::string_view expression, std::span<const TensorView> inputs, const TensorView& output,
                    const TileOptions& options) {
  if (inputs.empty() || inputs.size() > max_inputs) {
    refuse(fmt::format("a map of {} inputs; 1 to {} are possible", inputs.size(), max_inputs));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].rank == output.rank) continue;
    refuse(fmt::format("input {} has {} dimensions, the output {}; they must agree", i, inputs[i].rank,
                       output.rank));
  }
  const auto rank = checked_rank(output.rank);
  return tiled_spec(Family::map, inputs, output.type, std::span(output.shape).first(rank), expression,
                    options);
}

KernelSpec bulk_spec(std::string_view expression, ElementType input, ElementType output,
                     const TileOptions& options) {
  auto spec = blank(Family::bulk, 1, 1);
  check_length(options.box.size(), spec.rank, "box");
  check_length(options.element_strides.size(), spec.rank, "element_strides");
  spec.operands[0] = input_of(input, spec, options);
  spec.operands[1] = operand_of(output, spec, options);
  set_expression(spec, expression);
  set_options(spec, options, {});
  return spec;
}

KernelSpec snapshot_spec(const TensorView& source, const TileOptions& options) {
  const auto rank = checked_rank(source.rank);
  const auto shape = walked_shape(source, rank, options.element_strides);
  auto spec =
      tiled_spec(Family::snapshot, {&source, 1}, ElementType::u8, std::span(shape).first(rank), {}, options);
  spec.output().swizzle = Swizzle::none;  // plain memory
  spec.output().interleave = Interleave::none;
  return spec;
}

namespace {

/// The stride of a dimension, in bytes. One that is never walked (extent 1) is whatever the driver takes:
/// NumPy gives a view [1, 5] a stride that no tensor map may have.
std::uint64_t outer_stride(std::uint64_t extent, std::int64_t stride, std::uint64_t size,
                           Interleave interleave) {
  // A negative stride becomes one far above the legal limit, which validate() reports.
  const auto bytes = sat_mul(static_cast<std::uint64_t>(stride), size);
  const std::uint64_t unit = stride_unit(interleave);
  if (extent != 1 || (bytes != 0 && bytes % unit == 0 && bytes < max_stride_bytes)) return bytes;
  return bytes < max_stride_bytes - unit ? std::max(round_up(bytes, unit), unit) : unit;
}

}  // namespace

TensorMapSpec tensor_map(const KernelSpec& spec, std::uint32_t index, const TensorView& view,
                         L2Promotion l2_promotion, OobFill oob_fill) {
  const auto maps = spec.family == Family::bulk       ? 0U
                    : spec.family == Family::snapshot ? 1U
                                                      : std::min<std::uint32_t>(spec.inputs, max_inputs) + 1U;
  if (index >= maps) {
    refuse(fmt::format("operand {} of a {} kernel has no tensor map; {} operands have one", index,
                       name(spec.family), maps));
  }
  if (view.rank != spec.rank || spec.rank > max_map_rank) {
    refuse(fmt::format("a view of {} dimensions for a kernel of rank {}; they must agree", view.rank,
                       spec.rank));
  }
  const auto& operand = spec.operands[index];
  const std::uint64_t size = size_of(operand.type);
  TensorMapSpec map{.type = operand.type,
                    .rank = spec.rank,
                    .interleave = operand.interleave,
                    .swizzle = operand.swizzle,
                    .l2_promotion = l2_promotion,
                    .oob_fill = oob_fill};
  for (std::uint32_t d = 0; d < spec.rank; ++d) {
    map.shape[d] = view.shape[d];
    map.strides[d] = d + 1U < spec.rank
                         ? outer_stride(view.shape[d], view.strides[d], size, operand.interleave)
                     : view.shape[d] == 1 ? size
                                          : sat_mul(static_cast<std::uint64_t>(view.strides[d]), size);
    map.element_strides[d] = operand.element_strides[d];
    map.box[d] =
        sat_cast<std::uint32_t>(sat_mul(spec.tile[d], std::max<std::uint32_t>(map.element_strides[d], 1)));
  }
  return map;
}

TensorView output_view(const KernelSpec& spec, const TensorView& source) {
  const auto rank = std::min<std::uint32_t>(spec.rank, max_map_rank);
  if (source.rank != rank) {
    refuse(fmt::format("a view of {} dimensions for a kernel of rank {}; they must agree", source.rank,
                       spec.rank));
  }
  std::array<std::uint64_t, max_map_rank> shape{};
  std::uint64_t tiles = 1;
  for (std::uint32_t d = 0; d < rank; ++d) {
    shape[d] = ceil_div(source.shape[d], spec.operands[0].element_strides[d]);
    tiles = sat_mul(tiles, ceil_div(shape[d], spec.tile[d]));
  }
  if (spec.family == Family::snapshot) {
    const std::array snapshot{tiles, operand_layout(spec, spec.operands[0]).bytes};
    return TensorView::contiguous(ElementType::u8, snapshot);
  }
  const auto type = spec.operands[std::min<std::uint32_t>(spec.inputs, max_inputs)].type;
  return TensorView::contiguous(type, std::span(shape).first(rank));
}

TMAJIT_END
