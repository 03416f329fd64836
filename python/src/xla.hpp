#pragma once

#include <nanobind/nanobind.h>

namespace tmajit::python {

/// Binds the handlers that XLA calls, and the texts of arguments that it passes to them.
void bind_xla(nanobind::module_& module);

}  // namespace tmajit::python
