#include "conformance/suite.hpp"

#include "conformance/groups.hpp"

namespace conformance {

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> made;
    add_tile_copies(made);
    add_reductions(made);
    add_bulk_copies(made);
    add_multicasts(made);
    add_exchanges(made);
    add_barriers(made);
    add_fences(made);
    add_warps(made);
    add_conversions(made);
    add_map_changes(made);
    add_im2col_copies(made);
    add_products(made);
    return made;
  }();
  return cases;
}

}  // namespace conformance
