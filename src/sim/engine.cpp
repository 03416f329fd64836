#include "sim/engine.hpp"

#include "sim/cta.hpp"
#include "sim/tile.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// What a load's destination holds until it is delivered.
constexpr int poison = 0xcb;
/// Stores that have read their source but not written yet; the oldest beyond is written.
constexpr std::size_t most_unwritten = 32;
constexpr std::uint32_t most_row_bytes = 256 * 32;

/// Calls visit(shared offset, bytes) for every piece that a copy has in shared memory.
template <typename Visit>
void for_each_shared(const Copy& copy, const Visit& visit) {
  if (!copy.tensor) return visit(copy.shared, copy.bytes);
  const Tile tile(copy.map.spec, copy.origin);
  tile.for_each_row([&](const TileRow& row) {
    tile.for_each_piece(copy.shared, row,
                        [&](std::uint32_t at, std::uint32_t, std::uint32_t bytes) { visit(at, bytes); });
  });
}

/// To 10 mantissa bits, ties to even; NaN gives one pattern (docs/tma.md).
std::uint32_t round_to_tf32(std::uint32_t bits) {
  const std::uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return 0x7fffe000;
  return (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffU;
}

/// What the engine makes of a row's elements on the way to shared memory.
void convert_row(ElementType type, std::byte* row, std::uint32_t bytes) {
  if (type != ElementType::tf32 && type != ElementType::tf32_ftz) return;
  for (std::uint32_t i = 0; i + 4 <= bytes; i += 4) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, row + i, 4);
    bits = round_to_tf32(bits);
    std::memcpy(row + i, &bits, 4);
  }
}

void fill_row(OobFill fill, std::byte* row, std::uint32_t bytes) {
  if (fill == OobFill::zero) {
    std::memset(row, 0, bytes);
    return;
  }
  for (std::uint32_t i = 0; i < bytes; ++i) row[i] = i % 2 == 0 ? std::byte{0xf7} : std::byte{0x7f};
}

}  // namespace

void Engine::issue_load(const Copy& copy, const Warp& warp, std::uint32_t lane) {
  std::uint8_t seen = 0;
  for_each_shared(copy, [&](std::uint32_t at, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; ++i) seen |= cta_.shadow()[at + i];
  });
  if ((seen & in_mbarrier) != 0) {
    warp.cta->fail(warp, lane, "load.onto-mbarrier",
                   "the destination of an asynchronous load covers an mbarrier",
                   "a destination apart from every mbarrier", "move the mbarriers, or invalidate them first");
  }
  if ((seen & storing) != 0) {
    warp.cta->report(
        warp, lane, "load.before-store-read",
        "an asynchronous load begins to write shared memory that a bulk store has not read yet",
        "cp.async.bulk.wait_group.read of that store before its memory is used again",
        "wait for the group of the store that used this stage last; check the group count for an off-by-one");
  }
  if ((seen & loading) != 0) {
    warp.cta->report(
        warp, lane, "load.overlap",
        "an asynchronous load begins to write shared memory that another load in flight writes too",
        "one load at a time for a byte of shared memory",
        "wait on the mbarrier of the earlier load, and for its readers, before loading the stage again");
  }
  if (copy.reduces) {
    if ((seen & initialised) == 0) {
      warp.cta->report(warp, lane, "shared.uninitialised",
                       "an asynchronous reduction onto shared memory that nobody has written",
                       "a write before the reduction", "initialise the destination, then synchronise");
    }
  } else {
    for_each_shared(copy, [&](std::uint32_t at, std::uint32_t bytes) {
      std::memset(cta_.shared() + at, poison, bytes);
      std::memset(cta_.shadow() + at, loading, bytes);
      std::memset(cta_.writers() + at / 4, 0, bytes / 4 * 4);
    });
  }
  if (cta_.launch.options.mode == SimOptions::Mode::early) {
    complete_load(copy);
  } else {
    loads_.push_back(copy);
  }
}

bool Engine::deliver() {
  if (loads_.empty()) return false;
  const auto at = static_cast<std::ptrdiff_t>(cta_.random() % loads_.size());
  const Copy copy = loads_[static_cast<std::size_t>(at)];
  loads_.erase(loads_.begin() + at);
  complete_load(copy);
  return true;
}

std::uint64_t Engine::bytes_in_flight(std::uint32_t offset) const noexcept {
  std::uint64_t bytes = 0;
  for (const Copy& load : loads_) bytes += load.barrier == offset ? load.bytes : 0;
  return bytes;
}

