#pragma once

/// Liveness of register slots at the start and end of each block.
#include "ptx/control_flow.hpp"

#include <llvm/ADT/ArrayRef.h>

TMAJIT_BEGIN
namespace ptx {

class Liveness {
 public:
  /// `slot_of` maps registers to slots; registers whose slot is `slots` or more are ignored. Returns false if
  /// there are too many slots and blocks.
  bool find(const FlatFunction& function, const ControlFlow& flow, const std::vector<std::uint32_t>& slot_of,
            std::size_t slots);

  /// Slots that are live at the block's start (in) or end (out), in ascending order. A slot is live if some
  /// path from there reads it before an unguarded write.
  [[nodiscard]] llvm::ArrayRef<std::uint32_t> in(std::uint32_t block) const { return in_[block]; }
  [[nodiscard]] llvm::ArrayRef<std::uint32_t> out(std::uint32_t block) const { return out_[block]; }
  /// Number of slots in out(), summed over all blocks.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::vector<std::vector<std::uint32_t>> in_;
  std::vector<std::vector<std::uint32_t>> out_;
  std::size_t size_ = 0;
};

}  // namespace ptx
TMAJIT_END
