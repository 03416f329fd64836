#pragma once

#include "ptx/ast.hpp"

TMAJIT_BEGIN
namespace sim {

/// Adds bodies for functions of CUDA's device runtime (libcudadevrt) that a module declares without a body:
/// the grid barrier, which Numba and relocatable code call. Reports show the line of the declaration for
/// instructions of such a body.
void define_device_runtime(ptx::Module& module);

}  // namespace sim
TMAJIT_END
