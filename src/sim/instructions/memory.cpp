/// Loads and stores (PTX ISA 9.7.9).
#include "sim/instructions/select.hpp"
#include "sim/instructions/trace.hpp"

#include <array>
#include <cstring>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

// Relaxed host atomics, because CTAs on other host threads may access the same elements.

template <typename T>
T load_relaxed(const std::byte* at) {
  return __atomic_load_n(reinterpret_cast<const T*>(at), __ATOMIC_RELAXED);
}
template <typename T>
void store_relaxed(std::byte* at, T value) {
  __atomic_store_n(reinterpret_cast<T*>(at), value, __ATOMIC_RELAXED);
}

/// The widest word for checking the shadow of an access of `bytes` bytes.
template <std::uint32_t bytes>
using ShadowWord =
    std::conditional_t<bytes == 1, std::uint8_t,
                       std::conditional_t<bytes == 2, std::uint16_t,
                                          std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;

/// A word whose bytes are all `state`.
template <typename Word>
constexpr Word everywhere(std::uint8_t state) {
  return static_cast<Word>(static_cast<Word>(~Word{0}) / 255 * state);
}

/// A range of at most this many bytes is first checked as a whole, including the gaps between lanes.
constexpr std::uint32_t short_range = 512;

/// Whether the shadow of every lane's `bytes` bytes equals `wanted` in the bits of `bits`.
template <std::uint32_t bytes>
bool shadow_is(const std::uint8_t* shadow, const WarpRange& range,
               const std::array<std::uint64_t, lanes>& addresses, std::uint8_t bits, std::uint8_t wanted) {
  using Word = ShadowWord<bytes>;
  const auto differs = [&](const std::uint8_t* at) {
    Word word;
    std::memcpy(&word, at, sizeof word);
    return static_cast<Word>((word ^ everywhere<Word>(wanted)) & everywhere<Word>(bits));
  };
  Word wrong = 0;
  if (range.linear || range.span <= short_range) {
    for (std::uint32_t at = 0; at < range.span; at += sizeof(Word)) wrong |= differs(shadow + at);
    if (range.linear || wrong == 0) return wrong == 0;
    wrong = 0;
  }
  for (const std::uint64_t address : addresses) {
    for (std::uint32_t at = 0; at < bytes; at += sizeof(Word))
      wrong |= differs(shadow + (address - range.low) + at);
  }
  return wrong == 0;
}

/// Whether every lane may read its `bytes` bytes of shared memory. If not, the caller must check lane by
/// lane.
template <std::uint32_t bytes>
bool shared_readable(Cta& cta, const WarpRange& range, const std::array<std::uint64_t, lanes>& addresses) {
  return shadow_is<bytes>(cta.shadow() + range.offset, range, addresses,
                          initialised | in_mbarrier | loading | undefined, initialised);
}

/// Marks every lane's `bytes` bytes of shared memory as written. If some lane may not write them, marks
/// nothing and returns false.
template <std::uint32_t bytes>
bool mark_shared_written(Warp& warp, const WarpRange& range,
                         const std::array<std::uint64_t, lanes>& addresses) {
  Cta& cta = *warp.cta;
  std::uint8_t* const shadow = cta.shadow() + range.offset;
  if (!shadow_is<bytes>(shadow, range, addresses, in_mbarrier | loading | storing, 0)) return false;
  if (range.linear) std::memset(shadow, initialised, std::size_t{lanes} * bytes);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const std::uint64_t at = range.linear ? std::uint64_t{lane} * bytes : addresses[lane] - range.low;
    if (!range.linear) std::memset(shadow + at, initialised, bytes);
    const std::uint32_t tag = cta.thread_tag(warp.thread(lane));
    std::uint32_t* const writers = cta.writers() + (range.offset + at) / 4;
    for (std::uint32_t i = 0; i < (bytes + 3) / 4; ++i) writers[i] = tag;
  }
  return true;
}

