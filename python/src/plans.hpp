#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

namespace tmajit::python {

/// Binds the class Plan and the function make_plan.
void bind_plans(nanobind::module_& module);

}  // namespace tmajit::python
