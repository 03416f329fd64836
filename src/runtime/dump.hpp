#pragma once

#include "runtime/kernel_origin.hpp"

#include <filesystem>

TMAJIT_BEGIN

struct BuiltKernel;

/// Writes what is known of a kernel into a folder of `directory` that is named by the kernel's key:
/// kernel.cu, kernel.ptx, kernel.cubin, kernel.sass (if nvdisasm is found), kernel.log and plan.txt. A
/// failure is logged.
void dump_kernel(const std::filesystem::path& directory, const BuiltKernel& kernel,
                 const KernelRequest& request) noexcept;

TMAJIT_END
