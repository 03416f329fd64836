// The device's memory as CUDA's runtime shows it.
#include "device.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <span>

namespace {

using stand_in::device;
using stand_in::guarded;

/// What cudaMemcpyDefault asks: which addresses are the device's.
class Allocations {
 public:
  void add(std::uint64_t begin, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    ends_[begin] = begin + std::max<std::uint64_t>(bytes, 1);
  }
  void remove(std::uint64_t begin) {
    const std::lock_guard lock(mutex_);
    ends_.erase(begin);
  }
  [[nodiscard]] bool hold(std::uint64_t address) const {
    const std::lock_guard lock(mutex_);
    const auto next = ends_.upper_bound(address);
    return next != ends_.begin() && address < std::prev(next)->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> ends_;
};

Allocations& allocations() {
  static auto& all = *new Allocations;
  return all;
}

std::uint64_t number(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

/// By what the addresses are: so does the driver wherever there is one space of addresses, whatever the
/// program says.
void copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  auto& memory = device().memory();
  const bool to_device = allocations().hold(number(to));
  const bool from_device = allocations().hold(number(from));
  if (to_device && from_device) {
    memory.copy(number(to), number(from), bytes, nullptr);
  } else if (to_device) {
    memory.copy_in(number(to), std::span(static_cast<const std::byte*>(from), bytes), nullptr);
  } else if (from_device) {
    memory.copy_out(std::span(static_cast<std::byte*>(to), bytes), number(from), nullptr);
  } else {
    std::memcpy(to, from, bytes);
  }
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  return guarded("cudaMalloc", [&] {
    const std::uint64_t address = device().memory().allocate(bytes);
    allocations().add(address, bytes);
    *pointer = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
  });
}

cudaError_t cudaFree(void* pointer) {
  return guarded("cudaFree", [&] {
    if (pointer == nullptr) return;
    allocations().remove(number(pointer));
    device().memory().free(number(pointer));
  });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return guarded("cudaMemGetInfo", [&] { *free = *total = device().info().memory_bytes; });
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return guarded("cudaMemcpy", [&] { copy(to, from, bytes); });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  return guarded("cudaMemcpyAsync", [&] { copy(to, from, bytes); });
}

cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return guarded("cudaMemset", [&] {
    if (bytes != 0) device().memory().fill(number(to), static_cast<std::byte>(value), bytes, nullptr);
  });
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  return cudaMemset(to, value, bytes);
}

}  // extern "C"
