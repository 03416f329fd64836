// Virtual memory of the driver: address ranges that the program reserves, and physical memory that it maps
// into them. Each range has host pages of the same layout, so neighbouring mappings are contiguous in host
// memory. Physical memory is a file in memory, so it can be mapped several times.
#include "cudart/driver.hpp"
#include "cudart/memory.hpp"

#include <tmajit/sim_module.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

using namespace tmajit::cudart;

namespace {

/// Addresses and sizes are multiples of this number of bytes, as on Hopper.
constexpr std::uint64_t granularity = 2 << 20;

using Handle = CUmemGenericAllocationHandle;

/// Physical memory. It lives until its handle is released and its last mapping is removed.
struct Physical {
  Handle handle = 0;
  std::uint64_t bytes = 0;
  CUmemAllocationProp properties{};
  int file = -1;

  Physical() = default;
  Physical(const Physical&) = delete;
  Physical& operator=(const Physical&) = delete;
  ~Physical() {
    if (file < 0) return;
    ::close(file);
    count_released(bytes);
  }
};

struct Mapping {
  std::shared_ptr<Physical> memory;
  CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
};

/// A reserved range of addresses.
struct Range {
  std::uint64_t bytes = 0;
  std::byte* pages = nullptr;
  std::map<std::uint64_t, Mapping> mappings{};  ///< by their addresses
  std::vector<std::uint64_t> regions{};  ///< addresses of the device allocations that cover the mappings
};

struct VirtualMemory {
  std::mutex mutex;
  std::map<std::uint64_t, Range> ranges;  ///< by their addresses
  struct HandleEntry {
    std::shared_ptr<Physical> memory;
    std::uint64_t references = 0;
  };
  std::map<Handle, HandleEntry> handles;
  Handle last_handle = 0;
};
VirtualMemory& virtual_memory() {
  static auto& all = *new VirtualMemory;
  return all;
}

[[noreturn]] void throw_invalid(const std::string& message) {
  throw Failure(cudaErrorInvalidValue, message);
}

void require_multiple_of_granularity(std::uint64_t value, const char* what) {
  if (value % granularity != 0) throw_invalid(std::string(what) + " is not a multiple of 2 MiB");
}

void require_location(const CUmemLocation& location) {
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    throw Failure(cudaErrorNotSupported, "only memory of the device is supported");
  require_device(location.id);
}

VirtualMemory::HandleEntry& entry_at(Handle handle) {
  const auto found = virtual_memory().handles.find(handle);
  if (found == virtual_memory().handles.end())
    throw_invalid("no memory has this handle; it may have been released");
  return found->second;
}

/// The reserved range that holds all the bytes, and its address.
std::pair<const std::uint64_t, Range>& range_containing(std::uint64_t begin, std::uint64_t bytes) {
  auto& ranges = virtual_memory().ranges;
  const auto next = ranges.upper_bound(begin);
  if (next != ranges.begin()) {
    auto& found = *std::prev(next);
    const std::uint64_t offset = begin - found.first;
    if (offset <= found.second.bytes && bytes <= found.second.bytes - offset) return found;
  }
  throw_invalid("the addresses are not all in one reserved range");
}

/// The mappings in a part of a range. Throws Failure if the part holds only some bytes of a mapping.
std::vector<std::pair<const std::uint64_t, Mapping>*> mappings_in(Range& range, std::uint64_t begin,
                                                                  std::uint64_t bytes) {
  std::vector<std::pair<const std::uint64_t, Mapping>*> found;
  for (auto& each : range.mappings) {
    const std::uint64_t end = each.first + each.second.memory->bytes;
    if (end <= begin || each.first >= begin + bytes) continue;
    if (each.first < begin || end > begin + bytes)
      throw_invalid("the range holds only some bytes of a mapping");
    found.push_back(&each);
  }
  return found;
}

/// Makes each run of neighbouring mappings with access one allocation of the device, so that copies and
/// accesses may cross from one mapping to the next.
void update_device(std::uint64_t begin, Range& range) {
  for (const std::uint64_t each : range.regions) device().memory().free(each);
  range.regions.clear();
  std::uint64_t end = 0;
  for (auto at = range.mappings.begin(); at != range.mappings.end();) {
    const std::uint64_t first = at->first;
    for (end = first;
         at != range.mappings.end() && at->first == end && at->second.access != CU_MEM_ACCESS_FLAGS_PROT_NONE;
         ++at) {
      end += at->second.memory->bytes;
    }
    if (end == first) {
      ++at;
      continue;
    }
    map_host_memory(device(), {range.pages + (first - begin), end - first}, first);
    range.regions.push_back(first);
  }
}

/// Maps `file` in a part of a range. If `file` is negative, makes the part inaccessible.
void replace_pages(const Range& range, std::uint64_t offset, std::uint64_t bytes, int file) {
  const int protection = file < 0 ? PROT_NONE : PROT_READ | PROT_WRITE;
  const int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
  if (::mmap(range.pages + offset, bytes, protection, flags | MAP_FIXED, file, 0) == MAP_FAILED)
    throw Failure(cudaErrorMemoryAllocation, "the host cannot map the memory");
}

Handle create(std::uint64_t bytes, const CUmemAllocationProp& properties) {
  if (properties.type != CU_MEM_ALLOCATION_TYPE_PINNED) throw_invalid("the type of the memory is not pinned");
  require_location(properties.location);
  if (properties.requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE)
    throw Failure(cudaErrorNotSupported, "memory cannot be shared with other processes");
  if (bytes == 0) throw_invalid("an allocation of no bytes");
  require_multiple_of_granularity(bytes, "the size");
  auto made = std::make_shared<Physical>();
  count_allocated(bytes);
  made->bytes = bytes;
  made->properties = properties;
  made->file = ::memfd_create("tmajit", MFD_CLOEXEC);
  if (made->file < 0) count_released(bytes);
  if (made->file < 0 || ::ftruncate(made->file, static_cast<::off_t>(bytes)) != 0)
    throw Failure(cudaErrorMemoryAllocation, "the host has no room for the memory");
  VirtualMemory& all = virtual_memory();
  made->handle = ++all.last_handle;
  all.handles[made->handle] = {made, 1};
  return made->handle;
}

void map(std::uint64_t address, std::uint64_t bytes, std::uint64_t offset, Handle handle) {
  require_multiple_of_granularity(address, "the address");
  require_multiple_of_granularity(bytes, "the size");
  auto& [begin, range] = range_containing(address, bytes);
  const std::shared_ptr<Physical> memory = entry_at(handle).memory;
  if (offset != 0 || bytes != memory->bytes)
    throw Failure(cudaErrorNotSupported, "memory is mapped as a whole, as on a GPU");
  if (!mappings_in(range, address, bytes).empty()) throw_invalid("memory is mapped there already");
  replace_pages(range, address - begin, bytes, memory->file);
  range.mappings[address] = {memory};
  add_mapped(address, bytes);
}

void unmap(std::uint64_t address, std::uint64_t bytes) {
  require_multiple_of_granularity(address, "the address");
  require_multiple_of_granularity(bytes, "the size");
  auto& [begin, range] = range_containing(address, bytes);
  for (const auto* each : mappings_in(range, address, bytes)) {
    const std::uint64_t at = each->first;
    replace_pages(range, at - begin, each->second.memory->bytes, -1);
    remove_mapped(at);
    range.mappings.erase(at);
  }
  update_device(begin, range);
}

void set_access(std::uint64_t address, std::uint64_t bytes, std::span<const CUmemAccessDesc> descriptions) {
  auto& [begin, range] = range_containing(address, bytes);
  const auto mappings = mappings_in(range, address, bytes);
  std::uint64_t mapped = 0;
  for (const auto* each : mappings) mapped += each->second.memory->bytes;
  if (bytes == 0 || mapped != bytes) throw_invalid("no memory is mapped at some of the addresses");
  for (const auto& each : descriptions) require_location(each.location);
  for (const auto& description : descriptions) {
    for (auto* each : mappings) each->second.access = description.flags;
  }
  update_device(begin, range);
}

/// The mapping that holds the address.
const Mapping& mapping_at(std::uint64_t address) {
  const Range& range = range_containing(address, 1).second;
  const auto next = range.mappings.upper_bound(address);
  if (next == range.mappings.begin() ||
      address - std::prev(next)->first >= std::prev(next)->second.memory->bytes)
    throw_invalid("no memory is mapped at the address");
  return std::prev(next)->second;
}

/// driver_guarded() under the lock of the virtual memory.
template <class Body>
CUresult locked(const char* function, const Body& body) noexcept {
  return driver_guarded(function, [&] {
    const std::lock_guard lock(virtual_memory().mutex);
    body();
  });
}

}  // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  return driver_guarded(__func__, [&] {
    require_location(require_non_null(properties, "the properties").location);
    require_non_null(bytes, "the result") = granularity;
  });
}
CUresult cuMemAddressReserve(CUdeviceptr* result, std::size_t bytes, std::size_t alignment, CUdeviceptr,
                             unsigned long long flags) {
  return locked(__func__, [&] {
    if (bytes == 0 || flags != 0) throw_invalid("the size must not be 0, and the flags must be 0");
    require_multiple_of_granularity(bytes, "the size");
    if ((alignment & (alignment - 1)) != 0) throw_invalid("the alignment is not a power of two");
    require_non_null(result, "the result");
    void* const pages = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) throw Failure(cudaErrorMemoryAllocation, "the host has no such range");
    *result = reserve_addresses(bytes, std::max<std::uint64_t>(alignment, granularity));
    virtual_memory().ranges[*result] = {bytes, static_cast<std::byte*>(pages)};
  });
}
CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  return locked(__func__, [&] {
    const auto found = virtual_memory().ranges.find(address);
    if (found == virtual_memory().ranges.end() || found->second.bytes != bytes)
      throw_invalid("no range of this size was reserved at the address");
    if (!found->second.mappings.empty()) throw_invalid("memory is still mapped in the range");
    ::munmap(found->second.pages, bytes);
    virtual_memory().ranges.erase(found);
  });
}
CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long flags) {
  return locked(__func__, [&] {
    if (flags != 0) throw_invalid("the flags must be 0");
    store(handle, [&] { return create(bytes, require_non_null(properties, "the properties")); });
  });
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return locked(__func__, [&] {
    if (--entry_at(handle).references == 0) virtual_memory().handles.erase(handle);
  });
}
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  return locked(__func__, [&] {
    const std::shared_ptr<Physical> memory = mapping_at(address_of(address)).memory;
    require_non_null(handle, "the result") = memory->handle;
    VirtualMemory::HandleEntry& owned = virtual_memory().handles[memory->handle];
    owned.memory = memory;
    ++owned.references;
  });
}
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                CUmemGenericAllocationHandle handle) {
  return locked(__func__,
                [&] { require_non_null(properties, "the result") = entry_at(handle).memory->properties; });
}
CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return locked(__func__, [&] {
    if (flags != 0) throw_invalid("the flags must be 0");
    map(address, bytes, offset, handle);
  });
}
CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  return locked(__func__, [&] { unmap(address, bytes); });
}
CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes, const CUmemAccessDesc* descriptions,
                        std::size_t count) {
  return locked(__func__, [&] {
    require_non_null(descriptions, "the descriptions");
    set_access(address, bytes, {descriptions, count});
  });
}
CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr address) {
  return locked(__func__, [&] {
    require_location(require_non_null(location, "the location"));
    require_non_null(flags, "the result") = mapping_at(address).access;
  });
}

}  // extern "C"
