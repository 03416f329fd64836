/// Conflicts of copies in shared memory: with writes that lack a proxy fence, with other phases of an
/// mbarrier, with other copies.
#include "sim/causes/causes.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// Offsets in shared memory: [begin, end).
struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

std::vector<Range> pieces_of(const Copy& copy) {
  std::vector<Range> pieces;
  for_each_shared(copy, [&](std::uint32_t at, std::uint32_t bytes) { pieces.push_back({at, at + bytes}); });
  return pieces;
}

bool overlap(const std::vector<Range>& a, const std::vector<Range>& b) {
  return std::ranges::any_of(a, [&](const Range& one) {
    return std::ranges::any_of(
        b, [&](const Range& other) { return one.begin < other.end && other.begin < one.end; });
  });
}

}  // namespace

std::string range_text(std::uint32_t offset, std::uint32_t bytes) {
  return fmt::format("{:#x} to {:#x}", offset + shared_base, offset + shared_base + bytes - 1);
}

std::string range_text(const Copy& copy) {
  return range_text(copy.shared, copy.tensor ? copy.tile().span() : copy.bytes);
}

Engine::InFlight Engine::find_in_flight(const Copy& access, Shadow state) const {
  const std::vector<Range> touched = pieces_of(access);
  const auto describe = [&](std::string_view subject, std::uint32_t location, std::string_view direction,
                            const std::string& range) {
    InFlight found;
    found.text = fmt::format(", the {} at PTX line {} {} {}", subject, cta_.program.locations[location].line,
                             direction, range);
    found.location = location;
    return found;
  };
  if (state == Shadow::loading) {
    for (const Copy& load : loads_) {
      if (!overlap(pieces_of(load), touched)) continue;
      InFlight found = describe("one", load.location, "into", range_text(load));
      found.barrier = load.barrier;
      found.load = &load;
      return found;
    }
    const SmallCopy* const small = cta_.small_copies.writes_into(touched.front().begin, touched.back().end);
    if (small == nullptr) return {};
    return describe("cp.async", small->location, "into", range_text(small->shared, small->bytes));
  }
  for (const Store& store : stores_) {
    if (store.read || !overlap(pieces_of(store.copy), touched)) continue;
    InFlight found = describe("one", store.copy.location, "from", range_text(store.copy));
    if (!store.committed) found.text += ", which no cp.async.bulk.commit_group has put into a group";
    found.store = &store.copy;
    found.group = store.group;
    return found;
  }
  for (Copy copy : reads_) {
    copy.shared = copy.source_offset;
    if (overlap(pieces_of(copy), touched))
      return describe("copy to a peer", copy.location, "from", range_text(copy));
  }
  return {};
}

const SmallCopy* SmallCopies::writes_into(std::uint32_t begin, std::uint32_t end) const {
  const auto found = std::ranges::find_if(
      pending_, [&](const SmallCopy& each) { return each.shared < end && begin < each.shared + each.bytes; });
  return found == pending_.end() ? nullptr : &*found;
}

void Engine::check_writers(const Copy& load, const Warp& warp, std::uint32_t lane) {
  // st.async and red.async write through the generic proxy, so they need no proxy fence.
  if (load.deposit != nullptr) return;
  const std::uint32_t tag = unpublished_writer(load, warp, lane, Fence::any_thread);
  if (tag == 0) return;
  std::uint32_t writer = 0;
  (void)cta_.published(tag, writer);
  warp.report(
      lane, "load.missing-proxy-fence",
      fmt::format("an asynchronous load into {} overwrites shared memory that thread {} wrote with no "
                  "fence.proxy.async since",
                  range_text(load), text_of(cta_.thread_index(writer))));
}

std::uint32_t Engine::unpublished_writer(const Copy& copy, const Warp& warp, std::uint32_t lane,
                                         Fence fence) const {
  std::uint32_t tag = 0;
  std::uint32_t offset = 0;
  std::uint32_t writer = 0;
  for_each_shared(copy, [&](std::uint32_t at, std::uint32_t bytes) {
    for (std::uint32_t i = at / 4; i < (at + bytes) / 4 && tag == 0; ++i) {
      if (fence == Fence::writer_only ? cta_.published(cta_.writers()[i], writer)
                                      : cta_.visible(warp, lane, i, writer))
        continue;
      tag = cta_.writers()[i];
      offset = 4 * i;
    }
  });
  const bool follows =
      tag == 0 || !cta_.races || cta_.races->follows_write(warp, lane, cta_.in_cluster(offset));
  return follows ? tag : 0;
}

void Engine::check_phase(const Copy& copy) {
  const Mbarrier& barrier = *cta_.mbarrier(copy.barrier);
  const PhaseTransactions& before = barrier.transactions.previous();
  // A previous phase without bytes cannot be the phase of a copy.
  if (before.expected.empty() || before.completed.empty()) return;
  report_too_late(cta_, copy.barrier, barrier, {copy.issuer, copy.thread, copy.location, copy.bytes, 1});
}

std::optional<TransactionPart> Engine::in_flight_to(std::uint32_t barrier) const {
  const auto load = std::ranges::find(loads_, barrier, &Copy::barrier);
  if (load == loads_.end()) return std::nullopt;
  return TransactionPart{load->issuer, load->thread, load->location, load->bytes, 1};
}

bool Engine::check_source(const Copy& copy, const Warp& warp, std::uint32_t lane) {
  bool written = true;
  bool delivered = true;
  for_each_inside(copy, [&](std::uint32_t at, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; ++i)
      written = written && (cta_.shadow()[at + i] & (initialised | loading)) != 0;
  });
  for_each_shared(copy, [&](std::uint32_t at, std::uint32_t bytes) {
    for (std::uint32_t i = 0; i < bytes; ++i) delivered = delivered && (cta_.shadow()[at + i] & loading) == 0;
  });
  if (!written) {
    warp.report(lane, "store.uninitialised", "a bulk store reads shared memory that no thread has written");
  }
  if (!delivered) {
    const InFlight load = find_in_flight(copy, loading);
    if (!report_read_early(warp, lane, cta_, load, "store.in-flight-read"))
      warp.cta->report(
          warp.thread(lane), warp.location(), "store.in-flight-read",
          fmt::format("a bulk store from {} reads shared memory that an asynchronous load has not "
                      "delivered yet{}",
                      range_text(copy), load.text),
          {}, {}, load.location);
  }
  const std::uint32_t unpublished = unpublished_writer(copy, warp, lane, Fence::any_thread);
  std::uint32_t writer = 0;
  if (unpublished != 0) {
    (void)cta_.published(unpublished, writer);
    warp.report(lane, "store.missing-proxy-fence",
                fmt::format("a bulk store reads shared memory that thread {} wrote with no "
                            "fence.proxy.async since",
                            text_of(cta_.thread_index(writer))));
  } else if (const std::uint32_t late = unpublished_writer(copy, warp, lane, Fence::writer_only); late != 0) {
    (void)cta_.published(late, writer);
    warp.report(
        lane, "store.late-proxy-fence",
        fmt::format("a bulk store reads shared memory that thread {} wrote, and the thread that stores "
                    "has executed fence.proxy.async in its place",
                    text_of(cta_.thread_index(writer))));
  }
  return written && delivered && unpublished == 0;
}

}  // namespace sim
TMAJIT_END
