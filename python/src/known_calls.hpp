#pragma once

#include "call_key.hpp"
#include "calls.hpp"

#include <tmajit/plan.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tmajit::python {

/// A plan that an earlier call of this thread made.
struct KnownCall {
  Results results;
  Plan plan;
  std::uint64_t last_use = 0;  ///< the value of KnownCalls::uses_ at the last use
};

using KeyWords = std::span<const std::uint64_t>;

/// The hash of rustc's tables (FxHash). Words with even and odd indices are hashed separately, so that two
/// multiplications are in flight at a time.
struct KeyHash {
  using is_transparent = void;
  std::size_t operator()(KeyWords key) const noexcept {
    constexpr std::uint64_t factor = 0x517cc1b727220a95;
    const auto mixed = [](std::uint64_t hash, std::uint64_t word) {
      return (std::rotl(hash, 5) ^ word) * factor;
    };
    std::uint64_t even = key.size();
    std::uint64_t odd = 0;
    std::size_t i = 0;
    for (; i + 2 <= key.size(); i += 2) {
      even = mixed(even, key[i]);
      odd = mixed(odd, key[i + 1]);
    }
    if (i < key.size()) even = mixed(even, key[i]);
    const std::uint64_t hash = mixed(even, odd);
    return hash ^ (hash >> 32);  // only the upper bits depend on all words
  }
};

struct KeyEqual {
  using is_transparent = void;
  bool operator()(KeyWords a, KeyWords b) const noexcept {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
  }
};

/// The cached calls of one thread. A key holds everything about a call except addresses: a plan selects
/// kernels by the alignment of the addresses itself.
class KnownCalls {
 public:
  static constexpr std::size_t max_calls = 256;

  /// The cached call with this key, or null.
  [[nodiscard]] std::shared_ptr<KnownCall> find(const CallKey& key) {
    const auto found = calls_.find(key.words());
    if (found == calls_.end()) return nullptr;
    found->second->last_use = ++uses_;
    return found->second;
  }
  /// Adds a call. If the table is full, it evicts the least recently used one.
  void insert(const CallKey& key, std::shared_ptr<KnownCall> call) {
    if (calls_.size() >= max_calls)
      calls_.erase(
          std::ranges::min_element(calls_, {}, [](const auto& entry) { return entry.second->last_use; }));
    call->last_use = ++uses_;
    const KeyWords words = key.words();
    calls_.insert_or_assign(std::vector(words.begin(), words.end()), std::move(call));
  }

 private:
  std::unordered_map<std::vector<std::uint64_t>, std::shared_ptr<KnownCall>, KeyHash, KeyEqual> calls_;
  std::uint64_t uses_ = 0;  ///< number of uses of all calls
};

/// Adds the types and views of operands to a key.
inline void add_operands(CallKey& key, std::span<const Operand> operands) {
  key.add(operands.size());
  for (const Operand& operand : operands) {
    const TensorView& view = operand.tensor.view;
    key.add(operand.type);
    key.add(view.rank | std::uint64_t{view.is_number} << 8);
    key.add_all(view.shape.data(), view.rank);
    key.add_all(view.strides.data(), view.rank);
  }
}

}  // namespace tmajit::python
