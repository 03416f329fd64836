#include "tiles/tile_spec.hpp"

#include "spec/counted.hpp"
#include "spec/dims.hpp"
#include "spec/limits.hpp"
#include "spec/map_view.hpp"
#include "spec/saturate.hpp"
#include "spec/views.hpp"

#include <tmajit/error.hpp>

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

/// `value` as a byte of the facts. A value that a byte cannot hold is stored in `beyond`.
std::uint8_t as_byte(std::uint32_t value, std::uint32_t& beyond) {
  const auto byte = sat_cast<std::uint8_t>(value);
  if (byte != value) beyond = value;
  return byte;
}

void set_rank(TileSpec& spec, std::uint32_t rank) {
  if (rank > max_view_rank) {
    refuse(fmt::format("a view of {} dimensions; the most is {}", rank, max_view_rank));
  }
  spec.rank = static_cast<std::uint8_t>(std::min(rank, max_map_rank));
  spec.asked.outer_dimensions = rank - spec.rank;
}

void check_length(std::size_t length, std::uint32_t rank, std::string_view what) {
  if (length != 0 && length != rank) {
    refuse(fmt::format("{} has {}, but the tensors have {}", what, counted(length, "number"),
                       counted(rank, "dimension")));
  }
}

OperandSpec operand_of(ElementType type, const TileSpec& spec, const TileOptions& options) {
  OperandSpec operand{.type = type, .swizzle = options.swizzle, .interleave = options.interleave};
  std::fill_n(operand.element_strides.begin(), spec.rank, std::uint8_t{1});
  return operand;
}

OperandSpec input_of(ElementType type, TileSpec& spec, const TileOptions& options) {
  auto operand = operand_of(type, spec, options);
  for (std::size_t d = 0; d < options.element_strides.size(); ++d) {
    operand.element_strides[d] =
        as_byte(as_u32(options.element_strides, d, "element_strides"), spec.asked.element_strides[d]);
  }
  return operand;
}

/// The stride by which a tile of `operand` skips elements. It is 1 in the innermost dimension, where the copy
/// engine ignores strides and the rules reject them.
std::uint32_t step_of(const TileSpec& spec, const OperandSpec& operand, std::uint32_t d) {
  return d + 1U == spec.rank ? 1U : std::max<std::uint32_t>(operand.element_strides[d], 1);
}

void set_tile(TileSpec& spec, const TileOptions& options) {
  for (std::size_t d = 0; d < options.box.size(); ++d) {
    const std::uint32_t step = step_of(spec, spec.input(0), static_cast<std::uint32_t>(d));
    const std::uint32_t box = as_u32(options.box, d, "box");
    spec.tile[d] = sat_cast<std::uint32_t>(ceil_div(box, step));
    if (box % step != 0) spec.asked.box[d] = box;
  }
}

/// Sets the caller's choices and the defaults of all other members. The spec's operands must be set.
void set_options(TileSpec& spec, const TileOptions& options, std::span<const std::uint64_t> extents) {
  set_tile(spec, options);
  spec.stages = as_byte(options.stages, spec.asked.stages);
  spec.output_stages = as_byte(options.output_stages, spec.asked.output_stages);
  spec.warps = as_byte(options.warps, spec.asked.warps);
  spec.ctas_per_sm = as_byte(options.ctas_per_sm, spec.asked.ctas_per_sm);
  spec.tiles_per_cta = as_byte(options.tiles_per_cta.value_or(0), spec.asked.tiles_per_cta);
  spec.l2_promotion = options.l2_promotion;
  spec.oob_fill = options.oob_fill;
  fill_defaults(spec, options, extents);
}

/// Extent of the box of `operand` for the spec's tile: a multiple of the element stride, because tiles are
/// adjacent. If that is not legal, but the longest legal box holds the same elements, the longest legal box.
std::uint32_t box_of(const TileSpec& spec, const OperandSpec& operand, std::uint32_t d) {
  const std::uint32_t step = step_of(spec, operand, d);
  const std::uint64_t whole = sat_mul(spec.tile[d], step);
  const bool fits = whole > max_box && whole - (step - 1) <= max_box;
  return sat_cast<std::uint32_t>(fits ? max_box : whole);
}

}  // namespace

bool TileSpec::has_map(std::uint32_t index) const noexcept {
  return !traits->by_addresses && !(traits->writes_images && index == 0);
}

ElementType TileSpec::map_type(const OperandSpec& operand) const noexcept {
  return traits->combines ? combined_as(combine_op(), operand.type).value_or(operand.type) : operand.type;
}

