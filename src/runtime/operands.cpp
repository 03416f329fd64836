#include "runtime/operands.hpp"

#include "runtime/overlap.hpp"
#include "spec/kernel_rules.hpp"
#include "spec/map_rules.hpp"

#include <tmajit/error.hpp>

#include <array>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

const Operand& operand(std::span<const Operand> inputs, const Operand& output, std::uint32_t index) {
  return index < inputs.size() ? inputs[index] : output;
}

/// What validate(spec, views) and validate(map, address) would find, without what cannot be wrong any more:
/// the spec itself was valid when the kernel was made of it, and its maps' boxes with it. launch() takes
/// 0.4 µs this way instead of 2.
std::vector<Violation> broken_rules(const KernelSpec& spec, std::span<const Operand> inputs,
                                    const Operand& output) {
  const auto operands = static_cast<std::uint32_t>(inputs.size()) + 1;
  std::array<TensorView, max_inputs + 1> views;
  for (std::uint32_t i = 0; i < operands; ++i) views[i] = operand(inputs, output, i).view;
  Violations violations;
  check_views(spec, std::span(views).first(operands), violations);
  for (std::uint32_t i = 0; i < operands; ++i) {
    const Operand& one = operand(inputs, output, i);
    if (!has_map(spec, i) || one.view.rank != spec.rank) continue;  // the rank is reported already
    const TensorMapSpec map = tensor_map(spec, i, one.view, one.l2_promotion, one.oob_fill);
    violations.about(operand_name(spec, i));
    check_kind(map, violations);  // L2 promotion and OOB fill are the launch's
    check_address(map, one.address, violations);
  }
  return violations.take();
}

/// For an operand that the kernel addresses itself: bulk moves any element-aligned memory, but a snapshot's
/// images are stored by bulk copies.
void require_alignment(const KernelSpec& spec, std::uint32_t index, const Operand& operand) {
  const std::uint64_t unit = spec.family == Family::snapshot ? 16 : size_of(operand.view.type);
  if (operand.address % unit != 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: address {:#x} is not a multiple of {} bytes; {:#x} would be.",
                            operand_name(spec, index), operand.address, unit, operand.address / unit * unit));
  }
}

bool same_memory(const Operand& a, const Operand& b) noexcept {
  return a.address == b.address && size_of(a.view.type) == size_of(b.view.type) &&
         a.view.rank == b.view.rank && a.view.shape == b.view.shape && a.view.strides == b.view.strides;
}

/// map and bulk compute an element from the same element of each input, so that an output may replace an
/// input; anything else that overlaps is written by one CTA while another may still have to read it.
void require_apart(const KernelSpec& spec, std::uint32_t index, const Operand& input, const Operand& output) {
  const bool in_place_allowed = spec.family == Family::map || spec.family == Family::bulk;
  if (in_place_allowed && same_memory(input, output)) return;
  if (!may_overlap({input.view, input.address}, {output.view, output.address})) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format(
          "{} at {:#x} ({} bytes) and the output at {:#x} ({} bytes) overlap; they must be apart{}.",
          operand_name(spec, index), input.address, input.view.span_bytes(), output.address,
          output.view.span_bytes(),
          in_place_allowed ? ", or the same memory: equal address, shape, strides and element size" : ""));
}

}  // namespace

bool has_map(const KernelSpec& spec, std::uint32_t index) noexcept {
  switch (spec.family) {
    case Family::bulk: return false;
    case Family::snapshot: return index < spec.inputs;
    default: return true;
  }
}

void require_operands(const KernelSpec& spec, std::span<const Operand> inputs, const Operand& output) {
  if (inputs.size() != spec.inputs) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("this {} kernel takes {} input{}, but {} were given.", name(spec.family),
                            spec.inputs, spec.inputs == 1 ? "" : "s", inputs.size()));
  }
  if (std::vector<Violation> broken = broken_rules(spec, inputs, output); !broken.empty())
    throw SpecError(std::move(broken));

  for (std::uint32_t i = 0; i <= spec.inputs; ++i) {
    const Operand& one = operand(inputs, output, i);
    if (one.address == 0 && one.view.elements() != 0) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: the address is null.", operand_name(spec, i)));
    }
    if (!has_map(spec, i)) require_alignment(spec, i, one);
  }
  for (std::uint32_t i = 0; i < spec.inputs; ++i) require_apart(spec, i, inputs[i], output);
}

TMAJIT_END
