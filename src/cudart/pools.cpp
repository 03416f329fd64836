// Memory pools. The device has one default pool; programs may create more.
#include "cudart/pools.hpp"

#include "cudart/handles.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

TMAJIT_BEGIN
namespace cudart {
namespace {

using PoolPointer = std::shared_ptr<Pool>;

struct Pools {
  Handles<PoolPointer> all{"memory pool"};
  std::mutex mutex;
  std::vector<PoolPointer*> in_creation_order;  ///< the first is the default pool
  PoolPointer* current = nullptr;

  Pools() { current = &add(std::numeric_limits<std::uint64_t>::max()); }
  PoolPointer& add(std::uint64_t max_bytes) {
    PoolPointer& added = all.add(std::make_unique<PoolPointer>(std::make_shared<Pool>(max_bytes)));
    const std::lock_guard lock(mutex);
    in_creation_order.push_back(&added);
    return added;
  }
};
Pools& pools() {
  static auto& all = *new Pools;
  return all;
}

cudaMemPool_t handle_of(PoolPointer* pool) {
  return reinterpret_cast<cudaMemPool_t>(pool);
}

/// Whether the attribute's value has 64 bits. The other attributes are of type int.
bool is_64_bit(cudaMemPoolAttr attribute) {
  return attribute >= cudaMemPoolAttrReleaseThreshold;
}

/// Throws Failure unless the location is device 0. Only its memory has pools.
void require_location(const cudaMemLocation& location) {
  if (location.type != cudaMemLocationTypeDevice)
    throw Failure(cudaErrorNotSupported, "only pools of device memory are supported");
  if (location.id != 0) throw Failure(cudaErrorInvalidValue, "the location is not the only device, 0");
}

}  // namespace

void Pool::count_allocated(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > max_bytes_ - used_) {
    throw Failure(cudaErrorMemoryAllocation, "the pool has no room for " + std::to_string(bytes) +
                                                 " bytes: " + std::to_string(used_) + " of " +
                                                 std::to_string(max_bytes_) + " are in use");
  }
  used_ += bytes;
  max_used_ = std::max(max_used_, used_);
  reserved_ = std::max(reserved_, used_);
  max_reserved_ = std::max(max_reserved_, reserved_);
}

void Pool::count_released(std::uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  used_ -= std::min(used_, bytes);
}

void Pool::trim(std::uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  reserved_ = std::max(used_, std::min(reserved_, bytes));
}

void Pool::trim_to_threshold() noexcept {
  const std::lock_guard lock(mutex_);
  reserved_ = std::max(used_, std::min(reserved_, threshold_));
}

std::uint64_t Pool::get(cudaMemPoolAttr attribute) const {
  const std::lock_guard lock(mutex_);
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies: return follows_events_ ? 1 : 0;
    case cudaMemPoolReuseAllowOpportunistic: return opportunistic_ ? 1 : 0;
    case cudaMemPoolReuseAllowInternalDependencies: return adds_dependencies_ ? 1 : 0;
    case cudaMemPoolAttrReleaseThreshold: return threshold_;
    case cudaMemPoolAttrReservedMemCurrent: return reserved_;
    case cudaMemPoolAttrReservedMemHigh: return max_reserved_;
    case cudaMemPoolAttrUsedMemCurrent: return used_;
    case cudaMemPoolAttrUsedMemHigh: return max_used_;
    default: throw Failure(cudaErrorInvalidValue, "a pool has no attribute " + std::to_string(attribute));
  }
}

void Pool::set(cudaMemPoolAttr attribute, std::uint64_t value) {
  const std::lock_guard lock(mutex_);
  const auto reset = [&](std::uint64_t& high, std::uint64_t current) {
    if (value != 0) throw Failure(cudaErrorInvalidValue, "a high watermark can only be reset to 0");
    high = current;
  };
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies: follows_events_ = value != 0; return;
    case cudaMemPoolReuseAllowOpportunistic: opportunistic_ = value != 0; return;
    case cudaMemPoolReuseAllowInternalDependencies: adds_dependencies_ = value != 0; return;
    case cudaMemPoolAttrReleaseThreshold: threshold_ = value; return;
    case cudaMemPoolAttrReservedMemHigh: return reset(max_reserved_, reserved_);
    case cudaMemPoolAttrUsedMemHigh: return reset(max_used_, used_);
    default:
      throw Failure(cudaErrorInvalidValue,
                    "attribute " + std::to_string(attribute) + " of a pool cannot be set");
  }
}

std::shared_ptr<Pool> current_pool() {
  Pools& all = pools();
  const std::lock_guard lock(all.mutex);
  return *all.current;
}

