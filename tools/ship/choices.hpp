#pragma once

#include <tmajit/kernel_plan.hpp>
#include <tmajit/operation.hpp>

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace ship {

/// The chips that shipped packs are made for.
[[nodiscard]] std::span<const tmajit::Chip> chips();
/// The kernels that a runtime chooses for an operation on a chip, with the choices that come with the
/// library. None if no kernel can do it, as for some reductions of many separate axes.
[[nodiscard]] std::vector<tmajit::KernelPlan> planned(const tmajit::Operation& operation,
                                                      const tmajit::Chip& chip);

/// The keys (KernelPlan::key()) of kernels.
using Keys = std::set<std::string, std::less<>>;
/// For each of those kernels that is not among `there`: all that could do the same, the planned one first.
[[nodiscard]] std::vector<std::vector<tmajit::KernelPlan>> missing_candidates(
    const tmajit::Operation& operation, const tmajit::Chip& chip, const Keys& there);

}  // namespace ship
