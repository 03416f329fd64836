#pragma once

#include "case.hpp"
#include "random_cases.hpp"
#include "reference/random_elements.hpp"

#include <tmajit/device.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// Cumulative sums of random shapes, ranks 1 to 4 and 2^16 to 2^27 elements, along random axes: of f32, bf16,
/// f64, and of u8 and i32 as i64. With no count one row, rows and columns, long and short.
[[nodiscard]] std::vector<Case> scans(const RandomOptions& options);

/// The error that a peer's cumulative sum may have, relative to the larger of 1 and its size.
[[nodiscard]] double scan_tolerance(const Case& c);

/// Compares whole rows of a scan, some of them where there are many, with sums on the host. Returns what is
/// wrong, or nothing.
std::string check_scan(const Case& c, const reference::Pattern& pattern, tmajit::Device& device,
                       tmajit::DevicePtr destination, std::uint64_t seed, tmajit::Stream stream);

}  // namespace bench
