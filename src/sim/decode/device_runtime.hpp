#pragma once

#include "ptx/ast.hpp"

TMAJIT_BEGIN
namespace sim {

/// Gives bodies to the functions of CUDA's device runtime (libcudadevrt) that a module only declares and that
/// mean something here: the barrier of the grid, as Numba and relocatable code call it. Their instructions
/// stand where the module declares them.
void define_device_runtime(ptx::Module& module);

}  // namespace sim
TMAJIT_END