/// Computes all lanes' addresses, and resolves the range that they span. WarpRange::memory is null if the
/// range cannot be resolved as a whole.
template <std::uint32_t bytes>
WarpRange resolve_range(Warp& warp, const MemoryAccess& access, std::array<std::uint64_t, lanes>& addresses) {
  if (access.space == Space::local) return {};
  const std::byte* const slot = warp.registers + access.address;
  const auto offset = static_cast<std::uint64_t>(access.offset);
  if (access.address_width == 8) {
    for (std::uint32_t i = 0; i < lanes; ++i) addresses[i] = get<std::uint64_t>(slot, i) + offset;
  } else if (access.address_width == 4) {
    for (std::uint32_t i = 0; i < lanes; ++i) addresses[i] = get<std::uint32_t>(slot, i) + offset;
  } else {
    addresses.fill(offset);
  }
  std::uint64_t gaps = 0;
  for (std::uint64_t i = 0; i < lanes; ++i) gaps |= addresses[i] ^ (addresses[0] + i * bytes);
  WarpRange range;
  range.linear = gaps == 0;
  range.low = addresses[0];
  std::uint64_t span = lanes * std::uint64_t{bytes};
  std::uint64_t address_bits = addresses[0];  // the or of all addresses: its low bits show misalignment
  if (!range.linear) {
    // Distances from lane 0 are in 32 bits, for which the host has vector minima. If a distance is not in
    // [-limit, limit), the caller must check the lanes one by one.
    constexpr std::uint64_t limit = 1 << 30;
    std::array<std::int32_t, lanes> from_first;
    std::uint64_t biased = 0;  // the or of all distances plus `limit`
    for (std::uint32_t i = 0; i < lanes; ++i) {
      const std::uint64_t distance = addresses[i] - addresses[0];
      biased |= distance + limit;
      address_bits |= addresses[i];
      from_first[i] = static_cast<std::int32_t>(distance);
    }
    if (biased >= 2 * limit) return {};
    std::int32_t lowest = 0;
    std::int32_t highest = 0;
    for (const std::int32_t distance : from_first) {
      lowest = std::min(lowest, distance);
      highest = std::max(highest, distance);
    }
    range.low += static_cast<std::uint64_t>(std::int64_t{lowest});
    span = static_cast<std::uint64_t>(highest - lowest) + bytes;
  }
  range.span = span;
  Cta& cta = *warp.cta;
  if (address_bits % bytes != 0 || range.low + span < range.low) return {};
  if (access.space == Space::shared) {
    const auto at = cta.shared_offset(range.low, span);
    if (!at) return {};
    range.memory = cta.shared() + *at;
    range.offset = *at;
    range.shared = true;
  } else if (access.space == Space::param) {
    auto& bank = cta.launch.parameters;
    if (range.low + span <= bank.size()) range.memory = bank.data() + range.low;
  } else if (access.space == Space::global || range.low < constant_window) {
    range.memory = cta.global(range.low, span);
    if (range.memory != nullptr && cta.races) cta.races->prefetch(range.low);
    range.global = true;
  }
  return range;
}

/// Calls visit(lane, host memory of the lane) for all lanes of a warp that accesses `range`.
template <std::uint32_t bytes, typename Visit>
void for_range(const WarpRange& range, const std::array<std::uint64_t, lanes>& addresses,
               const Visit& visit) {
  if (range.linear) {
    // Unrolled by 8, because the loop's overhead is as large as the moves.
    for (std::uint32_t first = 0; first < lanes; first += 8) {
      std::byte* const memory = range.memory + std::size_t{first} * bytes;
      for (std::uint32_t i = 0; i < 8; ++i) visit(first + i, memory + std::size_t{i} * bytes);
    }
  } else {
    for (std::uint32_t lane = 0; lane < lanes; ++lane)
      visit(lane, range.memory + (addresses[lane] - range.low));
  }
}

/// Whether memory already holds the values that the lanes of `mask` are about to store; lane i stores at
/// memory(i). This is fast, because usually the first lane's value differs.
template <typename T, std::uint32_t count, typename Memory>
bool already_stored(const std::array<std::byte*, count>& slots, Mask mask, const Memory& memory) {
  for (; mask != 0; mask &= mask - 1) {
    const std::uint32_t lane = first_lane(mask);
    const std::byte* const at = memory(lane);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (load_relaxed<T>(at + i * sizeof(T)) != get<T>(slots[i], lane)) return false;
    }
  }
  return true;
}

