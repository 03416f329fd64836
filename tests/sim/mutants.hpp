#pragma once

/// The project's own kernels, and edits that break them.
#include "ptx/edit.hpp"
#include "sim/support.hpp"

namespace tests {

enum class Base { copy, swizzled, map, bulk, reduce_into };

/// Runs an edited kernel on two CTAs. `finished` becomes false if synchronize() throws.
std::shared_ptr<tmajit::SimDevice> run(Base kind, const Edit& edit, bool& finished, std::uint64_t seed,
                                       tmajit::SimOptions::Mode mode = tmajit::SimOptions::Mode::late);

}  // namespace tests
