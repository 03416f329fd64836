#pragma once

#include "case.hpp"
#include "reference/random_elements.hpp"

#include <tmajit/device.hpp>

#include <cstdint>
#include <string>

namespace bench {

/// How far a correct result of a reduction of elements below 2 may lie from that of a longer type, relative
/// to the larger of 1 and its size; 0: to the bit.
double reduction_tolerance(const Case& c);

/// check() of a reduction: some of its results, or all if there are few.
std::string check_reduction(const Case& c, const reference::Pattern& pattern, tmajit::Device& device,
                            tmajit::DevicePtr destination, std::uint64_t seed, tmajit::Stream stream);

}  // namespace bench
