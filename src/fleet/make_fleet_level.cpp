#include "cache/entry_format.hpp"
#include "fleet/fleet_level.hpp"
#include "fleet/folder_store.hpp"
#include "spec/refuse.hpp"

#ifdef TMAJIT_HAS_REDIS
#include "fleet/redis_store.hpp"
#endif

TMAJIT_BEGIN
namespace {

void require_legal(const FleetOptions& options) {
  constexpr std::chrono::minutes longest_wait{1};
  if (options.max_wait.count() < 1 || options.max_wait > longest_wait)
    refuse("fleet: max_wait is {} ms; legal are 1 to {} ms", options.max_wait.count(),
           std::chrono::milliseconds(longest_wait).count());
  constexpr std::chrono::hours longest_lease{1};
  if (options.lease.count() < 1 || options.lease > longest_lease)
    refuse("fleet: lease is {} ms; legal are 1 to {} ms", options.lease.count(),
           std::chrono::milliseconds(longest_lease).count());
  if (options.time_to_live.count() < 0)
    refuse("fleet: time_to_live is {} s; 0 or more is legal", options.time_to_live.count());
  if (options.max_entry_bytes < 1 || options.max_entry_bytes > max_entry_bytes)
    refuse("fleet: max_entry_bytes is {}; legal are 1 to {}", options.max_entry_bytes, max_entry_bytes);
  if (options.prefix.empty()) refuse("fleet: prefix is empty; a name such as \"tmajit\" is legal");
}

std::shared_ptr<const FleetStore> make_redis_store([[maybe_unused]] FleetAddress address,
                                                   [[maybe_unused]] const FleetOptions& options) {
#ifdef TMAJIT_HAS_REDIS
  return std::make_shared<const RedisStore>(std::move(address), options, options.max_entry_bytes);
#else
  fail(ErrorCode::unavailable,
       "fleet: this build of tmajit has no Redis, because its build found no static library of hiredis. "
       "Install "
       "Debian's package libhiredis-dev and build tmajit again, or use a folder: file:///path");
#endif
}

}  // namespace

std::unique_ptr<const KernelLevel> make_fleet_level(const FleetOptions& options) {
  if (options.url.empty()) return nullptr;
  FleetAddress address = address_of(options);
  require_legal(options);
  std::shared_ptr<const FleetStore> store;
  if (address.kind == FleetAddress::Kind::folder) {
    store = std::make_shared<const FolderStore>(address.path, options, options.max_entry_bytes);
  } else {
    store = make_redis_store(std::move(address), options);
  }
  return std::make_unique<const FleetLevel>(std::move(store), options);
}

TMAJIT_END
