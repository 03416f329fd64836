#include "ptx/separates.hpp"

TMAJIT_BEGIN
namespace ptx {

bool separates(Opcode opcode) noexcept {
  switch (opcode) {
    case Opcode::bar_sync:
    case Opcode::bar_red:
    case Opcode::bar_warp_sync:
    case Opcode::barrier_cluster_wait:
    case Opcode::mbarrier_test_wait:
    case Opcode::mbarrier_try_wait:
    case Opcode::cp_async_wait_group:
    case Opcode::cp_async_wait_all:
    case Opcode::cp_async_bulk_wait_group:
    case Opcode::wgmma_wait_group:
    case Opcode::griddepcontrol: return true;
    default: return false;
  }
}

}  // namespace ptx
TMAJIT_END
