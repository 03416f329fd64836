#include "spec/kernel_rules.hpp"
#include "spec/limits.hpp"
#include "spec/map_rules.hpp"
#include "spec/saturate.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

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

/// Whether type and rank are the spec's, so that the rest can be looked at.
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
                    .found = fmt::format("{}", view.rank),
                    .need = "the rank that the kernel was made for",
                    .legal = fmt::format("{} dimensions", rank),
                    .source = view_source});
  }
  return view.type == operand.type && view.rank == rank;
}

void check_stride_sign(const TensorView& view, bool output, Violations& violations) {
  for (std::uint32_t d = 0; d + 1 < view.rank; ++d) {
    const auto stride = view.strides[d];
    if (view.shape[d] <= 1) continue;  // never walked
    if (stride < 0) {
      violations.add({.rule = "view.negative-stride",
                      .subject = fmt::format("strides[{}]", d),
                      .found = fmt::format("{} elements", stride),
                      .need = "not negative: a tensor map only walks upwards",
                      .legal = "a view from the other end, its coordinates reversed",
                      .source = "cuTensorMapEncodeTiled, globalStrides"});
    } else if (stride == 0 && output) {
      violations.add({.rule = "view.overlap",
                      .subject = fmt::format("strides[{}]", d),
                      .found = "0 elements",
                      .need = "positive for an output, or several elements are written to one place",
                      .legal = fmt::format("shape[{}] = 1, or a stride of its own", d),
                      .source = view_source});
    }
  }
}

/// Whether walking dimension `a` alone and dimension `b` alone reach the same element.
bool coincide(const TensorView& view, std::uint32_t a, std::uint32_t b) {
  const auto stride_a = view.strides[a];
  const auto stride_b = view.strides[b];
  if (stride_a <= 0 || stride_b <= 0) return false;  // reported by its sign
  const auto common = std::gcd(stride_a, stride_b);
  return static_cast<std::uint64_t>(stride_b / common) < view.shape[a] &&
         static_cast<std::uint64_t>(stride_a / common) < view.shape[b];
}

void check_overlap(const TensorView& view, Violations& violations) {
  for (std::uint32_t a = 0; a < view.rank; ++a) {
    for (std::uint32_t b = a + 1; b < view.rank; ++b) {
      if (!coincide(view, a, b)) continue;
      violations.add(
          {.rule = "view.overlap",
           .subject = fmt::format("strides[{}] and strides[{}]", a, b),
           .found = fmt::format("{} and {} elements", view.strides[a], view.strides[b]),
           .need = "such that no two elements of an output lie in one place",
           .legal = fmt::format("strides[{}] of at least {} elements", a,
                                sat_mul(static_cast<std::uint64_t>(view.strides[b]), view.shape[b])),
           .source = view_source});
    }
  }
}

void check_bytes(const TensorView& view, Violations& violations) {
  if (view.span_bytes() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return;
  violations.add({.rule = "view.bytes",
                  .subject = "shape and strides",
                  .found = "2^63 bytes or more from the first to the last element",
                  .need = "less than 2^63 bytes",
                  .legal = "a smaller shape or smaller strides",
                  .source = view_source});
}

void check_tiled_view(const KernelSpec& spec, std::uint32_t index, const TensorView& view,
                      Violations& violations) {
  const bool output = index == spec.inputs;
  violations.about(operand_name(spec, index));
  if (check_identity(spec.operands[index], spec.rank, view, violations)) {
    auto map = tensor_map(spec, index, view);
    // Those are reported as such, not as the huge strides that they become.
    for (std::uint32_t d = 0; d + 1U < spec.rank; ++d) {
      if (view.strides[d] < 0) map.strides[d] = 0;
    }
    check_extents(map, violations);
    check_stride_sign(view, output, violations);
    check_bytes(view, violations);
    if (output) check_overlap(view, violations);
  }
  violations.about({});
}

void check_bulk_view(const KernelSpec& spec, std::uint32_t index, const TensorView& view,
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
                      .found = fmt::format("{} elements", view.strides[0]),
                      .need = "1: a bulk kernel moves what lies side by side",
                      .legal = "strides[0] = 1, or a map kernel",
                      .source = "PTX ISA, cp.async.bulk"});
    }
    check_bytes(view, violations);
  }
  violations.about({});
}

/// Every input over its element strides is as large as the output.
void check_shapes(const KernelSpec& spec, std::span<const TensorView> views, Violations& violations) {
  const auto& output = views.back();
  for (std::uint32_t i = 0; i < spec.inputs; ++i) {
    if (views[i].rank != spec.rank || output.rank != spec.rank) continue;  // reported by its rank
    auto expected = views[i];
    for (std::uint32_t d = 0; d < spec.rank; ++d) {
      expected.shape[d] = ceil_div(views[i].shape[d], spec.operands[i].element_strides[d]);
    }
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

void check_snapshot_output(const KernelSpec& spec, std::span<const TensorView> views,
                           Violations& violations) {
  if (views[0].rank != spec.rank) return;
  const auto expected = output_view(spec, views[0]);
  if (views[1] == expected) return;
  violations.add({.rule = "snapshot.shape",
                  .subject = "output",
                  .found = fmt::format("{} {}", name(views[1].type), text(dims(views[1]))),
                  .need = "dense bytes, a row for each tile's image",
                  .legal = fmt::format("u8 {}", text(dims(expected))),
                  .source = "tmajit, output_view"});
}

}  // namespace

void check_views(const KernelSpec& spec, std::span<const TensorView> views, Violations& violations) {
  if (!has_operands(spec)) return;
  if (views.size() != spec.inputs + 1U) {
    violations.add({.rule = "view.count",
                    .subject = "views",
                    .found = fmt::format("{}", views.size()),
                    .need = "one an input and one for the output",
                    .legal = fmt::format("{} views", spec.inputs + 1),
                    .source = "tmajit, validate"});
    return;
  }
  const bool snapshot = spec.family == Family::snapshot;
  for (std::uint32_t i = 0; i < (snapshot ? 1U : spec.inputs + 1U); ++i) {
    if (spec.family == Family::bulk) check_bulk_view(spec, i, views[i], violations);
    if (spec.family != Family::bulk) check_tiled_view(spec, i, views[i], violations);
  }
  if (snapshot) check_snapshot_output(spec, views, violations);
  if (!snapshot) check_shapes(spec, views, violations);
}

TMAJIT_END
