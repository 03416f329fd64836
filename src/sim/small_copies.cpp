#include "sim/small_copies.hpp"

#include "sim/cta.hpp"

#include <cstring>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

constexpr int poison = 0xcb;

}  // namespace

void SmallCopies::issue(SmallCopy copy, const Warp& warp, std::uint32_t lane) {
  std::uint8_t seen = 0;
  for (std::uint32_t i = 0; i < copy.bytes; ++i) seen |= cta_.shadow()[copy.shared + i];
  if ((seen & in_mbarrier) != 0) {
    cta_.fail(warp, lane, "load.onto-mbarrier", "the destination of a cp.async covers an mbarrier",
              "a destination apart from every mbarrier", "move the mbarriers, or invalidate them first");
  }
  if ((seen & storing) != 0) {
    cta_.report(warp, lane, "load.before-store-read",
                "a cp.async writes shared memory that a bulk store has not read yet",
                "cp.async.bulk.wait_group.read of that store before its memory is used again",
                "wait for the group of the store that used this stage last");
  }
  if ((seen & loading) != 0) {
    cta_.report(warp, lane, "load.overlap",
                "a cp.async writes shared memory that another copy in flight writes too",
                "one copy at a time for a byte of shared memory",
                "wait for the earlier copy, and for its readers, before the stage is loaded again");
  }
  std::memset(cta_.shared() + copy.shared, poison, copy.bytes);
  std::memset(cta_.shadow() + copy.shared, loading, copy.bytes);
  copy.group = next_group_[copy.thread];
  if (cta_.launch.options.mode == SimOptions::Mode::early) {
    complete(copy);
  } else {
    pending_.push_back({copy, serial_++});
  }
}

void SmallCopies::complete(const SmallCopy& copy) {
  std::byte* const to = cta_.shared() + copy.shared;
  const std::byte* const from = cta_.global(copy.global, copy.given);
  if (copy.given != 0 && from == nullptr) {
    cta_.report(nullptr, copy.thread, copy.place, "load.out-of-bounds",
                fmt::format("a cp.async reads {} bytes at {:#x}: {}", copy.given, copy.global,
                            cta_.describe_global(copy.global, copy.given)),
                "a source inside one allocation", "check the index against the size");
    throw Stop{};
  }
  if (copy.given != 0) std::memcpy(to, from, copy.given);
  std::memset(to + copy.given, 0, copy.bytes - copy.given);
  std::memset(cta_.shadow() + copy.shared, initialised, copy.bytes);
  // Through the generic proxy, as if the thread had stored it.
  for (std::uint32_t i = copy.shared / 4; i < (copy.shared + copy.bytes) / 4; ++i)
    cta_.writers()[i] = cta_.thread_tag(copy.thread);
  ++cta_.changes;
}

template <typename Due>
void SmallCopies::complete_if(std::uint32_t thread, const Due& due) {
  for (auto each = pending_.begin(); each != pending_.end();) {
    if (each->copy.thread == thread && due(*each)) {
      complete(each->copy);
      each = pending_.erase(each);
    } else {
      ++each;
    }
  }
}

void SmallCopies::wait_group(std::uint32_t thread, std::uint64_t pending) {
  const std::uint64_t next = next_group_[thread];
  complete_if(thread, [&](const Pending& each) { return each.copy.group + pending < next; });
}

void SmallCopies::wait_all(std::uint32_t thread) {
  complete_if(thread, [](const Pending&) { return true; });
}

void SmallCopies::arrive_later(std::uint32_t thread, std::uint32_t offset, std::uint32_t place) {
  arrivals_.push_back({thread, offset, place, serial_});
  if (cta_.launch.options.mode == SimOptions::Mode::early) (void)deliver();
}

bool SmallCopies::deliver() {
  if (arrivals_.empty()) return false;
  const auto at = static_cast<std::ptrdiff_t>(cta_.random() % arrivals_.size());
  const Arrival arrival = arrivals_[static_cast<std::size_t>(at)];
  arrivals_.erase(arrivals_.begin() + at);
  complete_if(arrival.thread, [&](const Pending& each) { return each.serial < arrival.serial; });
  Mbarrier* const barrier = cta_.mbarrier(arrival.offset);
  if (barrier == nullptr || barrier->pending == 0) {
    cta_.report(nullptr, arrival.thread, arrival.place,
                barrier == nullptr ? "mbarrier.invalidated" : "mbarrier.arrivals",
                barrier == nullptr ? "cp.async.mbarrier.arrive completes on an mbarrier that is none any more"
                                   : "cp.async.mbarrier.arrive at an mbarrier whose phase lacks no arrival",
                "as many arrivals a phase as mbarrier.init said, .noinc ones among them",
                "count the arrivals of .noinc in mbarrier.init");
    throw Stop{};
  }
  --barrier->pending;
  cta_.settle(arrival.offset, *barrier);
  return true;
}

void SmallCopies::reset() {
  pending_.clear();
  arrivals_.clear();
  next_group_.clear();
  serial_ = 0;
}

}  // namespace sim
TMAJIT_END
