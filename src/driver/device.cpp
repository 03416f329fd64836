#include "spec/refuse.hpp"

#include <tmajit/device.hpp>

#include <utility>

TMAJIT_BEGIN

DeviceMemory::~DeviceMemory() = default;
DeviceStreams::~DeviceStreams() = default;
DeviceKernels::~DeviceKernels() = default;
bool DeviceKernels::runs_ptx() const noexcept {
  return false;
}
DeviceMaps::~DeviceMaps() = default;
StreamTimer::~StreamTimer() = default;
DeviceTiming::~DeviceTiming() = default;
Device::~Device() = default;

LoadedKernel::~LoadedKernel() = default;
std::optional<std::uint32_t> LoadedKernel::parameter_count() const {
  return std::nullopt;
}

std::optional<std::uint32_t> LoadedKernel::parameter_bytes(std::uint32_t /*index*/) const {
  return std::nullopt;
}

void DeviceMaps::set_address(EncodedTensorMap& map, const TensorMapSpec& spec, DevicePtr address) {
  map = encode(spec, address);
}

std::vector<float> DeviceTiming::time_in_graph(std::uint32_t repeats, std::uint32_t /*nodes*/,
                                               const std::function<void(Stream)>& work) {
  return time(nullptr, repeats, [&] { work(nullptr); });
}

std::unique_ptr<StreamTimer> DeviceTiming::timer() {
  return nullptr;
}

bool DeviceStreams::is_captured(Stream /*stream*/) {
  return false;
}

Buffer::Buffer(std::shared_ptr<Device> device, std::uint64_t bytes)
    : device_(std::move(device)), bytes_(bytes) {
  if (device_ == nullptr) {
    fail(ErrorCode::unavailable,
         "{} bytes of device memory cannot be allocated: there is no device. Open one with open_gpu() or "
         "make_sim_device(), and give it to the runtime.",
         bytes);
  }
  address_ = device_->memory().allocate(bytes);
}

Buffer::~Buffer() {
  if (device_) device_->memory().free(address_);
}

Buffer::Buffer(Buffer&& other) noexcept
    : device_(std::move(other.device_)),
      address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  Buffer taken(std::move(other));
  std::swap(device_, taken.device_);
  std::swap(address_, taken.address_);
  std::swap(bytes_, taken.bytes_);
  return *this;
}

TMAJIT_END