TileSpec tile_spec(const TileTraits& traits, std::string_view expression, std::span<const TensorView> views,
                   const TileOptions& given, CombineOp combine) {
  const std::size_t numbers = count_numbers(views);
  const std::size_t inputs = views.size() <= numbers ? 0 : views.size() - numbers - 1;
  if (inputs == 0 || inputs > traits.max_inputs) {
    refuse(fmt::format("a {} kernel of {}; {} possible", traits.name, counted(inputs, "input"),
                       traits.max_inputs == 1 ? "one is" : fmt::format("1 to {} are", traits.max_inputs)));
  }
  const TensorView& output = views.front();
  const TensorView& walked = traits.writes_images ? views[1] : output;
  for (std::size_t i = 0; i < inputs; ++i) {
    if (views[i + 1].rank == walked.rank) continue;
    refuse(fmt::format("input {} has {}, the output {}; they must agree", i,
                       counted(views[i + 1].rank, "dimension"), walked.rank));
  }
  TileSpec spec;
  spec.traits = &traits;
  set_rank(spec, traits.by_addresses ? 1 : walked.rank);
  spec.inputs = static_cast<std::uint8_t>(inputs);
  spec.numbers = sat_cast<std::uint8_t>(numbers);
  for (std::size_t k = 0; k < std::min(numbers, spec.number_types.size()); ++k)
    spec.number_types.at(k) = views[1 + inputs + k].type;
  spec.expression = expression;
  if (traits.combines) spec.combine = static_cast<std::uint32_t>(combine);
  check_length(given.box.size(), spec.view_rank(), "box");
  check_length(given.element_strides.size(), spec.view_rank(), "element_strides");
  TileOptions options = given;
  const std::size_t dropped = spec.asked.outer_dimensions;
  if (!given.box.empty()) options.box = std::span(given.box).subspan(dropped);
  if (!given.element_strides.empty())
    options.element_strides = std::span(given.element_strides).subspan(dropped);
  for (std::size_t i = 1; i <= inputs; ++i) spec.operands[i] = input_of(views[i].type, spec, options);
  spec.output() = operand_of(output.type, spec, options);
  if (traits.writes_images) {
    spec.output().swizzle = Swizzle::none;  // plain memory
    spec.output().interleave = Interleave::none;
  }
  const TensorView shape = traits.writes_images
                               ? over_strides(innermost(spec, walked), options.element_strides)
                           : traits.by_addresses ? output
                                                 : innermost(spec, output);
  set_options(spec, options, std::span(shape.shape).first(traits.by_addresses ? 0 : spec.rank));
  if (!traits.by_addresses && !traits.writes_images && spec.rank > 0 && is_known(output.type)) {
    const std::uint64_t columns = shape.shape[spec.rank - 1U];
    spec.row_tails = columns % (bulk_bytes / size_of(output.type)) != 0 ? 1 : 0;
  }
  return spec;
}

TensorMapSpec partial_map(const TileSpec& spec, std::uint32_t index) {
  const OperandSpec& operand = spec.operands[index];
  TensorMapSpec map{
      .type = spec.map_type(operand),
      .rank = spec.rank,
      // No family takes an interleaved layout. That is a rule of its own; other rules check the
      // operand as if it were not interleaved.
      .interleave = operand.interleave > Interleave::b32 ? operand.interleave : Interleave::none,
      .swizzle = operand.swizzle,
      .l2_promotion = spec.l2_promotion,
      // A store reads nothing out of bounds.
      .oob_fill = index > 0 ? spec.oob_fill : OobFill::zero};
  const BeyondFacts asked = index > 0 ? spec.asked : BeyondFacts{};
  for (std::uint32_t d = 0; d < std::min<std::uint32_t>(spec.rank, max_map_rank); ++d) {
    map.element_strides[d] = std::max<std::uint32_t>(operand.element_strides[d], asked.element_strides[d]);
    map.box[d] = asked.box[d] != 0 ? asked.box[d] : box_of(spec, operand, d);
  }
  return map;
}

TensorMapSpec tensor_map(const TileSpec& spec, std::uint32_t index, const TensorView& view) {
  if (index > spec.inputs || !spec.has_map(index)) {
    refuse(fmt::format("operand {} of a {} kernel has no tensor map", index, spec.traits->name));
  }
  if (view.rank != spec.rank || spec.rank > max_map_rank) {
    refuse(fmt::format("a view of {} for a kernel of rank {}; they must agree",
                       counted(view.rank, "dimension"), spec.rank));
  }
  TensorMapSpec map = partial_map(spec, index);
  set_view(map, view);
  return map;
}

TensorView over_strides(TensorView view, const Dims& strides) {
  for (std::uint32_t d = 0; d < view.rank && d < strides.size(); ++d) {
    view.shape[d] = ceil_div(view.shape[d], as_u32(strides, d, "element_strides"));
  }
  return view;
}

TensorView innermost(const TileSpec& spec, const TensorView& view) {
  const std::uint32_t outer = spec.asked.outer_dimensions;
  if (outer == 0) return view;
  TensorView inner{.type = view.type, .rank = spec.rank};
  std::copy_n(view.shape.begin() + outer, spec.rank, inner.shape.begin());
  std::copy_n(view.strides.begin() + outer, spec.rank, inner.strides.begin());
  return inner;
}

TensorView walked_view(const TileSpec& spec, std::uint32_t index, TensorView view) {
  const std::uint32_t outer = spec.asked.outer_dimensions;
  for (std::uint32_t d = 0; d < spec.rank; ++d) {
    view.shape[outer + d] = ceil_div(view.shape[outer + d], spec.operands[index].element_strides[d]);
  }
  return view;
}

TensorView output_view(const TileSpec& spec, const TensorView& source) {
  const std::uint32_t rank = spec.view_rank();
  if (source.rank != rank || rank > max_view_rank) {
    refuse(fmt::format("a view of {} for a kernel of rank {}; they must agree",
                       counted(source.rank, "dimension"), rank));
  }
  const TensorView walked = walked_view(spec, 1, source);
  std::uint64_t tiles = 1;
  for (std::uint32_t d = 0; d < rank; ++d) {
    const std::uint32_t outer = spec.asked.outer_dimensions;
    tiles = sat_mul(tiles, d < outer ? walked.shape[d] : ceil_div(walked.shape[d], spec.tile[d - outer]));
  }
  if (spec.traits->writes_images) {
    const std::array snapshot{tiles, operand_layout(spec, spec.input(0)).bytes};
    return dense_view(ElementType::u8, snapshot);
  }
  return dense_view(spec.output().type, std::span(walked.shape).first(rank));
}

TMAJIT_END
