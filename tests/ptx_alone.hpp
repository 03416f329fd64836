#pragma once

#include <tmajit/compile.hpp>

namespace tests {

/// How kernels for the simulated device are compiled: it reads PTX alone, and ptxas takes two fifths of a
/// compile. The PTX is that of the real architecture (tests/compile/compile_test.cpp).
inline const tmajit::CompileOptions ptx_alone{.arch = "compute_90a"};

}  // namespace tests
