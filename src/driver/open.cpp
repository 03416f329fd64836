#include "driver/gpu.hpp"

#include <array>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace driver {
namespace {

/// An attribute of a device; 0 if the query fails.
std::uint32_t attribute(const Api& api, CUdevice device, CUdevice_attribute which) noexcept {
  int value = 0;
  return api.device_get_attribute(&value, which, device) == CUDA_SUCCESS ? static_cast<std::uint32_t>(value)
                                                                         : 0;
}

DeviceInfo query(const Api& api, int ordinal) {
  DeviceInfo info;
  info.ordinal = ordinal;
  CUdevice device = 0;
  if (api.device_get(&device, ordinal) != CUDA_SUCCESS) {
    info.name = "GPU that the driver does not open";
    return info;
  }
  std::array<char, 256> name{};
  std::size_t memory = 0;
  if (api.device_get_name(name.data(), static_cast<int>(name.size()) - 1, device) == CUDA_SUCCESS)
    info.name = name.data();
  if (api.device_total_mem(&memory, device) == CUDA_SUCCESS) info.memory_bytes = memory;
  info.compute_major = static_cast<int>(attribute(api, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  info.compute_minor = static_cast<int>(attribute(api, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  info.sm_count = attribute(api, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  info.max_shared_bytes = attribute(api, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  info.l2_bytes = attribute(api, device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  return info;
}

int count(const Api& api) noexcept {
  int gpus = 0;
  return api.device_get_count(&gpus) == CUDA_SUCCESS ? gpus : 0;
}

}  // namespace

std::vector<DeviceInfo> list_gpus(const Api& api) {
  std::vector<DeviceInfo> gpus;
  for (int i = 0, n = count(api); i < n; ++i) gpus.push_back(query(api, i));
  return gpus;
}

std::shared_ptr<Device> open_gpu(const Api& api, int ordinal) {
  const int gpus = count(api);
  if (ordinal < 0 || ordinal >= gpus) {
    throw Error(ErrorCode::unavailable,
                gpus == 0 ? "There is no GPU: the driver shows none."
                          : fmt::format("There is no GPU {}: this machine has {}, numbered from 0 to {}.",
                                        ordinal, gpus, gpus - 1));
  }
  DeviceInfo info = query(api, ordinal);
  if (info.compute_major != 9 || info.compute_minor != 0) {
    throw Error(ErrorCode::unavailable,
                fmt::format("GPU {} ({}) has compute capability {}.{}; tmajit's kernels are for 9.0 only "
                            "(Hopper: H100, H200, GH200).",
                            ordinal, info.name, info.compute_major, info.compute_minor));
  }
  return std::make_shared<Gpu>(api, std::move(info));
}

}  // namespace driver

std::vector<DeviceInfo> list_gpus() {
  const driver::Library& driver = driver::library();
  return driver.api ? driver::list_gpus(*driver.api) : std::vector<DeviceInfo>{};
}

std::string why_no_gpu() {
  const driver::Library& driver = driver::library();
  if (!driver.api) return driver.reason;
  return driver::list_gpus(*driver.api).empty() ? "the NVIDIA driver is installed, but shows no GPU" : "";
}

std::shared_ptr<Device> open_gpu(int ordinal) {
  const driver::Library& driver = driver::library();
  if (!driver.api) throw Error(ErrorCode::unavailable, "There is no GPU: " + driver.reason + ".");
  return driver::open_gpu(*driver.api, ordinal);
}

TMAJIT_END
