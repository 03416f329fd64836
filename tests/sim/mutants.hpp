#pragma once

/// Our own kernels, and ways to break them.
#include "ptx/edit.hpp"
#include "sim/support.hpp"

namespace tests {

enum class Base { copy, swizzled, map, bulk, reduce_into };

/// Runs a kernel, edited, on two CTAs; `finished` is false if synchronize() threw.
std::shared_ptr<tmajit::SimDevice> run(Base kind, const Edit& edit, bool& finished, std::uint64_t seed,
                                       tmajit::SimOptions::Mode mode = tmajit::SimOptions::Mode::late);

}  // namespace tests
