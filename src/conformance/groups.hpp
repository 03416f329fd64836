#pragma once

#include "conformance/case.hpp"

#include <vector>

/// The cases, by subject: each function adds those of one subject.
namespace conformance {

void add_tile_copies(std::vector<Case>& cases);
void add_reductions(std::vector<Case>& cases);
void add_bulk_copies(std::vector<Case>& cases);
void add_multicasts(std::vector<Case>& cases);
void add_exchanges(std::vector<Case>& cases);
void add_barriers(std::vector<Case>& cases);
void add_fences(std::vector<Case>& cases);
void add_warps(std::vector<Case>& cases);
void add_conversions(std::vector<Case>& cases);
void add_map_changes(std::vector<Case>& cases);
void add_im2col_copies(std::vector<Case>& cases);
void add_products(std::vector<Case>& cases);

}  // namespace conformance
