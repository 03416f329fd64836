#pragma once

#include "ops/call_key.hpp"
#include "ops/plan_table.hpp"

#include <tmajit/move.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

TMAJIT_BEGIN

struct MoveCaches;

/// One call of an operation. It finds the plan of an earlier equal call of this thread, or makes one, and
/// launches it on the call's addresses. Equal calls have the same operation, views and arguments.
class Call {
 public:
  /// `operation` is a letter that no other operation uses.
  Call(const Runtime& runtime, char operation, std::span<const Tensor> destinations,
       std::span<const Tensor> sources);

  /// Adds an argument of the operation to the key that distinguishes calls.
  template <class T>
  Call& with(const T& value) {
    static_assert(std::has_unique_object_representations_v<T> || std::is_floating_point_v<T>);
    return with(std::span(&value, 1));
  }
  template <class T>
  Call& with(std::span<const T> values) {
    key_.add(values.size());
    key_.add(std::as_bytes(values));
    return *this;
  }

  /// `make()` returns the operation. Throws the errors of make() and of plan().
  template <class Make>
  void run(Stream stream, Make&& make) const {
    const std::uint64_t hash = key_.hash();
    PlanTable::Plan plan = table_ == nullptr ? nullptr : table_->find(hash, key_.words());
    if (!plan) {
      plan = make_plan(runtime_, make(), {});
      if (table_ != nullptr) table_->insert(hash, key_.words(), plan);
    }
    launch(runtime_, *plan, addresses(), stream);
  }

 private:
  Call(const Runtime& runtime, MoveCaches& caches, char operation, std::span<const Tensor> destinations,
       std::span<const Tensor> sources);
  void add(std::span<const Tensor> tensors);
  [[nodiscard]] TensorAddresses addresses() const noexcept {
    const std::span<const DevicePtr> all(
        heap_addresses_.empty() ? inline_addresses_.data() : heap_addresses_.data(), address_count_);
    return {all.first(destination_count_), all.subspan(destination_count_)};
  }

  static constexpr std::size_t max_inline = max_operands;
  const Runtime& runtime_;
  PlanTable* table_;
  CallKey key_;
  std::size_t destination_count_;
  std::size_t address_count_ = 0;
  std::array<DevicePtr, max_inline> inline_addresses_;
  std::vector<DevicePtr> heap_addresses_;  ///< the addresses, if there are more than `max_inline`
};

TMAJIT_END
