#include "sim/engine/engine.hpp"

#include "sim/arithmetic/numeric.hpp"
#include "sim/causes/causes.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// Value of a load's destination bytes until the load is delivered.
constexpr int poison = 0xcb;
/// Limit of stores that have read their source and not written yet. If there are more, the oldest one writes.
constexpr std::size_t max_unwritten_stores = 32;
/// The longest row of a tile: 256 slices of channels, of 32 bytes each (Interleave::b32).
constexpr std::uint32_t max_row_bytes = 256 * 32;

/// Rounds f32 elements to tf32, as loads through a tf32 map do. Other types are unchanged.
void convert_row(ElementType type, std::byte* row, std::uint32_t bytes) {
  if (type != ElementType::tf32 && type != ElementType::tf32_ftz) return;
  for (std::uint32_t i = 0; i + 4 <= bytes; i += 4) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, row + i, 4);
    bits = to_tf32(bits, false);
    std::memcpy(row + i, &bits, 4);
  }
}

/// Writes the values of elements outside the tensor: zeros, or 0x7ff7 in every 16 bits, which is NaN in every
/// float type (docs/tma.md).
void fill_row(OobFill fill, std::byte* row, std::uint32_t bytes) {
  if (fill == OobFill::zero) {
    std::memset(row, 0, bytes);
    return;
  }
  for (std::uint32_t i = 0; i < bytes; ++i) row[i] = i % 2 == 0 ? std::byte{0xf7} : std::byte{0x7f};
}

/// Reports a copy into shared memory that is in use; `seen` is the union of its bytes' Shadow states. The
/// texts are for the report: "an asynchronous load", "begins to write", "load".
void check_destination(const Warp& warp, std::uint32_t lane, std::uint8_t seen, const Copy& destination,
                       Engine& engine, std::string_view subject, std::string_view verb,
                       std::string_view kind) {
  const auto report = [&](check::RuleId rule, std::string_view used, Shadow state) {
    if (warp.cta->launch.reports.count_repeat(rule->id, warp.program->locations[warp.location()].line))
      return;
    const Engine::InFlight in_flight = engine.find_in_flight(destination, state);
    if (state == loading) {
      if (const auto cause = why_too_early(*warp.cta, warp.thread(lane), rule)) {
        const std::uint32_t line = warp.program->locations[warp.location()].line;
        return sim::report(*cause,
                           fmt::format("{} at PTX line {} writes {}, into which another {} is in flight",
                                       subject, line, range_text(destination), kind),
                           rule, line);
      }
    }
    warp.cta->report(warp.thread(lane), warp.location(), rule,
                     fmt::format("{} into {} {} shared memory that {}{}", subject, range_text(destination),
                                 verb, used, in_flight.text),
                     {}, {}, in_flight.location);
  };
  if ((seen & in_mbarrier) != 0)
    warp.fail(lane, "load.onto-mbarrier", fmt::format("the destination of {} covers an mbarrier", subject));
  if ((seen & storing) != 0) report("load.before-store-read", "a bulk store has not read yet", storing);
  if ((seen & loading) != 0)
    report("load.overlap", fmt::format("another {} in flight writes too", kind), loading);
}

/// Host memory of the global range that a copy reads or writes. If no allocation contains the range, reports
/// that and throws Stop. `access` begins the report: "an asynchronous load reads".
std::byte* reach_global(Cta& cta, std::uint64_t address, std::uint64_t bytes, Cta& issuer,
                        std::uint32_t thread, std::uint32_t location, check::RuleId rule,
                        std::string_view access, std::string_view remedy = {}) {
  std::byte* const memory = cta.global(address, bytes);
  if (memory != nullptr) return memory;
  issuer.report(
      thread, location, rule,
      fmt::format("{} {} bytes at {:#x}: {}", access, bytes, address, cta.describe_global(address, bytes)),
      {}, remedy);
  throw Stop{rule->id};
}

}  // namespace

Copy issued_by(const Warp& warp, std::uint32_t lane) {
  Copy copy;
  copy.thread = warp.thread(lane);
  copy.issuer = warp.cta;
  copy.location = warp.location();
  return copy;
}

