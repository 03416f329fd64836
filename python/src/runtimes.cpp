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

/// The options of backends that are not made yet, guarded by backend_mutex().
RuntimeOptions& next_options() {
  static auto& options = *new RuntimeOptions;
  return options;
}

/// Whether a backend was made, guarded by backend_mutex().
bool& has_backend() {
  static bool has = false;
  return has;
}

Backend* make_backend(std::optional<std::int32_t> gpu) {
  RuntimeOptions options = next_options();
  options.on_kernel = &publish_kernel;
  if (gpu) {
    options.device = open_gpu(*gpu);
    return new Backend{Runtime(std::move(options)), nullptr};
  }
  const std::shared_ptr<SimDevice> device = make_sim_device();
  options.device = device;
  options.compile.arch = "compute_90a";  // the simulated device runs PTX: ptxas is not needed
  return new Backend{Runtime(std::move(options)), device};
}

}  // namespace

void set_missing(const std::string& when_missing, bool allow_other_rounding,
                 std::int64_t background_compiles) {
  const std::lock_guard lock(backend_mutex());
  if (has_backend()) {
    throw Error(ErrorCode::invalid_argument,
                "options: a device is in use already; set the options before the first operation, plan, "
                "kernel or prefetch");
  }
  constexpr std::int64_t max_threads = 1024;
  if (background_compiles < 0 || background_compiles > max_threads) {
    throw Error(ErrorCode::invalid_argument, "options: background_compiles is " +
                                                 std::to_string(background_compiles) +
                                                 "; legal are 0, which means none, to 1024");
  }
  RuntimeOptions& options = next_options();
  options.when_missing = parse<WhenMissing>(when_missing);
  options.allow_other_rounding = allow_other_rounding;
  options.background_compiles = static_cast<std::uint32_t>(background_compiles);
}

Backend& backend_on(std::optional<std::int32_t> gpu) {
  std::atomic<Backend*>& slot = slot_of(gpu);
  if (Backend* const made = slot.load(std::memory_order_acquire); made != nullptr) [[likely]]
    return *made;
  const std::lock_guard lock(backend_mutex());
  if (Backend* const made = slot.load(std::memory_order_acquire); made != nullptr) return *made;
  Backend* const made = make_backend(gpu);
  has_backend() = true;
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
