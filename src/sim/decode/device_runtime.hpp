#pragma once

#include "ptx/ast.hpp"

TMAJIT_BEGIN
namespace sim {

/// Gives bodies to those functions of CUDA's device runtime (libcudadevrt) that a module only declares and
/// that the simulator supports: the barrier of the grid, as Numba and relocatable code call it. Reports
/// locate the instructions of a body at the line of the declaration.
void define_device_runtime(ptx::Module& module);

}  // namespace sim
TMAJIT_END
