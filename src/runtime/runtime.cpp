#include "runtime/builder.hpp"
#include "runtime/single_flight.hpp"

#include <utility>

TMAJIT_BEGIN

struct Runtime::State {
  explicit State(RuntimeOptions options) : builder(std::move(options)) {}

  // Makes `key`'s kernel unless it is in `table` already.
  template <class Key>
  Kernel get(SingleFlight<Key, Kernel::State>& table, const Key& key) {
    return Kernel(table.get(hash_of(key), key, [&] {
      return std::make_shared<const Kernel::State>(Kernel::State{builder.build(key)});
    }));
  }

  Builder builder;
  SingleFlight<KernelSpec, Kernel::State> specs;
  SingleFlight<CustomKernel, Kernel::State> customs;
};

Runtime::Runtime(RuntimeOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Runtime::~Runtime() = default;
Runtime::Runtime(Runtime&&) noexcept = default;
Runtime& Runtime::operator=(Runtime&&) noexcept = default;

Kernel Runtime::kernel(const KernelSpec& spec) {
  return state_->get(state_->specs, spec);
}

Kernel Runtime::kernel(const Source& source, std::uint32_t shared_bytes) {
  return state_->get(state_->customs, CustomKernel{source, shared_bytes});
}

const std::shared_ptr<Device>& Runtime::device() const noexcept {
  return state_->builder.device();
}

TMAJIT_END
