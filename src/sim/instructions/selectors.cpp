#include "sim/instructions/select.hpp"

#include <algorithm>
#include <vector>

TMAJIT_BEGIN
namespace sim {

Selectors selectors() {
  // Never destroyed: threads and static objects may use a device while the process ends.
  static const auto& all = *new auto([] {
    std::vector<Selector> tables;
    for (const Selectors& table :
         {arithmetic_selectors, float_selectors,   logic_selectors,     move_selectors,
          convert_selectors,    memory_selectors,  atomic_selectors,    stack_selectors,
          video_selectors,      address_selectors, control_selectors,   barrier_selectors,
          mbarrier_selectors,   warp_selectors,    async_selectors,     bulk_selectors,
          matrix_selectors,     wmma_selectors,    tensormap_selectors, warpgroup_selectors})
      tables.insert(tables.end(), table.begin(), table.end());
    std::ranges::sort(tables, {}, &Selector::opcode);
    return tables;
  }());
  return all;
}

const Selector* find_selector(Opcode opcode) {
  const Selectors all = selectors();
  const auto found = std::ranges::lower_bound(all, opcode, {}, &Selector::opcode);
  return found != all.end() && found->opcode == opcode ? &*found : nullptr;
}

}  // namespace sim
TMAJIT_END
