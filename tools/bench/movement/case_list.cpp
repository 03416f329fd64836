#include "case_list.hpp"

#include "case_groups.hpp"

namespace movement {

std::vector<Case> list_cases(const ListOptions& options) {
  CaseBuilder list(options);
  add_table_of_peers(list);
  add_one_gibibyte(list);
  add_small(list);
  add_elementwise(list);
  add_slices(list);
  add_odd_extents(list);
  add_layouts(list);
  add_casts(list);
  add_random_permutations(list);
  add_pads_and_flips(list);
  add_concats_and_splits(list);
  add_broadcasts(list);
  add_sizes(list);
  return list.take();
}

}  // namespace movement
