#include "runtimes.hpp"

#include <tmajit/error.hpp>
#include <tmajit/sim_module.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string>

namespace tmajit::python {
namespace {

constexpr std::size_t most_gpus = 64;

std::mutex& making() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

std::mutex& simulating() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

/// Places are never destroyed: kernels may be in flight when the process ends.
template <class Make>
Place& once(std::atomic<Place*>& slot, Make&& make) {
  if (Place* const made = slot.load(std::memory_order_acquire); made != nullptr) [[likely]]
    return *made;
  const nb::gil_scoped_release released;
  const std::lock_guard lock(making());
  if (Place* const made = slot.load(std::memory_order_acquire); made != nullptr) return *made;
  Place* const made = make();
  slot.store(made, std::memory_order_release);
  return *made;
}

}  // namespace

Place& simulated_place() {
  static std::atomic<Place*> slot = nullptr;
  return once(slot, [] {
    const std::shared_ptr<SimDevice> device = make_sim_device();
    // The simulated device runs PTX: ptxas is not needed.
    return new Place{Runtime({.device = device, .compile = {.arch = "compute_90a"}}), device};
  });
}

Place& place_of(const Operand& operand) {
  if (!operand.on_gpu()) return simulated_place();
  static std::array<std::atomic<Place*>, most_gpus> slots{};
  const auto ordinal = static_cast<std::size_t>(operand.device.device_id);
  if (ordinal >= slots.size())
    throw Error(ErrorCode::unavailable,
                "GPU " + std::to_string(operand.device.device_id) + " does not exist");
  return once(slots[ordinal], [&] {
    return new Place{Runtime({.device = open_gpu(operand.device.device_id)}), nullptr};
  });
}

MappedMemory::MappedMemory(SimDevice& device, std::span<const Tensor> tensors) : device_(device) {
  simulating().lock();
  try {
    std::vector<std::span<std::byte>> ranges;
    for (const Tensor& tensor : tensors)
      if (const auto bytes = host_bytes(tensor); !bytes.empty()) ranges.push_back(bytes);
    std::ranges::sort(ranges, {}, [](const auto& range) { return range.data(); });
    std::vector<std::span<std::byte>> apart;
    for (const std::span<std::byte> range : ranges) {
      if (!apart.empty() && range.data() < apart.back().data() + apart.back().size()) {
        const std::byte* const end =
            std::max(apart.back().data() + apart.back().size(), range.data() + range.size());
        apart.back() = {apart.back().data(), static_cast<std::size_t>(end - apart.back().data())};
      } else {
        apart.push_back(range);
      }
    }
    for (const std::span<std::byte> range : apart) {
      map_host_memory(device, range);
      mapped_.push_back(reinterpret_cast<std::uintptr_t>(range.data()));
    }
  } catch (...) {
    for (const DevicePtr address : mapped_) device_.memory().free(address);
    simulating().unlock();
    throw;
  }
}

MappedMemory::~MappedMemory() {
  for (const DevicePtr address : mapped_) device_.memory().free(address);
  simulating().unlock();
}

}  // namespace tmajit::python
