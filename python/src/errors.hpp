#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace tmajit::python {

/// Has tmajit::Error and its subclasses raise the exceptions of tmajit._errors.
void register_errors();

}  // namespace tmajit::python
