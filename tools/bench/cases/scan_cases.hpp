#pragma once

#include "case.hpp"
#include "reference/random_elements.hpp"

#include <tmajit/device.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// Cumulative sums of one row, of rows and of columns.
[[nodiscard]] std::vector<Case> scan_cases(bool tiny);

/// Compares whole rows of a scan, some of them where there are many, with sums on the host. Returns what is
/// wrong, or nothing.
std::string check_scan(const Case& c, const reference::Pattern& pattern, tmajit::Device& device,
                       tmajit::DevicePtr destination, std::uint64_t seed, tmajit::Stream stream);

}  // namespace bench
