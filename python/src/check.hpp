#pragma once

#include <nanobind/nanobind.h>

namespace tmajit::python {

/// Binds the functions lint and simulate, which tmajit.check() calls.
void bind_check(nanobind::module_& module);

}  // namespace tmajit::python
