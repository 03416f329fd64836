#pragma once

#include <tmajit/kernel_plan.hpp>

#include <string>
#include <vector>

TMAJIT_BEGIN

/// A constant that a kernel is specialised for, as its source declares it.
struct KernelFact {
  std::string name;   ///< "stages"
  std::string value;  ///< "4", "{64, 64}"
};

/// The facts of a plan's kernel, in the order of its source. With the family and the expression, they are all
/// that distinguishes its source from others.
[[nodiscard]] std::vector<KernelFact> facts_by_name(const KernelPlan& plan);

TMAJIT_END
