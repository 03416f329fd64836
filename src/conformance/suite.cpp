#include "conformance/suite.hpp"

#include "conformance/groups.hpp"

namespace conformance {

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> made;
    add_tile_copies(made);
    add_reductions(made);
    return made;
  }();
  return cases;
}

}  // namespace conformance
