#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

/// Runs this program again with `--probe probe`, waits, and returns the `count` numbers it printed.
/// Throws tmajit::Error{internal} if it did not print them.
std::vector<double> probe_in_child(const std::string& probe, std::size_t count);

}  // namespace bench
