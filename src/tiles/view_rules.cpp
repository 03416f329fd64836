#include "spec/counted.hpp"
#include "spec/limits.hpp"
#include "spec/map_rules.hpp"
#include "spec/map_view.hpp"
#include "spec/memory_rules.hpp"
#include "tiles/tile_rules.hpp"

#include <algorithm>
#include <array>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr auto view_source = "tmajit, TensorView";

std::string text(std::span<const std::uint64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::span<const std::uint64_t> dims(const TensorView& view) {
  return std::span(view.shape).first(std::min(view.rank, max_view_rank));
}

/// Checks that type and rank are the spec's. Returns whether they are, as further rules require.
bool check_identity(const OperandSpec& operand, std::uint32_t rank, const TensorView& view,
                    Violations& violations) {
  if (view.type != operand.type) {
    violations.add({.rule = "view.type",
                    .subject = "type",
                    .found = std::string(name(view.type)),
                    .need = "the type that the kernel was made for",
                    .legal = std::string(name(operand.type)),
                    .source = view_source});
  }
  if (view.rank != rank) {
    violations.add({.rule = "view.rank",
                    .subject = "rank",
                    .found = counted(view.rank, "dimension"),
                    .need = "the rank that the kernel was made for",
                    .legal = counted(rank, "dimension"),
                    .source = view_source});
  }
  return view.type == operand.type && view.rank == rank;
}

void check_tiled_view(const TileSpec& spec, std::uint32_t index, const TensorView& view,
                      Violations& violations) {
  violations.about(operand_name(spec, index), spec.asked.outer_dimensions);
  const bool same = check_identity(spec.operands[index], spec.view_rank(), view, violations);
  if (same) {
    const TensorView inner = innermost(spec, view);
    check_view(tensor_map(spec, index, inner), inner, violations);
  }
  violations.about({});
  if (!same || !is_known(view.type)) return;  // an unknown type is reported by check_spec()
  const auto name = [&] { return operand_name(spec, index); };
  const std::size_t before = violations.count();
  check_view_limits(view, name, violations);
  if (index == 0 && violations.count() == before) check_written_once(view, 0, name, violations);
}

void check_bulk_view(const TileSpec& spec, std::uint32_t index, const TensorView& view,
                     Violations& violations) {
  violations.about(operand_name(spec, index));
  if (check_identity(spec.operands[index], 1, view, violations)) {
    if (view.shape[0] == 0) {
      violations.add({.rule = "shape.range",
                      .subject = "shape[0]",
                      .found = "0",
                      .need = "at least 1 element",
                      .legal = "shape[0] = 1; an empty tensor needs no kernel",
                      .source = view_source});
    }
    if (view.strides[0] != 1 && view.shape[0] > 1) {
      violations.add({.rule = "strides.innermost",
                      .subject = "strides[0]",
                      .found = fmt::format("{}", view.strides[0]),
                      .need = "1: a bulk kernel moves contiguous elements",
                      .legal = "strides[0] = 1, or a map kernel",
                      .source = "PTX ISA, cp.async.bulk"});
    }
  }
  violations.about({});
}

/// Checks that each input's shape, divided by its element strides, is the output's.
void check_shapes(const TileSpec& spec, std::span<const TensorView> views, Violations& violations) {
  const auto& output = views.front();
  for (std::uint32_t i = 1; i <= spec.inputs; ++i) {
    const std::uint32_t rank = spec.view_rank();
    if (views[i].rank != rank || output.rank != rank || rank > max_view_rank)
      continue;  // reported by its rank
    const TensorView expected = walked_view(spec, i, views[i]);
    if (std::ranges::equal(dims(expected), dims(output))) continue;
    violations.add({.rule = "view.shape",
                    .subject = "output: shape",
                    .found = text(dims(output)),
                    .need = fmt::format("{}'s shape {} over its element strides", operand_name(spec, i),
                                        text(dims(views[i]))),
                    .legal = text(dims(expected)),
                    .source = view_source});
  }
}

void check_snapshot_views(const TileSpec& spec, std::span<const TensorView> views, Violations& violations) {
  if (views[1].rank != spec.view_rank() || views[1].rank > max_view_rank) return;
  const auto expected = output_view(spec, views[1]);
  if (views[0] == expected) return;
  violations.add({.rule = "snapshot.shape",
                  .subject = "output",
                  .found = fmt::format("{} {}", name(views[0].type), text(dims(views[0]))),
                  .need = "dense bytes, a row for each tile's image",
                  .legal = fmt::format("u8 {}", text(dims(expected))),
                  .source = "tmajit, output_view"});
}

/// The alignment in bytes that a tensor without a tensor map needs: that of an element, or for a snapshot's
/// images, which bulk copies store, 16.
std::uint64_t address_unit(const TileSpec& spec, const Tensor& tensor) {
  return spec.traits->writes_images ? 16 : size_of(tensor.view.type);
}

/// Checks the tensors whose address is known.
void check_memory(const TileSpec& spec, std::span<const Tensor> tensors, Violations& violations) {
  std::array<PlacedOperand, max_inputs + 1> operands{};
  std::array<std::uint32_t, max_inputs + 1> operand_index{};
  std::size_t placed = 0;
  for (std::uint32_t i = 0; i <= spec.inputs; ++i) {
    const Tensor& tensor = tensors[i];
    if (tensor.address == 0) continue;
    // An element is computed from the same element of each input, so that an output may replace an input.
    operand_index[placed] = i;
    operands[placed++] = {&tensor.view, tensor.address, i == 0, 0, spec.traits->computes};
    const auto name = [&] { return operand_name(spec, i); };
    if (!spec.has_map(i)) {
      check_placed_address(tensor.view, tensor.address, address_unit(spec, tensor), name, violations);
    } else {
      violations.about(operand_name(spec, i));
      check_address(partial_map(spec, i), tensor.address, violations);
      violations.about({});
    }
  }
  check_disjoint(
      std::span(operands).first(placed), [&](std::size_t i) { return operand_name(spec, operand_index[i]); },
      violations);
}

}  // namespace

void check_views(const TileSpec& spec, std::span<const TensorView> views, Violations& violations) {
  if (!has_operands(spec)) return;
  if (views.size() != spec.inputs + 1U) {
    violations.add({.rule = "view.count",
                    .subject = "views",
                    .found = fmt::format("{}", views.size()),
                    .need = "one for the output and one an input",
                    .legal = fmt::format("{} views", spec.inputs + 1),
                    .source = "tmajit, validate"});
    return;
  }
  const bool snapshot = spec.traits->writes_images;
  for (std::uint32_t i = snapshot ? 1 : 0; i <= spec.inputs; ++i) {
    if (spec.traits->by_addresses) check_bulk_view(spec, i, views[i], violations);
    if (!spec.traits->by_addresses) check_tiled_view(spec, i, views[i], violations);
  }
  if (snapshot) check_snapshot_views(spec, views, violations);
  if (!snapshot) check_shapes(spec, views, violations);
}

void check_tiles(const TileSpec& spec, std::span<const Tensor> tensors, Violations& violations) {
  check_spec(spec, violations);
  std::vector<TensorView> views;
  for (const Tensor& tensor : tensors) views.push_back(tensor.view);
  check_views(spec, views, violations);
  if (has_operands(spec) && tensors.size() == spec.inputs + 1U) check_memory(spec, tensors, violations);
}

TMAJIT_END
