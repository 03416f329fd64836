#include "spec/kernel_rules.hpp"
#include "spec/limits.hpp"
#include "spec/map_rules.hpp"
#include "spec/saturate.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// The part of an operand's tensor map that is known before there is a tensor.
TensorMapSpec partial_map(const KernelSpec& spec, const OperandSpec& operand) {
  TensorMapSpec map{
      .type = operand.type, .rank = spec.rank, .interleave = operand.interleave, .swizzle = operand.swizzle};
  for (std::uint32_t d = 0; d < spec.rank; ++d) {
    map.element_strides[d] = operand.element_strides[d];
    map.box[d] =
        sat_cast<std::uint32_t>(sat_mul(spec.tile[d], std::max<std::uint32_t>(map.element_strides[d], 1)));
  }
  return map;
}

void check_interleave(const OperandSpec& operand, Violations& violations) {
  if (operand.interleave == Interleave::none || operand.interleave > Interleave::b32) return;
  violations.add(
      {.rule = "interleave.unsupported",
       .subject = "interleave",
       .found = std::string(name(operand.interleave)),
       .need = "none: an interleaved tensor map counts slices of channels, these kernels count elements",
       .legal = "interleave none, or a kernel of your own (custom_source)",
       .source = "tmajit, KernelSpec"});
}

void check_output_strides(const KernelSpec& spec, Violations& violations) {
  // A store walks its tile densely; skipping is the inputs' business.
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

void check_chunk(const KernelSpec& spec, const OperandSpec& operand, Violations& violations) {
  if (!is_known(operand.type)) return;
  const auto size = size_of(operand.type);
  const auto bytes = sat_mul(spec.tile[0], size);
  if (bytes != 0 && bytes % bulk_bytes == 0) return;
  const auto legal = round_up(std::max<std::uint64_t>(bytes, 1), bulk_bytes) / size;
  violations.add({.rule = "chunk.bytes",
                  .subject = "tile[0]",
                  .found = fmt::format("{} bytes ({} × {})", bytes, spec.tile[0], name(operand.type)),
                  .need = "a positive multiple of 16 bytes",
                  .legal = fmt::format("tile[0] = {}", legal),
                  .source = "PTX ISA, cp.async.bulk, size"});
}

void check_bulk_operand(const KernelSpec& spec, const OperandSpec& operand, Violations& violations) {
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

void check_operand(const KernelSpec& spec, std::uint32_t index, Violations& violations) {
  const auto& operand = spec.operands[index];
  const auto map = partial_map(spec, operand);
  violations.about(operand_name(spec, index));
  check_kind(map, violations);
  check_interleave(operand, violations);
  if (spec.family == Family::bulk) {
    check_bulk_operand(spec, operand, violations);
    if (index == 0 && operand.element_strides[0] != 1) {
      violations.add({.rule = "element-strides.innermost",
                      .subject = "element_strides[0]",
                      .found = fmt::format("{}", operand.element_strides[0]),
                      .need = "1: bulk copies skip nothing",
                      .legal = "element_strides[0] = 1",
                      .source = "PTX ISA, cp.async.bulk"});
    }
  } else {
    check_box(map, violations);
  }
  violations.about({});
}

/// What types a copy may go between: it moves bits, so these must mean the same on both sides.
bool copies_as(ElementType from, ElementType to) noexcept {
  if (from == to) return true;
  if (!is_known(from) || !is_known(to) || size_of(from) != size_of(to)) return false;
  const bool integers = !is_float(from) && !is_float(to);  // a conversion between them wraps: the same bits
  return integers || (is_float(from) && is_float(to) && size_of(from) == 4);
}

void check_copy(const KernelSpec& spec, Violations& violations) {
  const auto& source = spec.input(0);
  const auto& destination = spec.output();
  violations.about("output");
  if (!copies_as(source.type, destination.type)) {
    violations.add({.rule = "copy.type",
                    .subject = "type",
                    .found = fmt::format("{} for a source of {}", name(destination.type), name(source.type)),
                    .need = "a type with the same bits: a copy converts nothing",
                    .legal = fmt::format("{}, or a map kernel with the expression \"x\"", name(source.type)),
                    .source = "tmajit, Family::copy"});
  }
  if (source.swizzle != destination.swizzle) {
    violations.add(
        {.rule = "copy.swizzle",
         .subject = "swizzle",
         .found = fmt::format("{}, {} at the source", name(destination.swizzle), name(source.swizzle)),
         .need = "the source's: a tile is stored from where it was loaded to",
         .legal = fmt::format("swizzle {}", name(source.swizzle)),
         .source = "tmajit, Family::copy"});
  }
  violations.about({});
}

void check_snapshot_output(const KernelSpec& spec, Violations& violations) {
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
                  .source = "tmajit, Family::snapshot"});
}

}  // namespace

void check_operands(const KernelSpec& spec, Violations& violations) {
  if (!has_operands(spec)) return;
  for (std::uint32_t i = 0; i < spec.inputs; ++i) check_operand(spec, i, violations);
  if (spec.family == Family::snapshot) {
    check_snapshot_output(spec, violations);
  } else {
    check_operand(spec, spec.inputs, violations);
  }
  violations.about("output");
  check_output_strides(spec, violations);
  violations.about({});
  if (spec.family == Family::copy) check_copy(spec, violations);
}

TMAJIT_END
