#pragma once

#include <tmajit/counters.hpp>

#include <nanobind/nanobind.h>

namespace tmajit::python {

namespace nb = nanobind;

/// Passes a kernel to the Python thread that waits for records, if there is one. Waits for nothing: a thread
/// that waits for the kernel may hold the GIL.
void publish_kernel(const KernelRecord& record);

/// Counters, histories, and the record of the next kernel, as dicts.
void bind_observe(nb::module_& module);

}  // namespace tmajit::python