void Engine::issue_load(const Copy& copy, const Warp& warp, std::uint32_t lane) {
  std::uint8_t seen = 0;
  bool written = true;
  for_each_shared(copy, [&](std::uint32_t at, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; ++i) {
      seen |= cta_.shadow()[at + i];
      written = written && (cta_.shadow()[at + i] & (initialised | loading)) != 0;
    }
  });
  check_destination(warp, lane, seen, copy, *this, "an asynchronous load", "begins to write", "load");
  check_writers(copy, warp, lane);
  if (cta_.races && !cta_.races->load(copy, warp, lane, cta_, (seen & (storing | loading)) != 0))
    check_phase(copy);
  if (copy.reduces) {
    if (!written) {
      warp.report(lane, "shared.uninitialised", "an asynchronous reduction onto uninitialised shared memory",
                  "a write before the reduction");
    }
  } else {
    std::optional<Cta::Loaded> loaded;
    if (copy.tensor) loaded = {copy.location, copy.map.spec.swizzle};
    for_each_shared(copy, [&](std::uint32_t at, std::uint32_t bytes) {
      std::memset(cta_.shared() + at, poison, bytes);
      std::memset(cta_.shadow() + at, loading, bytes);
      std::memset(cta_.writers() + at / 4, 0, std::size_t{bytes} / 4 * 4);
      cta_.set_loaded(at, bytes, loaded);
    });
  }
  if (cta_.launch.options.mode == SimOptions::Mode::early) {
    complete_load(copy);
  } else {
    loads_.push_back(copy);
  }
}

bool Engine::uses_map(std::uint64_t address) const {
  const auto uses = [&](const Copy& copy) { return copy.tensor && copy.map_at == address; };
  return std::ranges::any_of(loads_, uses) || std::ranges::any_of(stores_, [&](const Store& store) {
           return uses(store.copy) && !store.read;  // a store reads its map before its source
         });
}

bool Engine::deliver() {
  if (loads_.empty()) return false;
  const auto at = static_cast<std::ptrdiff_t>(cta_.random() % loads_.size());
  const Copy copy = loads_[static_cast<std::size_t>(at)];
  loads_.erase(loads_.begin() + at);
  complete_load(copy);
  return true;
}

