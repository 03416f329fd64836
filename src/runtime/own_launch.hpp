#pragma once

#include "kernel/launch_image.hpp"
#include "runtime/kernel_state.hpp"

#include <tmajit/own_launch.hpp>

#include <cstdint>
#include <vector>

TMAJIT_BEGIN

/// The parameters of a launch of `kernel`, which must be loaded. Throws as Kernel::prepare() does.
[[nodiscard]] ParameterBlock checked_parameters(const OwnLaunch& launch, const KernelState& kernel);
/// The operands of the launch's image: its tensors.
[[nodiscard]] std::vector<LaunchImage::Part> parts_of(const OwnLaunch& launch);
/// The bytes of the elements of all tensors.
[[nodiscard]] std::uint64_t bytes_of(const OwnLaunch& launch);

TMAJIT_END
