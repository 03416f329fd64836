#pragma once

#include "c/structs.hpp"

#include <tmajit/own_kernel.hpp>

TMAJIT_BEGIN
namespace c {

/// Converts a caller's kernel. Throws Error{invalid_argument} for null texts and for constants that are no
/// literals.
[[nodiscard]] OwnKernel to_own_kernel(const tmajit_kernel_source& c_source);

}  // namespace c
TMAJIT_END
