#pragma once

#include "conformance/case.hpp"

#include <vector>

/// The cases, by subject: each function adds those of one.
namespace conformance {

void add_tile_copies(std::vector<Case>& cases);
void add_reductions(std::vector<Case>& cases);

}  // namespace conformance
