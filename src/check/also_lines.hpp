#pragma once

#include <tmajit/finding.hpp>

TMAJIT_BEGIN
namespace check {

/// Adds to a finding the PTX lines of further instructions that show the same mistake.
void add_lines(Finding& finding, std::vector<std::uint32_t> lines);

}  // namespace check
TMAJIT_END
