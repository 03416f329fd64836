#pragma once

#include "kernel/launch_image.hpp"
#include "kernel/plan_state.hpp"
#include "runtime/kernel_state.hpp"

#include <array>
#include <span>

TMAJIT_BEGIN

/// Throws Error{unavailable} if `kernel` is not loaded on a device.
void require_device(const KernelState& kernel);

/// Throws Error{invalid_argument} if a launch asks for more dynamic shared memory than `kernel` was made for.
void require_shared_bytes(const KernelState& kernel, std::uint32_t bytes);
/// Throws Error{invalid_argument} if the device knows that `kernel` takes more or fewer parameters.
void require_parameter_count(const KernelState& kernel, std::size_t count);

/// Throws Error{unavailable} without a device, Error{invalid_argument} for a plan of another kernel or one
/// that was made without addresses.
void require_plan(const KernelState& kernel, const KernelPlan& plan);

/// Bytes of the image of a plan's launch.
[[nodiscard]] std::size_t image_bytes(const KernelPlan& plan) noexcept;
/// Writes the image of a plan's launch for a kernel that passes require_plan(). Operand i is part of
/// `operands[i]`.
LaunchImage& write_image(void* memory, const KernelState& kernel, const KernelPlan& plan,
                         std::span<const LaunchImage::Part> operands);

/// For each operand of a plan: tensor i is operand i, with the destination as tensor 0.
using OperandParts = std::array<LaunchImage::Part, max_operands>;
[[nodiscard]] OperandParts parts_of(const KernelPlan& plan) noexcept;

TMAJIT_END
