#include "ops/own_memory.hpp"

#include "sim/device/allocate_between.hpp"
#include "spec/overlap.hpp"

#include <algorithm>
#include <utility>

using namespace tmajit;

namespace tests {
namespace {

constexpr std::uint64_t boundary = 512;

}  // namespace

OwnMemory::OwnMemory(std::shared_ptr<Device> device, const reference::TestCase& test_case,
                     std::uint64_t shift)
    : device_(std::move(device)) {
  constexpr DevicePtr somewhere = 1 << 30;
  for (std::size_t i = 0; i < test_case.buffers.size(); ++i) {
    DevicePtr first = somewhere + test_case.buffers[i];
    DevicePtr end = somewhere;
    for (const auto* views : {&test_case.destinations, &test_case.sources}) {
      for (const reference::BufferView& view : *views) {
        if (view.buffer != i) continue;
        const auto range = byte_range({view.view, somewhere + view.offset});
        if (!range) continue;
        first = std::min(first, range->first);
        end = std::max(end, range->last + 1);
      }
    }
    if (first > end) first = end;
    const Part part{first - somewhere, end - first};
    parts_.push_back(part);
    allocations_.push_back(sim::allocate_between(*device_, part.bytes, (part.first + shift) % boundary));
    addresses_.push_back(allocations_.back() - part.first);
  }
}

OwnMemory::~OwnMemory() {
  for (const DevicePtr address : allocations_) device_->memory().free(address);
}

void OwnMemory::write(const reference::Buffers& buffers) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    device_->memory().copy_in(allocations_[i],
                              std::span(buffers[i]).subspan(parts_[i].first, parts_[i].bytes), nullptr);
  }
}

reference::Buffers OwnMemory::read(const reference::Buffers& like) {
  reference::Buffers buffers = like;
  device_->streams().synchronize(nullptr);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    device_->memory().copy_out(std::span(buffers[i]).subspan(parts_[i].first, parts_[i].bytes),
                               allocations_[i], nullptr);
  }
  return buffers;
}

MakeMemory own_memory(const std::shared_ptr<Device>& device) {
  return [device](const reference::TestCase& test_case, std::uint64_t shift) {
    return std::make_unique<OwnMemory>(device, test_case, shift);
  };
}

}  // namespace tests
