#pragma once

/// Runs the project's own kernels with edits that break them.
#include "ptx/edit.hpp"
#include "sim/support.hpp"

namespace tests {

/// The kernel that is edited: a family of tiles, or the family copy with swizzle 128B (`swizzled`).
enum class Base { copy, swizzled, map, bulk, reduce_into };

/// Runs an edited kernel on two CTAs. `finished` becomes false if synchronize() throws.
std::shared_ptr<tmajit::SimDevice> run(Base kind, const Edit& edit, bool& finished, std::uint64_t seed,
                                       tmajit::SimOptions::Mode mode = tmajit::SimOptions::Mode::late);

}  // namespace tests