void Engine::complete_load(const Copy& copy) {
  const auto outside = [&](std::uint64_t address, std::uint64_t bytes) {
    copy.issuer->report(nullptr, copy.thread, copy.place, "load.out-of-bounds",
                        fmt::format("an asynchronous load reads {} bytes at {:#x}: {}", bytes, address,
                                    cta_.describe_global(address, bytes)),
                        "a source inside one allocation",
                        copy.tensor ? "check the tensor map's shape and strides against the allocation"
                                    : "check the address and the number of bytes");
    throw Stop{};
  };
  if (copy.source != nullptr || copy.deposit != nullptr) {
    complete_from_peer(copy);
  } else if (!copy.tensor) {
    const std::byte* source = cta_.global(copy.global, copy.bytes);
    if (source == nullptr) outside(copy.global, copy.bytes);
    std::memcpy(cta_.shared() + copy.shared, source, copy.bytes);
    std::memset(cta_.shadow() + copy.shared, initialised, copy.bytes);
  } else {
    const TensorMapSpec& spec = copy.map.spec;
    const Tile tile(spec, copy.origin);
    std::array<std::byte, most_row_bytes> buffer;
    tile.for_each_row([&](const TileRow& row) {
      fill_row(spec.oob_fill, buffer.data(), tile.row_bytes());
      if (row.first < row.last) {
        const std::uint64_t address = copy.map.address + static_cast<std::uint64_t>(row.global) + row.first;
        const std::byte* source = cta_.global(address, row.last - row.first);
        if (source == nullptr) outside(address, row.last - row.first);
        std::memcpy(buffer.data() + row.first, source, row.last - row.first);
        convert_row(spec.type, buffer.data() + row.first, row.last - row.first);
      }
      tile.for_each_piece(copy.shared, row, [&](std::uint32_t at, std::uint32_t byte, std::uint32_t bytes) {
        std::memcpy(cta_.shared() + at, buffer.data() + byte, bytes);
        std::memset(cta_.shadow() + at, initialised, bytes);
      });
    });
  }
  ++cta_.changes;
  Mbarrier* barrier = cta_.mbarrier(copy.barrier);
  if (barrier == nullptr) {
    copy.issuer->report(nullptr, copy.thread, copy.place, "mbarrier.invalidated",
                        "an asynchronous load completes on an mbarrier that is none any more",
                        "the mbarrier stays valid until its loads have completed",
                        "wait before mbarrier.inval");
    return;
  }
  barrier->bytes -= copy.bytes;
  cta_.settle(copy.barrier, *barrier);
}

void Engine::check_source(const Copy& copy, const Warp& warp, std::uint32_t lane) {
  bool fresh = true;
  bool delivered = true;
  std::uint32_t unpublished = 0;
  std::uint32_t writer = 0;
  for_each_shared(copy, [&](std::uint32_t at, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; ++i) {
      fresh = fresh && (cta_.shadow()[at + i] & (initialised | loading)) != 0;
      delivered = delivered && (cta_.shadow()[at + i] & loading) == 0;
    }
    for (std::uint32_t i = at / 4; i < (at + bytes) / 4; ++i) {
      if (!cta_.published(cta_.writers()[i], writer))
        unpublished = unpublished == 0 ? cta_.writers()[i] : unpublished;
    }
  });
  if (!fresh) {
    cta_.report(warp, lane, "store.uninitialised", "a bulk store reads shared memory that nobody has written",
                "a source that was written before the store is issued",
                "check the source address, and that all threads have written before one issues the store");
  }
  if (!delivered) {
    cta_.report(warp, lane, "store.in-flight-read",
                "a bulk store reads shared memory that an asynchronous load has not delivered yet",
                "a wait on the load's mbarrier before the store",
                "wait for the phase that the load completes");
  }
  if (unpublished != 0) {
    (void)cta_.published(unpublished, writer);
    const auto t = cta_.thread_index(writer);
    cta_.report(warp, lane, "store.missing-proxy-fence",
                fmt::format("a bulk store reads shared memory that thread ({}, {}, {}) wrote with no "
                            "fence.proxy.async since",
                            t[0], t[1], t[2]),
                "fence.proxy.async by every writing thread, then a barrier, then the store",
                "call fence_proxy_async_shared() after the writes and before the barrier");
  }
}

Engine::Groups& Engine::groups_of(std::uint32_t thread) {
  for (Groups& groups : groups_) {
    if (groups.thread == thread) return groups;
  }
  return groups_.emplace_back(Groups{thread, 0});
}

void Engine::issue_store(const Copy& copy, const Warp& warp, std::uint32_t lane) {
  check_source(copy, warp, lane);
  for_each_shared(copy, [&](std::uint32_t at, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; ++i) cta_.shadow()[at + i] |= storing;
  });
  stores_.push_back({copy, groups_of(copy.thread).next, false, false, {}});
  if (cta_.launch.options.mode == SimOptions::Mode::early) {
    read(stores_.back());
    write(stores_.back());
  }
}

void Engine::commit_group(std::uint32_t thread) {
  Groups& groups = groups_of(thread);
  for (Store& store : stores_) store.committed = store.committed || store.copy.thread == thread;
  ++groups.next;
}

