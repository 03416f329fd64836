#pragma once

#include "c/handles.hpp"

#include <tmajit/own_launch.hpp>

#include <string_view>

TMAJIT_BEGIN
namespace c {

/// Converts a caller's tensor map over a tensor; validate() checks the result. Throws Error{invalid_argument}
/// for unknown words, for negative strides, and for reserved members that are not 0.
[[nodiscard]] TensorMapSpec to_map_spec(const tmajit_tensor_map* c_map, const TensorView& view,
                                        std::string_view subject);

/// Converts a caller's launch. Throws Error{invalid_argument} for illegal members.
[[nodiscard]] OwnLaunch to_launch(const tmajit_launch* c_launch);

/// Launches a kernel that the simulated device has loaded from PTX. Throws SpecError with every rule that the
/// tensor maps break, and Error{invalid_argument} if arguments and parameters differ in number or size.
void launch_loaded(const tmajit_kernel& kernel, const OwnLaunch& launch, Stream stream);

}  // namespace c
TMAJIT_END
