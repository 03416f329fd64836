// Device memory, and host memory that kernels can access.
#include "cudart/memory.hpp"

#include <tmajit/sim_module.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

TMAJIT_BEGIN
namespace cudart {
namespace {

/// The device allocates in this range of addresses; the host's heap, code and stacks are outside of it.
constexpr std::uint64_t first_device_address = 0x10'0000'0000;
/// Addresses that are reserved before memory is allocated there begin here: ranges that the program reserves,
/// and memory of graphs' allocation nodes.
constexpr std::uint64_t first_reserved_address = 0x4000'0000'0000;
constexpr std::uint64_t end_of_device_addresses = 0x5000'0000'0000;
/// Bytes between two reserved ranges, so that an access out of bounds hits no other memory.
constexpr std::uint64_t reserved_gap = 64ULL * 1024;
/// Host memory is allocated from this address on, so that addresses in reports are the same in every run.
constexpr std::uint64_t first_host_address = 0x6800'0000'0000;

class Allocations {
 public:
  void add(const Allocation& allocation) {
    const std::lock_guard lock(mutex_);
    all_[allocation.begin] = allocation;
  }
  std::optional<Allocation> remove(std::uint64_t begin) {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(begin);
    if (found == all_.end()) return std::nullopt;
    const Allocation allocation = found->second;
    all_.erase(found);
    return allocation;
  }
  [[nodiscard]] std::optional<Allocation> containing(std::uint64_t address) const {
    const std::lock_guard lock(mutex_);
    const auto next = all_.upper_bound(address);
    if (next == all_.begin()) return std::nullopt;
    const Allocation& before = std::prev(next)->second;
    if (address - before.begin >= std::max<std::uint64_t>(before.bytes, 1)) return std::nullopt;
    return before;
  }
  [[nodiscard]] std::uint64_t used() const {
    const std::lock_guard lock(mutex_);
    return used_;
  }
  /// Counts device memory. Returns false if more than `capacity` bytes would be in use.
  [[nodiscard]] bool count(std::uint64_t bytes, std::uint64_t capacity) {
    const std::lock_guard lock(mutex_);
    if (bytes > capacity - used_) return false;
    used_ += bytes;
    return true;
  }
  void uncount(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    used_ -= bytes;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Allocation> all_;
  std::uint64_t used_ = 0;
};

Allocations& allocations() {
  static auto& all = *new Allocations;
  return all;
}

std::uint64_t rounded_to_pages(std::uint64_t bytes) {
  static const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return (std::max<std::uint64_t>(bytes, 1) + page - 1) / page * page;
}

/// Unmaps host pages.
struct Unmap {
  std::uint64_t bytes = 0;
  void operator()(std::byte* pages) const noexcept { ::munmap(pages, rounded_to_pages(bytes)); }
};
using Pages = std::unique_ptr<std::byte, Unmap>;

/// Allocates host pages of zeros, at the address `hint` if it is free.
Pages map_pages(void* hint, std::uint64_t bytes) {
  void* const pages = ::mmap(hint, rounded_to_pages(bytes), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED)
    throw Failure(cudaErrorMemoryAllocation,
                  std::to_string(bytes) + " bytes of host memory cannot be allocated");
  return {static_cast<std::byte*>(pages), Unmap{bytes}};
}

/// Allocates host pages of zeros. The page after them stays unmapped, so that an overrun faults.
Pages host_pages(std::uint64_t bytes) {
  static std::mutex mutex;
  static std::uint64_t next = first_host_address;
  const std::lock_guard lock(mutex);
  Pages pages = map_pages(pointer_at(next), bytes);
  next += rounded_to_pages(bytes) + rounded_to_pages(1);
  return pages;
}

/// Counts bytes as memory of the device and, unless `pool` is null, of the pool. The destructor undoes the
/// count if the allocation failed, that is, unless set_allocated() was called.
class Counted {
 public:
  Counted(std::uint64_t bytes, Pool* pool) : bytes_(bytes), pool_(pool) {
    count_allocated(bytes);
    if (pool == nullptr) return;
    try {
      pool->count_allocated(bytes);
    } catch (...) {
      count_released(bytes);
      throw;
    }
  }
  ~Counted() {
    if (allocated_) return;
    count_released(bytes_);
    if (pool_ != nullptr) pool_->count_released(bytes_);
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  void set_allocated() noexcept { allocated_ = true; }

 private:
  std::uint64_t bytes_;
  Pool* pool_;
  bool allocated_ = false;
};

void release(const Allocation& allocation) {
  (void)allocations().remove(allocation.begin);
  device().memory().free(allocation.begin);
  if (allocation.pages != nullptr) ::munmap(allocation.pages, rounded_to_pages(allocation.bytes));
  if (allocation.kind == MemoryKind::device) count_released(allocation.bytes);
  if (allocation.pool) allocation.pool->count_released(allocation.bytes);
}

std::byte* bytes_at(void* pointer) {
  return static_cast<std::byte*>(pointer);
}
const std::byte* bytes_at(const void* pointer) {
  return static_cast<const std::byte*>(pointer);
}

}  // namespace

void* allocate(std::uint64_t bytes, MemoryKind kind, unsigned flags) {
  if (kind == MemoryKind::device) return allocate(bytes, nullptr);
  const std::uint64_t mapped_bytes = std::max<std::uint64_t>(bytes, 1);
  Pages pages = host_pages(mapped_bytes);
  map_host_memory(device(), {pages.get(), mapped_bytes});
  allocations().add({address_of(pages.get()), mapped_bytes, kind, flags, pages.get()});
  return pages.release();
}

void* allocate(std::uint64_t bytes, std::shared_ptr<Pool> pool) {
  Counted counted(bytes, pool.get());
  const std::uint64_t address = device().memory().allocate(bytes);
  allocations().add({address, bytes, MemoryKind::device, 0, nullptr, std::move(pool)});
  counted.set_allocated();
  return pointer_at(address);
}

std::uint64_t reserve_addresses(std::uint64_t bytes, std::uint64_t alignment) {
  static std::mutex mutex;
  static std::uint64_t next = first_reserved_address;
  const std::lock_guard lock(mutex);
  const std::uint64_t begin = (next + alignment - 1) / alignment * alignment;
  if (bytes > end_of_device_addresses - begin)
    throw Failure(cudaErrorMemoryAllocation, std::to_string(bytes) + " bytes of addresses are not free");
  next = begin + bytes + reserved_gap;
  return begin;
}

void allocate_at(std::uint64_t address, std::uint64_t bytes, std::shared_ptr<Pool> pool) {
  if (allocation_at(pointer_at(address)))
    throw Failure(cudaErrorInvalidValue, "the memory at this address is still allocated");
  Counted counted(bytes, pool.get());
  Pages pages = map_pages(nullptr, bytes);
  map_host_memory(device(), {pages.get(), bytes}, address);
  allocations().add({address, bytes, MemoryKind::device, 0, pages.release(), std::move(pool)});
  counted.set_allocated();
}

void release(const void* pointer) {
  if (pointer == nullptr) return;
  const auto allocation = allocation_at(pointer);
  if (allocation && allocation->begin == address_of(pointer) &&
      (allocation->kind == MemoryKind::device || allocation->kind == MemoryKind::managed))
    return release(*allocation);
  // The device itself reports an address at which none of its allocations begins.
  if (!allocation) device().memory().free(address_of(pointer));
  throw Failure(cudaErrorInvalidValue, "no device allocation begins at this address");
}

void release_pinned(const void* pointer) {
  if (pointer == nullptr) return;
  const auto allocation = allocation_at(pointer);
  if (!allocation || allocation->begin != address_of(pointer) || allocation->kind != MemoryKind::pinned)
    throw Failure(cudaErrorInvalidValue, "no allocation of pinned memory begins at this address");
  release(*allocation);
}

void register_host(void* pointer, std::uint64_t bytes, unsigned flags) {
  if (pointer == nullptr || bytes == 0)
    throw Failure(cudaErrorInvalidValue, "there is no memory to register");
  if (allocation_at(pointer))
    throw Failure(cudaErrorHostMemoryAlreadyRegistered, "the memory is registered or allocated by CUDA");
  map_host_memory(device(), {bytes_at(pointer), bytes});
  allocations().add({address_of(pointer), bytes, MemoryKind::registered, flags});
}

void unregister_host(const void* pointer) {
  const auto allocation = allocation_at(pointer);
  if (!allocation || allocation->kind != MemoryKind::registered || allocation->begin != address_of(pointer))
    throw Failure(cudaErrorHostMemoryNotRegistered, "no registered memory begins at this address");
  (void)allocations().remove(allocation->begin);
  device().memory().free(allocation->begin);
}

std::optional<Allocation> allocation_at(const void* pointer) {
  return allocations().containing(address_of(pointer));
}

Allocation host_allocation_at(const void* pointer) {
  const auto allocation = allocation_at(pointer);
  if (!allocation || is_device(allocation->kind))
    throw Failure(cudaErrorInvalidValue,
                  "the address is not in host memory that CUDA has pinned, registered or manages");
  return *allocation;
}

bool is_device_address(const void* pointer) {
  const auto allocation = allocation_at(pointer);
  if (allocation) return is_device(allocation->kind);
  const std::uint64_t address = address_of(pointer);
  return address >= first_device_address && address < end_of_device_addresses;
}

void add_mapped(std::uint64_t address, std::uint64_t bytes) {
  allocations().add({address, bytes, MemoryKind::mapped});
}
void remove_mapped(std::uint64_t address) {
  (void)allocations().remove(address);
}

void throw_out_of_memory(std::uint64_t bytes) {
  throw Failure(cudaErrorMemoryAllocation, "the device has no room for " + std::to_string(bytes) +
                                               " bytes: " + std::to_string(used_bytes()) + " of " +
                                               std::to_string(device().info().memory_bytes) + " are in use");
}

void count_allocated(std::uint64_t bytes) {
  if (!allocations().count(bytes, device().info().memory_bytes)) throw_out_of_memory(bytes);
}
void count_released(std::uint64_t bytes) noexcept {
  allocations().uncount(bytes);
}

std::uint64_t used_bytes() {
  return allocations().used();
}

void copy(void* destination, const void* source, std::uint64_t bytes, cudaStream_t stream) {
  if (bytes == 0) return;
  if (destination == nullptr || source == nullptr)
    throw Failure(cudaErrorInvalidValue, "the destination or the source is null");
  auto& memory = device().memory();
  const bool to_device = is_device_address(destination);
  const bool from_device = is_device_address(source);
  if (to_device && from_device) {
    memory.copy(address_of(destination), address_of(source), bytes, stream);
  } else if (to_device) {
    memory.copy_in(address_of(destination), {bytes_at(source), bytes}, stream);
  } else if (from_device) {
    memory.copy_out({bytes_at(destination), bytes}, address_of(source), stream);
  } else {
    std::memmove(destination, source, bytes);
  }
}

void copy(void* destination, const Rows& destination_rows, const void* source, const Rows& source_rows,
          const Extent& extent, cudaStream_t stream) {
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return;
  const bool several_rows = extent.height > 1;
  if (several_rows && (destination_rows.pitch < extent.width || source_rows.pitch < extent.width))
    throw Failure(cudaErrorInvalidPitchValue, "a pitch is less than the width");
  for (std::uint64_t z = 0; z < extent.depth; ++z) {
    for (std::uint64_t y = 0; y < extent.height; ++y) {
      copy(bytes_at(destination) + z * destination_rows.slice + y * destination_rows.pitch,
           bytes_at(source) + z * source_rows.slice + y * source_rows.pitch, extent.width, stream);
    }
  }
}

void fill(void* destination, int value, std::uint64_t bytes, cudaStream_t stream) {
  if (bytes == 0) return;
  device().memory().fill(address_of(destination), static_cast<std::byte>(value), bytes, stream);
}

void fill(void* destination, const Rows& rows, std::uint32_t value, std::uint32_t element_bytes,
          const Extent& extent, cudaStream_t stream) {
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return;
  if (extent.height > 1 && rows.pitch < extent.width)
    throw Failure(cudaErrorInvalidPitchValue, "the pitch is less than the width");
  std::vector<std::byte> row(extent.width);
  for (std::uint64_t at = 0; at < extent.width; at += element_bytes)
    std::memcpy(row.data() + at, &value, std::min<std::uint64_t>(element_bytes, extent.width - at));
  for (std::uint64_t z = 0; z < extent.depth; ++z) {
    for (std::uint64_t y = 0; y < extent.height; ++y) {
      void* const at = bytes_at(destination) + z * rows.slice + y * rows.pitch;
      if (element_bytes == 1) {
        fill(at, static_cast<int>(value), extent.width, stream);
      } else {
        copy(at, row.data(), extent.width, stream);
      }
    }
  }
}

}  // namespace cudart
TMAJIT_END
