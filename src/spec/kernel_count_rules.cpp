#include "spec/kernel_rules.hpp"
#include "spec/limits.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

bool is_known(Family family) noexcept {
  return family <= all_families.back();
}

struct Range {
  std::uint32_t least;
  std::uint32_t most;
};

void check_count(std::string_view rule, std::string_view field, std::uint32_t value, Range range,
                 const KernelSpec& spec, Violations& violations) {
  if (value >= range.least && value <= range.most) return;
  violations.add(
      {.rule = std::string(rule),
       .subject = std::string(field),
       .found = fmt::format("{}", value),
       .need = range.least == range.most
                   ? fmt::format("{} for a {} kernel", range.least, name(spec.family))
                   : fmt::format("{} to {} for a {} kernel", range.least, range.most, name(spec.family)),
       .legal = fmt::format("{} = {}", field, std::clamp(value, range.least, range.most)),
       .source = "tmajit, KernelSpec"});
}

void add_unused(std::uint64_t value, std::string field, std::string_view why, Violations& violations) {
  violations.add({.rule = "unused.zero",
                  .subject = field,
                  .found = fmt::format("{}", value),
                  .need = fmt::format("0 {}, so that equal kernels are equal bytes", why),
                  .legal = fmt::format("{} = 0", field),
                  .source = "tmajit, KernelSpec"});
}

void check_unused_operand(const KernelSpec& spec, std::uint32_t index, Violations& violations) {
  const auto& operand = spec.operands[index];
  const OperandSpec zero{.type = ElementType{}};
  if (operand == zero || operand == OperandSpec{}) return;
  violations.add(
      {.rule = "unused.zero",
       .subject = fmt::format("operands[{}]", index),
       .found = "set",
       .need = fmt::format("zero beyond the output, operand {}, so that equal kernels are equal bytes",
                           spec.inputs),
       .legal = fmt::format("operands[{}] left as it is made", index),
       .source = "tmajit, KernelSpec"});
}

void check_unused(const KernelSpec& spec, Violations& violations) {
  constexpr auto reserved = "until it means something";
  if (spec.reserved != 0) add_unused(spec.reserved, "reserved", reserved, violations);
  if (!has_operands(spec)) return;
  constexpr auto beyond = "beyond the rank";
  for (std::uint32_t d = spec.rank; d < max_map_rank; ++d) {
    if (spec.tile[d] != 0) add_unused(spec.tile[d], fmt::format("tile[{}]", d), beyond, violations);
    for (std::uint32_t i = 0; i <= spec.inputs; ++i) {
      const auto stride = spec.operands[i].element_strides[d];
      if (stride == 0) continue;
      add_unused(stride, fmt::format("{}: element_strides[{}]", operand_name(spec, i), d), beyond,
                 violations);
    }
  }
  for (std::uint32_t i = spec.inputs + 1U; i < spec.operands.size(); ++i) {
    check_unused_operand(spec, i, violations);
  }
}

Range ranks(Family family) noexcept {
  return family == Family::bulk ? Range{1, 1} : Range{1, max_map_rank};
}
Range input_counts(Family family) noexcept {
  return family == Family::map ? Range{1, max_inputs} : Range{1, 1};
}

}  // namespace

bool has_operands(const KernelSpec& spec) noexcept {
  const auto within = [](std::uint32_t value, Range range) {
    return value >= range.least && value <= range.most;
  };
  return is_known(spec.family) && within(spec.rank, ranks(spec.family)) &&
         within(spec.inputs, input_counts(spec.family));
}

std::string operand_name(const KernelSpec& spec, std::uint32_t index) {
  if (index == spec.inputs) return "output";
  return spec.inputs == 1 ? "input" : fmt::format("input {}", index);
}

void check_counts(const KernelSpec& spec, Violations& violations) {
  if (!is_known(spec.family)) {
    violations.add({.rule = "family.known",
                    .subject = "family",
                    .found = fmt::format("{}", static_cast<unsigned>(spec.family)),
                    .need = "one of the enumerators",
                    .legal = "copy, map, bulk or snapshot",
                    .source = "tmajit, Family"});
    return;  // what the other counts may be depends on it
  }
  const bool computing = computes(spec.family);
  check_count("rank.range", "rank", spec.rank, ranks(spec.family), spec, violations);
  check_count("inputs.range", "inputs", spec.inputs, input_counts(spec.family), spec, violations);
  check_count("stages.range", "stages", spec.stages, {1, max_stages}, spec, violations);
  check_count("output-stages.range", "output_stages", spec.output_stages,
              computing ? Range{min_output_stages, max_output_stages} : Range{0, 0}, spec, violations);
  check_count("warps.range", "warps", spec.warps, computing ? Range{1, max_warps} : Range{1, 1}, spec,
              violations);
  check_count("ctas-per-sm.range", "ctas_per_sm", spec.ctas_per_sm, {1, max_ctas_per_sm}, spec, violations);
  check_unused(spec, violations);
}

TMAJIT_END
