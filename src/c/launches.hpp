#pragma once

#include "c/handles.hpp"

#include <tmajit/own_launch.hpp>

#include <string_view>

TMAJIT_BEGIN
namespace c {

/// A caller's tensor map over a tensor, legal or not. Throws Error{invalid_argument} for unknown words and
/// for members that are illegal in themselves.
[[nodiscard]] TensorMapSpec to_map_spec(const tmajit_tensor_map* given, const TensorView& view,
                                        std::string_view subject);

/// A caller's launch.
[[nodiscard]] OwnLaunch to_launch(const tmajit_launch* given);

/// Launches a kernel that the simulated device has loaded from PTX. Throws SpecError with every rule that the
/// tensor maps break, and Error{invalid_argument} where arguments and parameters differ.
void launch_loaded(const tmajit_kernel& kernel, const OwnLaunch& launch, Stream stream);

}  // namespace c
TMAJIT_END