void Engine::complete_load(const Copy& copy) {
  const auto source = [&](std::uint64_t address, std::uint64_t bytes) -> const std::byte* {
    return reach_global(cta_, address, bytes, *copy.issuer, copy.thread, copy.location, "load.out-of-bounds",
                        "an asynchronous load reads",
                        copy.tensor ? "check the tensor map's shape and strides against the allocation" : "");
  };
  if (!copy.tensor) {
    std::byte* const to = cta_.shared() + copy.shared;
    if (copy.deposit != nullptr) {
      copy.deposit(to, copy);
    } else if (copy.source != nullptr) {
      const std::byte* const from = copy.source->shared() + copy.source_offset;
      if (copy.reduces) {
        copy.reduction.apply(to, from, copy.bytes, copy.reduction.operation);
      } else {
        std::memcpy(to, from, copy.bytes);
      }
      copy.source->engine.end_read(copy);
    } else {
      std::memcpy(to, source(copy.global, copy.bytes), copy.bytes);
    }
    if (!copy.reduces) std::memset(cta_.shadow() + copy.shared, initialised, copy.bytes);
  } else {
    const TensorMapSpec& spec = copy.map.spec;
    const Tile tile = copy.tile();
    std::array<std::byte, max_row_bytes> buffer;
    tile.for_each_row([&](const TileRow& row) {
      fill_row(spec.oob_fill, buffer.data(), tile.row_bytes());
      if (row.first < row.last) {
        const std::uint64_t address = copy.map.address + static_cast<std::uint64_t>(row.global) + row.first;
        std::memcpy(buffer.data() + row.first, source(address, row.last - row.first), row.last - row.first);
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
    copy.issuer->report(copy.thread, copy.location, "mbarrier.invalidated",
                        "an asynchronous load completes on an mbarrier that has been invalidated");
    return;
  }
  barrier->bytes -= copy.bytes;
  barrier->transactions.complete(*copy.issuer, copy.thread, copy.location, copy.bytes);
  cta_.settle(copy.barrier, *barrier);
}

void Engine::issue_store(const Copy& copy, const Warp& warp, std::uint32_t lane) {
  const bool legal = check_source(copy, warp, lane);
  std::optional<std::uint32_t> undefined_at;
  for_each_inside(copy, [&](std::uint32_t at, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes && !undefined_at; ++i)
      if ((cta_.shadow()[at + i] & undefined) != 0) undefined_at = at + i;
  });
  if (undefined_at) report_stored_undefined(warp, lane, cta_, *undefined_at);
  for_each_shared(copy, [&](std::uint32_t at, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; ++i) cta_.shadow()[at + i] |= storing;
  });
  const std::uint64_t group = open_group_[copy.thread];
  if (cta_.races) cta_.races->store(copy, warp, lane, group, !legal);
  stores_.push_back({copy, group, false, false, false, {}});
  if (cta_.launch.options.mode == SimOptions::Mode::early) {
    read(stores_.back());
    write(stores_.back());
  }
}

void Engine::commit_group(std::uint32_t thread) {
  for (Store& store : stores_) store.committed = store.committed || store.copy.thread == thread;
  ++open_group_[thread];
}

void Engine::wait_group(std::uint32_t thread, std::uint64_t pending, bool read_only) {
  const std::uint64_t next = open_group_[thread];
  for (Store& store : stores_) {
    if (store.copy.thread != thread || !store.committed || store.group + pending >= next) continue;
    store.awaited = true;
    read(store);
    if (!read_only) write(store);
  }
  if (cta_.races && pending < next) cta_.races->wait_group(cta_, thread, next - pending, read_only);
  std::erase_if(stores_, [](const Store& store) { return store.awaited && store.data.empty(); });
  while (stores_.size() > max_unwritten_stores && stores_.front().awaited) {
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

/// Sets `storing` for all bytes that copies in flight have yet to read. Needed after a copy has cleared the
/// state of its own source, because another copy may still have to read the same bytes.
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
    std::byte* const to = reach_global(
        cta_, address, bytes, cta_, copy.thread, copy.location, "store.out-of-bounds", "a bulk store writes",
        copy.tensor ? "a tensor store writes whole 16-byte chunks of a row: let the map's rows end after a "
                      "whole chunk, and store the rest with threads"
                    : "");
    if (copy.reduction.apply != nullptr) {
      copy.reduction.apply(to, from, static_cast<std::uint32_t>(bytes), copy.reduction.operation);
    } else {
      std::memcpy(to, from, bytes);
    }
  };
  if (!copy.tensor) {
    put(copy.global, store.data.data(), copy.bytes);
  } else {
    const Tile tile = copy.tile();
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
      cta_.report(load.thread, load.location, "exit.load-in-flight",
                  "the CTA ends while an asynchronous load into its shared memory is in flight", {}, {},
                  About({}, fmt::format("by warp {}", load.thread / lanes)));
    } else {
      load.issuer->report(
          load.thread, load.location, "exit.peer-writes",
          fmt::format("the CTA with rank {} ends while this asynchronous copy into its shared "
                      "memory is in flight",
                      cta_.rank),
          "a wait on the copy's mbarrier by the CTA it goes to, before that CTA ends");
    }
    if (load.source != nullptr) load.source->engine.end_read(load);
  }
  for (const Copy& copy : reads_) {
    cta_.report_unread_source(
        copy.thread, copy.location,
        "the CTA ends before an asynchronous copy to a peer has read its shared memory");
  }
  for (Store& store : stores_) {
    if (!store.awaited) {
      cta_.report(store.copy.thread, store.copy.location, "exit.store-unread",
                  store.committed ? "the CTA ends before a bulk store has read its shared memory"
                                  : "the CTA ends with a bulk store that no commit_group closed",
                  {}, {},
                  About({}, fmt::format("by warp {}, {}", store.copy.thread / lanes, store.committed)));
    }
    read(store);
    write(store);
  }
  reset();
}

void Engine::reset() {
  loads_.clear();
  stores_.clear();
  open_group_.clear();
  reads_.clear();
}

// Copies between CTAs of a cluster. They are in `loads_` of the destination's CTA and `reads_` of the
// source's.

void Engine::begin_read(const Copy& copy, const Warp& warp, std::uint32_t lane) {
  Copy range = copy;
  range.shared = copy.source_offset;
  check_source(range, warp, lane);
  reads_.push_back(copy);
  mark_unread();
}

void Engine::end_read(const Copy& copy) {
  const auto same = [&](const Copy& other) {
    return other.thread == copy.thread && other.location == copy.location &&
           other.source_offset == copy.source_offset && other.shared == copy.shared &&
           other.bytes == copy.bytes;
  };
  const auto found = std::ranges::find_if(reads_, same);
  if (found == reads_.end()) return;  // this CTA has ended, and finish() has reported the copy
  reads_.erase(found);
  for (std::uint32_t i = 0; i < copy.bytes; ++i)
    cta_.shadow()[copy.source_offset + i] &= static_cast<std::uint8_t>(~storing);
  mark_unread();
}

