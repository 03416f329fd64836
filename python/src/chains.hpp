#pragma once

#include <nanobind/nanobind.h>

namespace tmajit::python {

namespace nb = nanobind;

/// Binds the class Chain of _core, which tmajit.Chain uses.
void bind_chains(nb::module_& module);

}  // namespace tmajit::python
