#pragma once

#include <nanobind/nanobind.h>

namespace tmajit::python {

/// Binds the class Prefetch and the function make_prefetch.
void bind_prefetches(nanobind::module_& module);

}  // namespace tmajit::python