/// ld or, with `writes`, st of `count` elements per lane. accesses[aux]: the address and the registers.
template <typename T, std::uint32_t count, bool writes>
void move(Warp& warp, const MicroOp& op, Mask mask) {
  const MemoryAccess& access = warp.program->accesses[op.aux];
  constexpr std::uint32_t bytes = count * sizeof(T);
  std::array<std::byte*, count> slots;
  for (std::uint32_t i = 0; i < count; ++i) slots[i] = warp.registers + access.values[i];
  if (writes) ++warp.cta->changes;
  Trace trace(warp, bytes, writes, access.ordering);
  if (mask == all_lanes && !(writes && access.space == Space::param) && !trace.ordered()) {
    std::array<std::uint64_t, lanes> addresses;
    const WarpRange range = resolve_range<bytes>(warp, access, addresses);
    const auto legal = [&] {
      return writes ? mark_shared_written<bytes>(warp, range, addresses)
                    : shared_readable<bytes>(*warp.cta, range, addresses);
    };
    if (range.memory != nullptr && (!range.shared || legal())) {
      if constexpr (writes) {
        const auto memory_of = [&](std::uint32_t lane) {
          return range.memory + (addresses[lane] - range.low);
        };
        if (range.shared && trace.needs_comparison() && already_stored<T, count>(slots, mask, memory_of))
          trace.mark_same_value();
        for_range<bytes>(range, addresses, [&](std::uint32_t lane, std::byte* to) {
          for (std::uint32_t i = 0; i < count; ++i)
            store_relaxed<T>(to + i * sizeof(T), get<T>(slots[i], lane));
        });
      } else {
        for (std::uint32_t i = 0; i < count; ++i) {
          std::byte* const slot = slots[i];
          for_range<bytes>(range, addresses, [&](std::uint32_t lane, const std::byte* from) {
            put<T>(slot, lane, load_relaxed<T>(from + i * sizeof(T)));
          });
        }
      }
      trace.record_range(range, addresses);
      return;
    }
  }
  if (access.peers && warp.cta->cluster.delay_peer_access(warp, access, mask)) return;
  std::array<std::byte*, lanes> memory;
  bool shared = false;
  bool own = true;
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint64_t address = address_of(warp, access, lane);
    const Target target =
        resolve_or_zeros(warp, lane, access.space, address, bytes, bytes, writes, access.peers);
    bool maybe_undefined = false;
    trace.add(lane, target, address,
              check_shadow(warp, lane, target, bytes, writes, writes ? nullptr : &maybe_undefined));
    if (maybe_undefined) track_load(warp, lane, target, sizeof(T), count);
    memory[lane] = target.memory;
    shared = shared || target.shared;
    own = own && (!target.shared || target.owner == warp.cta);
  });
  trace.begin();
  if constexpr (writes) {
    const auto memory_of = [&](std::uint32_t lane) { return memory[lane]; };
    if (shared && own && trace.needs_comparison() && already_stored<T, count>(slots, mask, memory_of))
      trace.mark_same_value();
  }
  for_lanes(mask, [&](std::uint32_t lane) {
    for (std::uint32_t i = 0; i < count; ++i) {
      std::byte* const element = memory[lane] + i * sizeof(T);
      if constexpr (writes) {
        store_relaxed<T>(element, get<T>(slots[i], lane));
      } else {
        put<T>(slots[i], lane, load_relaxed<T>(element));
      }
    }
  });
  trace.finish();
}

/// The handler for `count` elements of type T; null if there is none.
template <typename T>
Handler handler_of_count(bool writes, std::size_t count) {
  switch (count) {
    case 1: return writes ? &move<T, 1, true> : &move<T, 1, false>;
    case 2: return writes ? &move<T, 2, true> : &move<T, 2, false>;
    case 4:
      if constexpr (sizeof(T) <= 4) return writes ? &move<T, 4, true> : &move<T, 4, false>;
      return nullptr;
    default: return nullptr;
  }
}

/// The handler for `count` elements of a type. Loads sign-extend s8 and s16; otherwise only the size matters.
Handler handler_of(ScalarType t, bool writes, std::size_t count) {
  if (!writes && t == ScalarType::s8) return handler_of_count<std::int8_t>(false, count);
  if (!writes && t == ScalarType::s16) return handler_of_count<std::int16_t>(false, count);
  if (ptx::bits_of(t) == 8) return handler_of_count<std::uint8_t>(writes, count);
  return with_word(t, [&]<typename T>(T) { return handler_of_count<T>(writes, count); });
}

void select_ld_st(Decoder& d) {
  const bool loads = d.instruction().opcode != Opcode::st;
  // A value of 128 bits is moved as two halves.
  const ScalarType t = d.type() == ScalarType::b128 ? ScalarType::b64 : d.type();
  MemoryAccess access = d.address(d.arg(loads ? 1 : 0), d.space());
  access.ordering = ordering_of(d, false);
  const Arg& values = d.arg(loads ? 0 : 1);
  const auto is_group = [](const Arg& value) { return value.kind == Arg::Kind::group; };
  if (d.type() == ScalarType::b128 && !is_group(values)) d.unsupported();
  if (std::ranges::any_of(elements(values), is_group)) d.unsupported();
  access.values = d.slots(values, t, loads);
  const Handler handler = handler_of(t, !loads, access.values.size());
  d.emit(handler, 0, 0, 0, 0, d.add(std::move(access)));
}

/// Selects instructions without an effect in the simulator.
void select_nothing(Decoder& d) {
  d.emit([](Warp&, const MicroOp&, Mask) {});
}

constexpr Selector memory_table[] = {
    {Opcode::ld, &select_ld_st},
    {Opcode::ldu, &select_ld_st},
    {Opcode::st, &select_ld_st},
    // Caches have no state that a kernel can observe.
    {Opcode::prefetch, &select_nothing},
    {Opcode::prefetchu, &select_nothing},
    {Opcode::applypriority, &select_nothing},
    {Opcode::discard, &select_nothing},
    {Opcode::pmevent, &select_nothing},
};

}  // namespace

Ordering ordering_of(Decoder& d, bool atomic) {
  Ordering ordering;
  ordering.acquires = d.has("acquire") || d.has("acq_rel");
  ordering.releases = d.has("release") || d.has("acq_rel");
  ordering.strong = atomic || ordering.acquires || ordering.releases || d.has("relaxed") || d.has("volatile");
  ordering.cta_scope = d.has("cta");
  if (ordering.acquires || ordering.releases) d.program().orders_memory = true;
  return ordering;
}

constinit const Selectors memory_selectors = memory_table;

}  // namespace sim
TMAJIT_END
