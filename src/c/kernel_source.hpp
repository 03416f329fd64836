#pragma once

#include "c/structs.hpp"

#include <tmajit/own_kernel.hpp>

TMAJIT_BEGIN
namespace c {

/// Converts a C caller's kernel to an OwnKernel: CUDA C++ that a user has written, where a KernelPlan's is
/// generated. Throws Error{invalid_argument} for null texts, for constants that are no literals or whose
/// names are no identifiers, and if a reserved member is not zero.
[[nodiscard]] OwnKernel to_own_kernel(const tmajit_kernel_source& c_source);

}  // namespace c
TMAJIT_END
