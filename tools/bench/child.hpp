#pragma once

#include <string>

namespace bench {

/// Runs this program again with `--probe probe`, waits, and returns the number it printed.
/// Throws tmajit::Error{internal} if it printed none.
double probe_in_child(const std::string& probe);

}  // namespace bench
