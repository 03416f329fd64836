#pragma once

/// A table from keys, which are sequences of numbers, to a number for each key.
#include <tmajit/version.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/Allocator.h>

TMAJIT_BEGIN
namespace lint {

/// A key while it is being composed.
using Key = llvm::SmallVector<std::uint64_t, 16>;

class KeyTable {
 public:
  [[nodiscard]] std::optional<std::uint32_t> find(llvm::ArrayRef<std::uint64_t> key) const {
    const auto found = numbers_.find(key);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }

  /// The number of the key, and whether the key is new: it then gets `number`.
  std::pair<std::uint32_t, bool> insert(llvm::ArrayRef<std::uint64_t> key, std::uint32_t number) {
    if (const auto known = find(key)) return {*known, false};
    numbers_.try_emplace(key.copy(memory_), number);
    return {number, true};
  }

 private:
  llvm::BumpPtrAllocator memory_;  ///< holds the keys
  llvm::DenseMap<llvm::ArrayRef<std::uint64_t>, std::uint32_t> numbers_;
};

}  // namespace lint
TMAJIT_END
