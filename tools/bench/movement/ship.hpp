#pragma once

#include "case.hpp"
#include "machine.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace movement {

struct ShipOptions {
  std::filesystem::path file;  ///< the choices, in the format of `jitc tune --export`
  std::uint64_t seed = 1;
  double limit_s = 0;  ///< no case begins after this time; 0: no limit
  bool near = false;   ///< also measures how far the choices carry to near shapes of permutations
};

/// Measures all candidates of each case twice by tune(), and writes the choices that are worth keeping: those
/// that took, both times, at least 3 % less than the kernel that the cost model chooses. The report's
/// "shipped" has the number of cases, the choices, and their mean gain; with `near` also, for each distance
/// of shapes, how often a choice made a near shape faster or slower.
void ship_choices(bench::Machine& machine, const std::vector<bench::Case>& cases, const ShipOptions& options,
                  bench::Report& report);

}  // namespace movement
