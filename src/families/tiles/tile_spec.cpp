#include "families/tiles/tile_spec.hpp"

#include "spec/limits.hpp"
#include "spec/saturate.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <limits>

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

OperandSpec operand_of(ElementType type, const TileSpec& spec, const TileOptions& options) {
  OperandSpec operand{.type = type, .swizzle = options.swizzle, .interleave = options.interleave};
  std::fill_n(operand.element_strides.begin(), spec.rank, std::uint8_t{1});
  return operand;
}

OperandSpec input_of(ElementType type, const TileSpec& spec, const TileOptions& options) {
  auto operand = operand_of(type, spec, options);
  for (std::size_t d = 0; d < options.element_strides.size(); ++d) {
    operand.element_strides[d] =
        as_byte(options.element_strides[d], fmt::format("element_strides[{}]", d), max_element_stride);
  }
  return operand;
}

void set_tile(TileSpec& spec, const TileOptions& options) {
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

/// Takes what the caller chose and fills in the rest. Operands are set already.
void set_options(TileSpec& spec, const TileOptions& options, std::span<const std::uint64_t> extents) {
  set_tile(spec, options);
  spec.stages = as_byte(options.stages, "stages", max_stages);
  spec.output_stages = as_byte(options.output_stages, "output_stages", max_output_stages);
  spec.warps = as_byte(options.warps, "warps", max_warps);
  spec.ctas_per_sm = as_byte(options.ctas_per_sm, "ctas_per_sm", max_ctas_per_sm);
  spec.tiles_per_cta = as_byte(options.tiles_per_cta.value_or(0), "tiles_per_cta", max_tiles_per_cta);
  spec.l2_promotion = options.l2_promotion;
  spec.oob_fill = options.oob_fill;
  fill_defaults(spec, options, extents);
}

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

bool TileSpec::has_map(std::uint32_t index) const noexcept {
  return !traits->by_addresses && !(traits->writes_images && index >= inputs);
}

TileSpec tile_spec(const TileTraits& traits, std::string_view expression, std::span<const TensorView> views,
                   const TileOptions& options) {
  const std::size_t inputs = views.empty() ? 0 : views.size() - 1;
  if (inputs == 0 || inputs > traits.max_inputs) {
    refuse(fmt::format("a {} kernel of {} inputs; {} possible", traits.name, inputs,
                       traits.max_inputs == 1 ? "one is" : fmt::format("1 to {} are", traits.max_inputs)));
  }
  const TensorView& output = views.back();
  const TensorView& walked = traits.writes_images ? views.front() : output;
  for (std::size_t i = 0; i < inputs; ++i) {
    if (views[i].rank == walked.rank) continue;
    refuse(fmt::format("input {} has {} dimensions, the output {}; they must agree", i, views[i].rank,
                       walked.rank));
  }
  TileSpec spec;
  spec.traits = &traits;
  spec.rank = traits.by_addresses ? std::uint8_t{1} : checked_rank(walked.rank);
  spec.inputs = static_cast<std::uint8_t>(inputs);
  spec.expression = expression;
  check_length(options.box.size(), spec.rank, "box");
  check_length(options.element_strides.size(), spec.rank, "element_strides");
  for (std::size_t i = 0; i < inputs; ++i) spec.operands[i] = input_of(views[i].type, spec, options);
  spec.output() = operand_of(output.type, spec, options);
  if (traits.writes_images) {
    spec.output().swizzle = Swizzle::none;  // plain memory
    spec.output().interleave = Interleave::none;
  }
  const TensorView shape = traits.writes_images ? over_strides(walked, options.element_strides) : output;
  set_options(spec, options, std::span(shape.shape).first(traits.by_addresses ? 0 : spec.rank));
  if (!traits.by_addresses && !traits.writes_images && spec.rank > 0 && is_known(output.type)) {
    const std::uint64_t columns = output.shape[spec.rank - 1U];
    spec.row_tails = columns % (bulk_bytes / size_of(output.type)) != 0 ? 1 : 0;
  }
  return spec;
}

TensorMapSpec partial_map(const TileSpec& spec, std::uint32_t index) {
  const OperandSpec& operand = spec.operands[index];
  TensorMapSpec map{.type = operand.type,
                    .rank = spec.rank,
                    .interleave = operand.interleave,
                    .swizzle = operand.swizzle,
                    .l2_promotion = spec.l2_promotion,
                    // A store reads nothing out of bounds.
                    .oob_fill = index < spec.inputs ? spec.oob_fill : OobFill::zero};
  for (std::uint32_t d = 0; d < spec.rank; ++d) {
    map.element_strides[d] = operand.element_strides[d];
    map.box[d] =
        sat_cast<std::uint32_t>(sat_mul(spec.tile[d], std::max<std::uint32_t>(map.element_strides[d], 1)));
  }
  return map;
}

TensorMapSpec tensor_map(const TileSpec& spec, std::uint32_t index, const TensorView& view) {
  if (index > spec.inputs || !spec.has_map(index)) {
    refuse(fmt::format("operand {} of a {} kernel has no tensor map", index, spec.traits->name));
  }
  if (view.rank != spec.rank || spec.rank > max_map_rank) {
    refuse(fmt::format("a view of {} dimensions for a kernel of rank {}; they must agree", view.rank,
                       spec.rank));
  }
  const auto& operand = spec.operands[index];
  const std::uint64_t size = size_of(operand.type);
  TensorMapSpec map = partial_map(spec, index);
  for (std::uint32_t d = 0; d < spec.rank; ++d) {
    map.shape[d] = view.shape[d];
    map.strides[d] = d + 1U < spec.rank
                         ? outer_stride(view.shape[d], view.strides[d], size, operand.interleave)
                     : view.shape[d] == 1 ? size
                                          : sat_mul(static_cast<std::uint64_t>(view.strides[d]), size);
  }
  return map;
}

TensorView output_view(const TileSpec& spec, const TensorView& source) {
  const auto rank = std::min<std::uint32_t>(spec.rank, max_map_rank);
  if (source.rank != rank) {
    refuse(fmt::format("a view of {} dimensions for a kernel of rank {}; they must agree", source.rank,
                       spec.rank));
  }
  const TensorView walked = over_strides(source, spec.operands[0].element_strides);
  std::uint64_t tiles = 1;
  for (std::uint32_t d = 0; d < rank; ++d) tiles = sat_mul(tiles, ceil_div(walked.shape[d], spec.tile[d]));
  if (spec.traits->writes_images) {
    const std::array snapshot{tiles, operand_layout(spec, spec.operands[0]).bytes};
    return TensorView::contiguous(ElementType::u8, snapshot);
  }
  const auto type = spec.operands[std::min<std::uint32_t>(spec.inputs, max_inputs)].type;
  return TensorView::contiguous(type, std::span(walked.shape).first(rank));
}

TMAJIT_END
