#include "runtimes.hpp"

#include "observe.hpp"

#include <tmajit/error.hpp>
#include <tmajit/sim_module.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace tmajit::python {
namespace {

constexpr std::size_t max_gpus = 64;

std::mutex& backend_mutex() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

std::mutex& simulator_mutex() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

/// Backends are never destroyed, because kernels may be in flight when the process ends.
std::atomic<Backend*>& slot_of(std::optional<std::int32_t> gpu) {
  static std::atomic<Backend*> simulated = nullptr;
  static std::array<std::atomic<Backend*>, max_gpus> gpus{};
  if (!gpu) return simulated;
  if (*gpu < 0 || static_cast<std::size_t>(*gpu) >= gpus.size())
    throw Error(ErrorCode::unavailable, "GPU " + std::to_string(*gpu) + " does not exist");
  return gpus[static_cast<std::size_t>(*gpu)];
}

/// The options that set_options() has set. `made` is true once a backend has used them.
struct Chosen {
  std::optional<RuntimeOptions> options;
  bool made = false;
};
/// Its caller holds backend_mutex().
Chosen& chosen() {
  static Chosen& chosen = *new Chosen;
  return chosen;
}

Backend* make_backend(std::optional<std::int32_t> gpu) {
  RuntimeOptions options = chosen().options ? *chosen().options : RuntimeOptions();
  options.on_kernel = &publish_kernel;
  std::shared_ptr<SimDevice> simulator;
  if (gpu) {
    options.device = open_gpu(*gpu);
  } else {
    simulator = make_sim_device();
    options.device = simulator;
    options.compile.arch = "compute_90a";  // the simulated device runs PTX: ptxas is not needed
  }
  return new Backend{Runtime(std::move(options)), simulator};
}

}  // namespace

void set_options(RuntimeOptions options) {
  const std::lock_guard lock(backend_mutex());
  if (chosen().made) {
    throw Error(ErrorCode::invalid_argument,
                "tmajit.options() comes too late: a runtime was made by an earlier call; call it directly "
                "after the import");
  }
  chosen().options = std::move(options);
}

Backend& backend_on(std::optional<std::int32_t> gpu) {
  std::atomic<Backend*>& slot = slot_of(gpu);
  if (Backend* const made = slot.load(std::memory_order_acquire); made != nullptr) [[likely]]
    return *made;
  const std::lock_guard lock(backend_mutex());
  if (Backend* const made = slot.load(std::memory_order_acquire); made != nullptr) return *made;
  Backend* const made = make_backend(gpu);
  chosen().made = true;
  slot.store(made, std::memory_order_release);
  return *made;
}

Backend& backend_of(const Operand& operand) {
  const auto gpu = operand.on_gpu() ? std::optional(operand.device.device_id) : std::nullopt;
  if (Backend* const made = slot_of(gpu).load(std::memory_order_acquire); made != nullptr) [[likely]]
    return *made;
  const nb::gil_scoped_release released;
  return backend_on(gpu);
}

Backend& simulated_backend() {
  return backend_of(Operand{});
}

MappedMemory::MappedMemory(SimDevice& device, std::span<const Tensor> tensors) : device_(device) {
  simulator_mutex().lock();
  try {
    std::vector<std::span<std::byte>> ranges;
    for (const Tensor& tensor : tensors)
      if (const auto bytes = host_bytes(tensor); !bytes.empty()) ranges.push_back(bytes);
    std::ranges::sort(ranges, {}, [](const auto& range) { return range.data(); });
    std::vector<std::span<std::byte>> merged;
    for (const std::span<std::byte> range : ranges) {
      if (!merged.empty() && range.data() < merged.back().data() + merged.back().size()) {
        const std::byte* const end =
            std::max(merged.back().data() + merged.back().size(), range.data() + range.size());
        merged.back() = {merged.back().data(), static_cast<std::size_t>(end - merged.back().data())};
      } else {
        merged.push_back(range);
      }
    }
    for (const std::span<std::byte> range : merged) {
      map_host_memory(device, range);
      mapped_.push_back(reinterpret_cast<std::uintptr_t>(range.data()));
    }
  } catch (...) {
    for (const DevicePtr address : mapped_) device_.memory().free(address);
    simulator_mutex().unlock();
    throw;
  }
}

MappedMemory::~MappedMemory() {
  for (const DevicePtr address : mapped_) device_.memory().free(address);
  simulator_mutex().unlock();
}

}  // namespace tmajit::python
