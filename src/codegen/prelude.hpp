#pragma once

#include <tmajit/kernel_spec.hpp>

#include <string>

TMAJIT_BEGIN

/// The `constexpr` facts that a family's template is compiled against: everything of `spec` that the device
/// code needs, named as templates/kernels/ names it. `spec` is legal.
[[nodiscard]] std::string prelude(const KernelSpec& spec);

/// The device type that holds an element: "f32", "bf16". The forms of f32 that differ only in the tensor map
/// are plain f32.
[[nodiscard]] std::string_view device_type(ElementType type);

TMAJIT_END
