#include "runtime/builder.hpp"
#include "runtime/single_flight.hpp"
#include "runtime/tuning_store.hpp"

#include <utility>

TMAJIT_BEGIN

struct Runtime::State {
  explicit State(RuntimeOptions options) : tuning(options.cache_directory), builder(std::move(options)) {}

  // Takes `key`'s kernel from `table`, or makes it of what `recipe()` gives.
  template <class Key, class Recipe>
  Kernel get(SingleFlight<Key, Kernel::State>& table, const Key& key, Recipe&& recipe) {
    return Kernel(table.get(hash_of(key), key, [&] {
      return std::make_shared<const Kernel::State>(Kernel::State{builder.build(recipe())});
    }));
  }

  TuningStore tuning;
  Builder builder;
  SingleFlight<KernelSpec, Kernel::State> specs;
  SingleFlight<CustomKernel, Kernel::State> customs;
  SingleFlight<std::string, Kernel::State> recipes;
};

Runtime::Runtime(RuntimeOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Runtime::~Runtime() = default;
Runtime::Runtime(Runtime&&) noexcept = default;
Runtime& Runtime::operator=(Runtime&&) noexcept = default;

Kernel Runtime::kernel(const KernelSpec& spec) {
  return state_->get(state_->specs, spec, [&] { return spec; });
}

Kernel Runtime::kernel(const Source& source, std::uint32_t shared_bytes) {
  CustomKernel custom{source, shared_bytes};
  return state_->get(state_->customs, custom, [&] { return custom; });
}

Kernel Runtime::kernel(std::string_view recipe, const std::function<Source()>& make,
                       std::uint32_t shared_bytes) {
  return state_->get(state_->recipes, std::string(recipe), [&] {
    return CustomKernel{make(), shared_bytes};
  });
}

TuningTable& Runtime::tuning() noexcept {
  return state_->tuning.table();
}

bool Runtime::remember(const TunedChoice& choice) {
  return state_->tuning.remember(choice);
}

const std::shared_ptr<Device>& Runtime::device() const noexcept {
  return state_->builder.device();
}

TMAJIT_END