// cp.async.

void SmallCopies::issue(SmallCopy copy, const Warp& warp, std::uint32_t lane) {
  std::uint8_t seen = 0;
  for (std::uint32_t i = 0; i < copy.bytes; ++i) seen |= cta_.shadow()[copy.shared + i];
  if ((seen & (in_mbarrier | storing | loading)) != 0) {
    Copy range;
    range.shared = copy.shared;
    range.bytes = copy.bytes;
    check_destination(warp, lane, seen, range, cta_.engine, "a cp.async", "writes", "copy");
  }
  std::memset(cta_.shared() + copy.shared, poison, copy.bytes);
  std::memset(cta_.shadow() + copy.shared, loading, copy.bytes);
  copy.group = open_group_[copy.thread];
  copy.serial = serial_++;
  copy.written = cta_.launch.options.mode == SimOptions::Mode::early;
  if (copy.written) write(copy);
  pending_.push_back(copy);
}

void SmallCopies::write(const SmallCopy& copy) {
  std::byte* const to = cta_.shared() + copy.shared;
  if (copy.source_bytes != 0) {
    std::memcpy(to,
                reach_global(cta_, copy.global, copy.source_bytes, cta_, copy.thread, copy.location,
                             "load.out-of-bounds", "a cp.async reads"),
                copy.source_bytes);
  }
  std::memset(to + copy.source_bytes, 0, copy.bytes - copy.source_bytes);
}

void SmallCopies::complete(const SmallCopy& copy) {
  if (!copy.written) write(copy);
  std::memset(cta_.shadow() + copy.shared, initialised, copy.bytes);
  // cp.async writes through the generic proxy, like a store of the thread.
  for (std::uint32_t i = copy.shared / 4; i < (copy.shared + copy.bytes) / 4; ++i)
    cta_.writers()[i] = cta_.thread_tag(copy.thread) | Cta::by_small_copy;
  ++cta_.changes;
}

template <typename Due>
void SmallCopies::complete_if(std::uint32_t thread, const Due& due) {
  std::erase_if(pending_, [&](const SmallCopy& each) {
    if (each.thread != thread || !due(each)) return false;
    complete(each);
    return true;
  });
}

void SmallCopies::wait_group(std::uint32_t thread, std::uint64_t pending) {
  const std::uint64_t next = open_group_[thread];
  complete_if(thread, [&](const SmallCopy& each) { return each.group + pending < next; });
}

void SmallCopies::wait_all(std::uint32_t thread) {
  complete_if(thread, [](const SmallCopy&) { return true; });
}

void SmallCopies::arrive_later(std::uint32_t thread, std::uint32_t offset, std::uint32_t location) {
  arrivals_.push_back({thread, offset, location, serial_});
  if (cta_.launch.options.mode == SimOptions::Mode::early) (void)deliver();
}

bool SmallCopies::deliver() {
  if (arrivals_.empty()) return false;
  const auto at = static_cast<std::ptrdiff_t>(cta_.random() % arrivals_.size());
  const Arrival arrival = arrivals_[static_cast<std::size_t>(at)];
  arrivals_.erase(arrivals_.begin() + at);
  complete_if(arrival.thread, [&](const SmallCopy& each) { return each.serial < arrival.serial; });
  Mbarrier* const barrier = cta_.mbarrier(arrival.offset);
  if (barrier == nullptr || barrier->pending == 0) {
    const check::RuleId rule =
        barrier == nullptr ? check::RuleId("mbarrier.invalidated") : check::RuleId("mbarrier.arrivals");
    cta_.report(arrival.thread, arrival.location, rule,
                barrier == nullptr
                    ? "cp.async.mbarrier.arrive completes on an mbarrier that has been invalidated"
                    : "cp.async.mbarrier.arrive at an mbarrier whose phase expects no more arrivals");
    if (cta_.launch.continues_after(rule->id)) return true;
    throw Stop{rule->id};
  }
  barrier->uses.arrive(cta_.number_of(arrival.thread), arrival.location, barrier->phase);
  --barrier->pending;
  cta_.settle(arrival.offset, *barrier);
  return true;
}

void SmallCopies::reset() {
  pending_.clear();
  arrivals_.clear();
  open_group_.clear();
  serial_ = 0;
}

}  // namespace sim
TMAJIT_END
