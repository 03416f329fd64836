#pragma once

#include "calls.hpp"

#include <tmajit/plan.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace tmajit::python {

/// A plan that an earlier call of this thread made.
struct KnownCall {
  Results results;
  Plan plan;
  std::uint64_t last_use = 0;  ///< the value of KnownCalls::uses_ at the last use
};

struct KeyHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view key) const noexcept { return std::hash<std::string_view>()(key); }
};

/// The cached calls of one thread. A key holds everything about a call except addresses: a plan selects
/// kernels by the alignment of the addresses itself.
class KnownCalls {
 public:
  static constexpr std::size_t max_calls = 256;

  /// The cached call with this key, or null.
  [[nodiscard]] std::shared_ptr<KnownCall> find(std::string_view key) {
    const auto found = calls_.find(key);
    if (found == calls_.end()) return nullptr;
    found->second->last_use = ++uses_;
    return found->second;
  }
  /// Adds a call. If the table is full, it evicts the least recently used one.
  void insert(std::string_view key, std::shared_ptr<KnownCall> call) {
    if (calls_.size() >= max_calls)
      calls_.erase(
          std::ranges::min_element(calls_, {}, [](const auto& entry) { return entry.second->last_use; }));
    call->last_use = ++uses_;
    calls_.insert_or_assign(std::string(key), std::move(call));
  }

 private:
  std::unordered_map<std::string, std::shared_ptr<KnownCall>, KeyHash, std::equal_to<>> calls_;
  std::uint64_t uses_ = 0;  ///< number of uses of all calls
};

/// Appends the bytes of a value to a key.
template <class T>
void add_bytes(std::string& key, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto bytes = std::as_bytes(std::span(&value, 1));
  key.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// Appends the types and views of operands to a key.
inline void add_operands(std::string& key, std::span<const Operand> operands) {
  add_bytes(key, operands.size());
  for (const Operand& operand : operands) {
    const TensorView& view = operand.tensor.view;
    add_bytes(key, operand.type);
    add_bytes(key, view.rank);
    key.append(reinterpret_cast<const char*>(view.shape.data()), view.rank * sizeof(view.shape[0]));
    key.append(reinterpret_cast<const char*>(view.strides.data()), view.rank * sizeof(view.strides[0]));
  }
}

}  // namespace tmajit::python
