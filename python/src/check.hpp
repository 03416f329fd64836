#pragma once

#include <nanobind/nanobind.h>

namespace tmajit::python {

/// Binds lint and simulate, on which tmajit.check stands.
void bind_check(nanobind::module_& module);

}  // namespace tmajit::python
