#pragma once

#include "case_builder.hpp"

namespace movement {

/// The groups of the list; docs/movement.md says what each is for.
/// @{
void add_table_of_peers(CaseBuilder& list);
void add_one_gibibyte(CaseBuilder& list);
void add_odd_extents(CaseBuilder& list);
void add_layouts(CaseBuilder& list);
void add_random_permutations(CaseBuilder& list);

void add_small(CaseBuilder& list);
void add_sizes(CaseBuilder& list);
void add_elementwise(CaseBuilder& list);
void add_casts(CaseBuilder& list);

void add_slices(CaseBuilder& list);
void add_pads_and_flips(CaseBuilder& list);
void add_concats_and_splits(CaseBuilder& list);
void add_broadcasts(CaseBuilder& list);
/// @}

}  // namespace movement
