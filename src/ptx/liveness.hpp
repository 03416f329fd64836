#pragma once

/// Which slots of registers are still read, at the ends of blocks.
#include "ptx/control_flow.hpp"

#include <llvm/ADT/ArrayRef.h>

TMAJIT_BEGIN
namespace ptx {

class Liveness {
 public:
  /// `slot_of` gives a register's slot, below `slots`, or more than that. False if there are too many.
  bool find(const FlatFunction& function, const ControlFlow& flow, const std::vector<std::uint32_t>& slot_of,
            std::size_t slots);

  /// Slots that are read before they are surely written from the block's begin, or from its end; sorted.
  [[nodiscard]] llvm::ArrayRef<std::uint32_t> in(std::uint32_t block) const { return in_[block]; }
  [[nodiscard]] llvm::ArrayRef<std::uint32_t> out(std::uint32_t block) const { return out_[block]; }
  /// Slots at the ends of all blocks together.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::vector<std::vector<std::uint32_t>> in_;
  std::vector<std::vector<std::uint32_t>> out_;
  std::size_t size_ = 0;
};

}  // namespace ptx
TMAJIT_END
