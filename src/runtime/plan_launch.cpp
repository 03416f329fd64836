#include "runtime/plan_launch.hpp"

#include "spec/counted.hpp"
#include "spec/inside.hpp"

#include <tmajit/error.hpp>

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

void require_device(const KernelState& kernel) {
  if (kernel.loaded) return;
  const std::string why = why_no_gpu();
  throw Error(ErrorCode::unavailable,
              fmt::format("the kernel cannot be launched: its runtime has no device ({}).",
                          why.empty() ? "pass open_gpu() as RuntimeOptions::device" : why));
}

void require_shared_bytes(const KernelState& kernel, std::uint32_t bytes) {
  if (bytes <= kernel.shared_bytes) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("a launch of '{}' asks for {} of dynamic shared memory, but the kernel was made for "
                  "at most {}; ask the runtime for the kernel with that many.",
                  kernel.entry, counted(bytes, "byte"), kernel.shared_bytes));
}

void require_parameter_count(const KernelState& kernel, std::size_t count) {
  const std::optional<std::uint32_t> taken = kernel.loaded->parameter_count();
  if (!taken || *taken == count) return;
  throw Error(ErrorCode::invalid_argument, fmt::format("'{}' takes {}, but the launch gives {}.",
                                                       kernel.entry, counted(*taken, "parameter"), count));
}

void require_plan(const KernelState& kernel, const KernelPlan& plan) {
  require_device(kernel);
  if (!kernel.origin.is_of(plan)) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format(
            "a plan of the family {} is no launch of '{}', which was made from another plan or source; ask "
            "the runtime for the kernel of this plan.",
            plan.family().name, kernel.entry));
  }
  const Problem& problem = Inside::state(plan)->problem;
  for (std::uint32_t i = 0; i < problem.nest.operands; ++i) {
    if (problem.address[i] != 0 || problem.is_number(i)) continue;  // the bits of the number 0 are 0
    // A list of indices without elements may have a null address.
    if (i > 0 && i <= problem.sources() && problem.bytes_read(i) == 0) continue;
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("a plan of the family {} was made without addresses; plan it for tensors with addresses.",
                    plan.family().name));
  }
}

std::size_t image_bytes(const KernelPlan& plan) noexcept {
  return LaunchImage::bytes_for(Inside::state(plan)->parameters);
}

LaunchImage& write_image(void* memory, const KernelState& kernel, const KernelPlan& plan,
                         std::span<const LaunchImage::Part> operands) {
  return LaunchImage::write(memory, Inside::state(plan)->parameters, plan.launch_shape(),
                            operands.first(Inside::state(plan)->problem.nest.operands),
                            {*kernel.loaded, kernel.device->maps()});
}

OperandParts parts_of(const KernelPlan& plan) noexcept {
  OperandParts parts;
  for (std::uint32_t i = 0; i < parts.size(); ++i) parts[i] = {i, plan.operand_address(i)};
  return parts;
}

TMAJIT_END
