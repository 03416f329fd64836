#include "ptx/opcode_rows.hpp"
#include "sim/instructions/select.hpp"

#include <vector>

TMAJIT_BEGIN
namespace sim {

std::span<const SelectorTable> selector_tables() noexcept {
  static const SelectorTable all[] = {{"integer", arithmetic_selectors},
                                      {"float", float_selectors},
                                      {"logic", logic_selectors},
                                      {"mov", move_selectors},
                                      {"convert", convert_selectors},
                                      {"memory", memory_selectors},
                                      {"atomic", atomic_selectors},
                                      {"stack", stack_selectors},
                                      {"video", video_selectors},
                                      {"address", address_selectors},
                                      {"control", control_selectors},
                                      {"barrier", barrier_selectors},
                                      {"mbarrier", mbarrier_selectors},
                                      {"warp", warp_selectors},
                                      {"async", async_selectors},
                                      {"bulk", bulk_selectors},
                                      {"matrix", matrix_selectors},
                                      {"wmma", wmma_selectors},
                                      {"tensormap", tensormap_selectors},
                                      {"warpgroup", warpgroup_selectors},
                                      {"register_pool", register_pool_selectors}};
  return all;
}

const Selector* find_selector(Opcode opcode) {
  // Never destroyed, because threads and static objects may use a device while the process exits.
  static const auto& by_opcode = *new auto([] {
    std::vector<const Selector*> all(ptx::opcode_rows().size());
    for (const SelectorTable& table : selector_tables())
      for (const Selector& selector : table.selectors)
        all[static_cast<std::size_t>(selector.opcode)] = &selector;
    return all;
  }());
  return by_opcode[static_cast<std::size_t>(opcode)];
}

}  // namespace sim
TMAJIT_END
