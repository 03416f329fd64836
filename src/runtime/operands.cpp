#include "runtime/operands.hpp"

#include "runtime/overlap.hpp"

#include <tmajit/validate.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

std::string label(const KernelSpec& spec, std::uint32_t index) {
  return index < spec.inputs ? fmt::format("input {}", index) : "output";
}

const Operand& operand(std::span<const Operand> inputs, const Operand& output, std::uint32_t index) {
  return index < inputs.size() ? inputs[index] : output;
}

/// The rules that need more than the views: the address, and the choices a launch makes for a map.
std::vector<Violation> check_map(const KernelSpec& spec, std::uint32_t index, const Operand& operand) {
  const TensorMapSpec map = tensor_map(spec, index, operand.view, operand.l2_promotion, operand.oob_fill);
  std::vector<Violation> broken = validate(map, operand.address);
  for (Violation& violation : broken) {
    violation.subject = fmt::format("{}: {}", label(spec, index), violation.subject);
  }
  return broken;
}

/// For an operand that the kernel addresses itself: bulk moves any element-aligned memory, but a snapshot's
/// images are stored by bulk copies.
void check_address(const KernelSpec& spec, std::uint32_t index, const Operand& operand) {
  const std::uint64_t unit = spec.family == Family::snapshot ? 16 : size_of(operand.view.type);
  if (operand.address % unit != 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: address {:#x} is not a multiple of {} bytes; {:#x} would be.",
                            label(spec, index), operand.address, unit, operand.address / unit * unit));
  }
}

bool same_memory(const Operand& a, const Operand& b) noexcept {
  return a.address == b.address && size_of(a.view.type) == size_of(b.view.type) &&
         a.view.rank == b.view.rank && a.view.shape == b.view.shape && a.view.strides == b.view.strides;
}

/// map and bulk compute an element from the same element of each input, so that an output may replace an
/// input; anything else that overlaps is written by one CTA while another may still have to read it.
void check_overlap(const KernelSpec& spec, std::uint32_t index, const Operand& input, const Operand& output) {
  const bool in_place_allowed = spec.family == Family::map || spec.family == Family::bulk;
  if (in_place_allowed && same_memory(input, output)) return;
  if (!may_overlap({input.view, input.address}, {output.view, output.address})) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format(
          "{} at {:#x} ({} bytes) and the output at {:#x} ({} bytes) overlap; they must be apart{}.",
          label(spec, index), input.address, input.view.span_bytes(), output.address,
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

void check_operands(const KernelSpec& spec, std::span<const Operand> inputs, const Operand& output) {
  if (inputs.size() != spec.inputs) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("this {} kernel takes {} input{}, but {} were given.", name(spec.family),
                            spec.inputs, spec.inputs == 1 ? "" : "s", inputs.size()));
  }
  const auto operands = static_cast<std::uint32_t>(inputs.size()) + 1;
  std::array<TensorView, max_inputs + 1> views;
  for (std::uint32_t i = 0; i < operands; ++i) views[i] = operand(inputs, output, i).view;
  std::vector<Violation> broken = validate(spec, std::span(views).first(operands));
  if (broken.empty()) {  // else the same rules would be reported twice
    for (std::uint32_t i = 0; i < operands; ++i) {
      if (!has_map(spec, i)) continue;
      std::ranges::move(check_map(spec, i, operand(inputs, output, i)), std::back_inserter(broken));
    }
  }
  if (!broken.empty()) throw SpecError(std::move(broken));

  for (std::uint32_t i = 0; i < operands; ++i) {
    const Operand& one = operand(inputs, output, i);
    if (one.address == 0 && one.view.elements() != 0) {
      throw Error(ErrorCode::invalid_argument, fmt::format("{}: the address is null.", label(spec, i)));
    }
    if (!has_map(spec, i)) check_address(spec, i, one);
  }
  for (std::uint32_t i = 0; i < spec.inputs; ++i) check_overlap(spec, i, inputs[i], output);
}

TMAJIT_END
