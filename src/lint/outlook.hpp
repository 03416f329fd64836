#pragma once

#include "lint/condition.hpp"
#include "lint/control_flow.hpp"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SparseBitVector.h>

TMAJIT_BEGIN
namespace lint {

/// Which conditions are asked in a block or after it: of others a path need not know the answer.
class Outlook {
 public:
  /// `guards` of each instruction; their tests have been counted.
  Outlook(const ControlFlow& flow, const Conditions& conditions, llvm::ArrayRef<Formula> guards);

  /// Drops what no block from `block` on asks.
  void trim(std::uint32_t block, Facts& facts) const;

 private:
  void spread(const ControlFlow& flow, AtomId atom, std::vector<std::uint32_t> blocks);

  const Conditions& conditions_;
  std::vector<llvm::SparseBitVector<>> asked_;  ///< atoms, of each block
  bool complete_ = false;
};

}  // namespace lint
TMAJIT_END