void Engine::wait_group(std::uint32_t thread, std::uint64_t pending, bool read_only) {
  const std::uint64_t next = groups_of(thread).next;
  for (Store& store : stores_) {
    if (store.copy.thread != thread || !store.committed || store.group + pending >= next) continue;
    read(store);
    if (!read_only) write(store);
  }
  std::erase_if(stores_, [](const Store& store) { return store.read && store.data.empty(); });
  while (stores_.size() > most_unwritten && stores_.front().read) {
    write(stores_.front());
    stores_.pop_front();
  }
  ++cta_.changes;
}

void Engine::read(Store& store) {
  if (store.read) return;
  store.read = true;
  store.data.resize(store.copy.bytes);
  std::byte* to = store.data.data();
  for_each_shared(store.copy, [&](std::uint32_t at, std::uint32_t bytes) {
    std::memcpy(to, cta_.shared() + at, bytes);
    to += bytes;
    for (std::uint32_t i = 0; i < bytes; ++i) cta_.shadow()[at + i] &= static_cast<std::uint8_t>(~storing);
  });
  mark_unread();
}

/// Bytes that one copy has read another may still have to read.
void Engine::mark_unread() {
  const auto mark = [&](std::uint32_t at, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; ++i) cta_.shadow()[at + i] |= storing;
  };
  for (const Store& store : stores_) {
    if (!store.read) for_each_shared(store.copy, mark);
  }
  for (const Copy& copy : reads_) mark(copy.source_offset, copy.bytes);
}

void Engine::write(Store& store) {
  if (store.data.empty()) return;
  const Copy& copy = store.copy;
  const auto put = [&](std::uint64_t address, const std::byte* from, std::uint64_t bytes) {
    std::byte* to = cta_.global(address, bytes);
    if (to == nullptr) {
      cta_.report(nullptr, copy.thread, copy.place, "store.out-of-bounds",
                  fmt::format("a bulk store writes {} bytes at {:#x}: {}", bytes, address,
                              cta_.describe_global(address, bytes)),
                  "a destination inside one allocation",
                  copy.tensor
                      ? "a tensor store writes whole 16-byte chunks of a row: end the map's rows at one, "
                        "and store the rest with threads"
                      : "check the address and the number of bytes");
      throw Stop{};
    }
    std::memcpy(to, from, bytes);
  };
  if (!copy.tensor) {
    put(copy.global, store.data.data(), copy.bytes);
  } else {
    const Tile tile(copy.map.spec, copy.origin);
    const std::byte* from = store.data.data();
    tile.for_each_row([&](const TileRow& row) {
      if (row.first < row.last) {
        const std::uint32_t last = std::min((row.last + 15) / 16 * 16, tile.row_bytes());
        put(copy.map.address + static_cast<std::uint64_t>(row.global) + row.first, from + row.first,
            last - row.first);
      }
      from += tile.row_bytes();
    });
  }
  store.data.clear();
  ++cta_.changes;
}

void Engine::finish() {
  for (const Copy& load : loads_) {
    if (load.issuer == &cta_) {
      cta_.report(nullptr, load.thread, load.place, "exit.load-in-flight",
                  "the CTA ends while an asynchronous load into its shared memory is in flight",
                  "a wait on the load's mbarrier before the CTA ends",
                  "wait for every phase that was started");
    } else {
      load.issuer->report(
          nullptr, load.thread, load.place, "exit.peer-writes",
          fmt::format("the CTA with rank {} ends while this asynchronous copy into its shared "
                      "memory is in flight",
                      cta_.rank),
          "a wait on the copy's mbarrier by the CTA it goes to, before that CTA ends",
          "wait for every phase that was started, or synchronise the cluster before exit");
    }
    if (load.source != nullptr) load.source->engine.end_read(load);
  }
  for (const Copy& copy : reads_) {
    cta_.report(nullptr, copy.thread, copy.place, "exit.store-unread",
                "the CTA ends before an asynchronous copy to a peer has read its shared memory",
                "a CTA that lives until the copy has completed at its destination",
                "synchronise the cluster after the destination has waited for the copy");
  }
  for (Store& store : stores_) {
    if (!store.read) {
      cta_.report(nullptr, store.copy.thread, store.copy.place, "exit.store-unread",
                  store.committed ? "the CTA ends before a bulk store has read its shared memory"
                                  : "the CTA ends with a bulk store that no commit_group closed",
                  "cp.async.bulk.commit_group and wait_group.read before the CTA ends",
                  "wait_group 0 before the issuing thread exits");
    }
    read(store);
    write(store);
  }
  reset();
}

void Engine::reset() {
  loads_.clear();
  stores_.clear();
  groups_.clear();
  reads_.clear();
}

}  // namespace sim
TMAJIT_END
