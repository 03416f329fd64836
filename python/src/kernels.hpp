#pragma once

#include <nanobind/nanobind.h>

namespace tmajit::python {

/// Binds the class Kernel: compiled kernels of the caller's own.
void bind_kernels(nanobind::module_& module);

}  // namespace tmajit::python
