#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace tmajit::python {

/// Registers the translation of tmajit::Error and its subclasses to the exceptions of tmajit._errors.
void register_errors();

}  // namespace tmajit::python