std::shared_ptr<Pool> pool_at(cudaMemPool_t handle) {
  if (PoolPointer* const found = pools().all.find(handle); found != nullptr) return *found;
  throw Failure(cudaErrorInvalidValue, "no memory pool has this handle; it may have been destroyed");
}

const std::shared_ptr<Pool>& graph_pool() {
  static const auto& one = *new PoolPointer([] {
    auto pool = std::make_shared<Pool>(std::numeric_limits<std::uint64_t>::max());
    // Memory of graphs stays reserved until cudaDeviceGraphMemTrim().
    pool->set(cudaMemPoolAttrReleaseThreshold, std::numeric_limits<std::uint64_t>::max());
    return pool;
  }());
  return one;
}

void trim_pools() noexcept {
  Pools& all = pools();
  const std::lock_guard lock(all.mutex);
  for (const PoolPointer* each : all.in_creation_order) (*each)->trim_to_threshold();
}

}  // namespace cudart
TMAJIT_END

using namespace tmajit::cudart;

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int ordinal) {
  return guarded(__func__, [&] {
    require_device(ordinal);
    Pools& all = pools();
    const std::lock_guard lock(all.mutex);
    require_non_null(pool, "the result") = handle_of(all.in_creation_order.front());
  });
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int ordinal) {
  return guarded(__func__, [&] {
    require_device(ordinal);
    Pools& all = pools();
    const std::lock_guard lock(all.mutex);
    require_non_null(pool, "the result") = handle_of(all.current);
  });
}
cudaError_t cudaDeviceSetMemPool(int ordinal, cudaMemPool_t pool) {
  return guarded(__func__, [&] {
    require_device(ordinal);
    (void)pool_at(pool);
    Pools& all = pools();
    const std::lock_guard lock(all.mutex);
    all.current = reinterpret_cast<PoolPointer*>(pool);
  });
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return guarded(__func__, [&] {
    const auto& p = require_non_null(properties, "the properties");
    if (p.allocType != cudaMemAllocationTypePinned)
      throw Failure(cudaErrorInvalidValue, "a pool's allocations have the type pinned");
    if (p.handleTypes != cudaMemHandleTypeNone)
      throw Failure(cudaErrorNotSupported, "a pool cannot be shared with other processes");
    require_location(p.location);
    const std::uint64_t max_bytes = p.maxSize == 0 ? std::numeric_limits<std::uint64_t>::max() : p.maxSize;
    store(pool, [&] { return handle_of(&pools().add(max_bytes)); });
  });
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return guarded(__func__, [&] {
    (void)pool_at(pool);
    Pools& all = pools();
    {
      const std::lock_guard lock(all.mutex);
      auto* const owned = reinterpret_cast<PoolPointer*>(pool);
      if (owned == all.in_creation_order.front())
        throw Failure(cudaErrorInvalidValue, "the default pool cannot be destroyed");
      if (all.current == owned) all.current = all.in_creation_order.front();
      std::erase(all.in_creation_order, owned);
    }
    // The pool's allocations keep it until they are freed.
    all.all.remove(pool);
  });
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes) {
  return guarded(__func__, [&] { pool_at(pool)->trim(bytes); });
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return guarded(__func__, [&] {
    const PoolPointer owned = pool_at(pool);
    require_non_null(static_cast<char*>(value), "the value");
    owned->set(attribute, is_64_bit(attribute) ? *static_cast<std::uint64_t*>(value)
                                               : static_cast<std::uint64_t>(*static_cast<int*>(value) != 0));
  });
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return guarded(__func__, [&] {
    const std::uint64_t found = pool_at(pool)->get(attribute);
    require_non_null(static_cast<char*>(value), "the result");
    if (is_64_bit(attribute)) {
      *static_cast<std::uint64_t*>(value) = found;
    } else {
      *static_cast<int*>(value) = static_cast<int>(found);
    }
  });
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* descriptions,
                                 std::size_t count) {
  return guarded(__func__, [&] {
    (void)pool_at(pool);
    if (count != 0) require_non_null(descriptions, "the descriptions");
    for (const auto& each : std::span(descriptions, count)) {
      require_location(each.location);
      if (each.flags != cudaMemAccessFlagsProtReadWrite)
        throw Failure(cudaErrorInvalidDevice, "a pool's own device always has access");
    }
  });
}
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location) {
  return guarded(__func__, [&] {
    (void)pool_at(pool);
    require_location(require_non_null(location, "the location"));
    require_non_null(flags, "the result") = cudaMemAccessFlagsProtReadWrite;
  });
}

}  // extern "C"
