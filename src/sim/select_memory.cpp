/// Loads, stores, atomics, address conversion, prefetches (PTX ISA 9.7.9, 9.7.13).
#include "sim/atomic.hpp"
#include "sim/cluster.hpp"
#include "sim/decode.hpp"
#include "sim/memory_access.hpp"
#include "sim/numeric.hpp"
#include "sim/trace.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <utility>

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::Opcode;
using ptx::ScalarType;

/// Elements of any memory may be shared with CTAs on other host threads.
template <typename T>
T load_relaxed(const std::byte* at) {
  return __atomic_load_n(reinterpret_cast<const T*>(at), __ATOMIC_RELAXED);
}
template <typename T>
void store_relaxed(std::byte* at, T value) {
  __atomic_store_n(reinterpret_cast<T*>(at), value, __ATOMIC_RELAXED);
}

/// Whether the lanes wait before they reach into a peer's shared memory.
bool held(Warp& warp, const MemoryAccess& access, Mask mask) {
  return access.peers && warp.cta->cluster.size() > 1 && warp.cta->cluster.hold(warp, access, mask);
}

/// The shadow of `bytes` bytes in words.
template <std::uint32_t bytes>
using ShadowWord =
    std::conditional_t<bytes == 1, std::uint8_t,
                       std::conditional_t<bytes == 2, std::uint16_t,
                                          std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>>;

/// `state` in each byte of a word.
template <typename Word>
constexpr Word everywhere(std::uint8_t state) {
  return static_cast<Word>(static_cast<Word>(~Word{0}) / 255 * state);
}

/// Whether in the shadow of every lane's `bytes` no bit of `looked` differs from `wanted`.
template <std::uint32_t bytes>
bool shadow_is(const std::uint8_t* shadow, const Stretch& all,
               const std::array<std::uint64_t, lanes>& addresses, std::uint8_t looked, std::uint8_t wanted) {
  using Word = ShadowWord<bytes>;
  const auto differs = [&](const std::uint8_t* at) {
    Word word;
    std::memcpy(&word, at, sizeof word);
    return static_cast<Word>((word ^ everywhere<Word>(wanted)) & everywhere<Word>(looked));
  };
  Word wrong = 0;
  if (all.linear) {
    for (std::uint32_t at = 0; at < lanes * bytes; at += sizeof(Word)) wrong |= differs(shadow + at);
  } else {
    for (const std::uint64_t address : addresses) {
      for (std::uint32_t at = 0; at < bytes; at += sizeof(Word))
        wrong |= differs(shadow + (address - all.low) + at);
    }
  }
  return wrong == 0;
}

/// Whether every lane may read its `bytes` of shared memory; if not, the lanes are to be looked at one by
/// one.
template <std::uint32_t bytes>
bool shared_readable(Cta& cta, const Stretch& all, const std::array<std::uint64_t, lanes>& addresses) {
  return shadow_is<bytes>(cta.shadow() + all.offset, all, addresses, initialised | in_mbarrier | loading,
                          initialised);
}

/// Marks every lane's `bytes` written; false, with nothing marked, if some lane may not write.
template <std::uint32_t bytes>
bool mark_shared_written(Warp& warp, const Stretch& all, const std::array<std::uint64_t, lanes>& addresses) {
  Cta& cta = *warp.cta;
  std::uint8_t* const shadow = cta.shadow() + all.offset;
  if (!shadow_is<bytes>(shadow, all, addresses, in_mbarrier | loading | storing, 0)) return false;
  if (all.linear) std::memset(shadow, initialised, lanes * bytes);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const std::uint64_t at = all.linear ? lane * bytes : addresses[lane] - all.low;
    if (!all.linear) std::memset(shadow + at, initialised, bytes);
    const std::uint32_t tag = cta.thread_tag(warp.index * lanes + lane);
    std::uint32_t* const writers = cta.writers() + (all.offset + at) / 4;
    for (std::uint32_t i = 0; i < (bytes + 3) / 4; ++i) writers[i] = tag;
  }
  return true;
}

/// Forms all addresses, and resolves the range that they span.
template <std::uint32_t bytes>
Stretch resolve_all(Warp& warp, const MemoryAccess& access, std::array<std::uint64_t, lanes>& addresses) {
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
  Stretch all;
  all.linear = gaps == 0;
  all.low = addresses[0];
  std::uint64_t span = lanes * std::uint64_t{bytes};
  std::uint64_t together = addresses[0];
  if (!all.linear) {
    std::uint64_t high = addresses[0];
    for (const std::uint64_t address : addresses) {
      all.low = std::min(all.low, address);
      high = std::max(high, address);
      together |= address;
    }
    span = high - all.low + bytes;
  }
  Cta& cta = *warp.cta;
  if (together % bytes != 0 || span < bytes || all.low + span < all.low) return {};
  if (access.space == Space::shared) {
    const auto at = cta.shared_offset(all.low, span);
    if (!at) return {};
    all.memory = cta.shared() + *at;
    all.offset = *at;
    all.shared = true;
  } else if (access.space == Space::param) {
    auto& bank = cta.launch.parameters;
    if (all.low + span <= bank.size()) all.memory = bank.data() + all.low;
  } else if (access.space == Space::global || all.low < constant_window) {
    all.memory = cta.global(all.low, span);
    if (all.memory != nullptr && cta.races) cta.races->prefetch(all.low);
    all.global = true;
  }
  return all;
}

/// Calls visit(lane, its memory) for all lanes of a stretch.
template <std::uint32_t bytes, typename Visit>
void for_stretch(const Stretch& all, const std::array<std::uint64_t, lanes>& addresses, const Visit& visit) {
  if (all.linear) {
    // Eight at a time: the loop would cost as much as the moves.
    for (std::uint32_t first = 0; first < lanes; first += 8) {
      std::byte* const memory = all.memory + first * bytes;
      for (std::uint32_t i = 0; i < 8; ++i) visit(first + i, memory + i * bytes);
    }
  } else {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) visit(lane, all.memory + (addresses[lane] - all.low));
  }
}

template <typename T, std::uint32_t count>
void load(Warp& warp, const MicroOp& op, Mask mask) {
  const MemoryAccess& access = warp.program->accesses[op.aux];
  constexpr std::uint32_t bytes = count * sizeof(T);
  Trace trace(warp, bytes, false, access.ordering);
  if (mask == all_lanes && !trace.ordered()) {
    std::array<std::uint64_t, lanes> addresses;
    const Stretch all = resolve_all<bytes>(warp, access, addresses);
    if (all.memory != nullptr && (!all.shared || shared_readable<bytes>(*warp.cta, all, addresses))) {
      for (std::uint32_t i = 0; i < count; ++i) {
        std::byte* const slot = warp.registers + access.values[i];
        for_stretch<bytes>(all, addresses, [&](std::uint32_t lane, const std::byte* from) {
          put<T>(slot, lane, load_relaxed<T>(from + i * sizeof(T)));
        });
      }
      trace.all(all, addresses);
      return;
    }
  }
  if (held(warp, access, mask)) return;
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint64_t address = address_of(warp, access, lane);
    const Target target = resolve(warp, lane, access.space, address, bytes, bytes, false, access.peers);
    const bool legal = !target.shared || check_shared_read(warp, lane, {target.owner, target.offset}, bytes);
    for (std::uint32_t i = 0; i < count; ++i) {
      put<T>(warp.registers + access.values[i], lane, load_relaxed<T>(target.memory + i * sizeof(T)));
    }
    trace.after(lane, target, address, legal);
  });
  trace.finish();
}

template <typename T, std::uint32_t count>
void store(Warp& warp, const MicroOp& op, Mask mask) {
  const MemoryAccess& access = warp.program->accesses[op.aux];
  constexpr std::uint32_t bytes = count * sizeof(T);
  ++warp.cta->changes;
  Trace trace(warp, bytes, true, access.ordering);
  if (mask == all_lanes && access.space != Space::param && !trace.ordered()) {
    std::array<std::uint64_t, lanes> addresses;
    const Stretch all = resolve_all<bytes>(warp, access, addresses);
    if (all.memory != nullptr && (!all.shared || mark_shared_written<bytes>(warp, all, addresses))) {
      std::array<const std::byte*, count> slots;
      for (std::uint32_t i = 0; i < count; ++i) slots[i] = warp.registers + access.values[i];
      for_stretch<bytes>(all, addresses, [&](std::uint32_t lane, std::byte* to) {
        for (std::uint32_t i = 0; i < count; ++i)
          store_relaxed<T>(to + i * sizeof(T), get<T>(slots[i], lane));
      });
      trace.all(all, addresses);
      return;
    }
  }
  if (held(warp, access, mask)) return;
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint64_t address = address_of(warp, access, lane);
    const Target target = resolve(warp, lane, access.space, address, bytes, bytes, true, access.peers);
    const bool legal = !target.shared || check_shared_write(warp, lane, {target.owner, target.offset}, bytes);
    trace.before(lane, target, address);
    for (std::uint32_t i = 0; i < count; ++i) {
      store_relaxed<T>(target.memory + i * sizeof(T), get<T>(warp.registers + access.values[i], lane));
    }
    trace.after(lane, target, address, legal);
  });
  trace.finish();
}

template <typename T>
Handler counted(bool loads, std::size_t count) {
  switch (count) {
    case 1: return loads ? &load<T, 1> : &store<T, 1>;
    case 2: return loads ? &load<T, 2> : &store<T, 2>;
    case 4:
      if constexpr (sizeof(T) <= 4) return loads ? &load<T, 4> : &store<T, 4>;
      return nullptr;
    default: return nullptr;
  }
}

Handler sized(ScalarType t, bool loads, std::size_t count) {
  if (loads && t == ScalarType::s8) return counted<std::int8_t>(true, count);
  if (loads && t == ScalarType::s16) return counted<std::int16_t>(true, count);
  switch (ptx::bits_of(t)) {
    case 8: return counted<std::uint8_t>(loads, count);
    case 16: return counted<std::uint16_t>(loads, count);
    case 32: return counted<std::uint32_t>(loads, count);
    case 64: return counted<std::uint64_t>(loads, count);
    default: return nullptr;
  }
}

/// .volatile is relaxed at system scope; atomics are strong whatever they say.
Ordering ordering_of(Decoder& d, bool atomic) {
  Ordering ordering;
  ordering.acquires = d.has("acquire") || d.has("acq_rel");
  ordering.releases = d.has("release") || d.has("acq_rel");
  ordering.strong = atomic || ordering.acquires || ordering.releases || d.has("relaxed") || d.has("volatile");
  ordering.narrow = d.has("cta");
  if (ordering.acquires || ordering.releases) d.program().orders_memory = true;
  return ordering;
}

void emit_move(Decoder& d, bool loads) {
  // A value of 128 bits is its two halves.
  const ScalarType t = d.type() == ScalarType::b128 ? ScalarType::b64 : d.type();
  MemoryAccess access = d.address(d.arg(loads ? 1 : 0), d.space());
  access.ordering = ordering_of(d, false);
  const Arg& values = d.arg(loads ? 0 : 1);
  if (d.type() == ScalarType::b128 && values.kind != Arg::Kind::group) d.unsupported();
  const auto add = [&](const Arg& arg) { access.values.push_back(loads ? d.write(arg, t) : d.read(arg, t)); };
  if (values.kind == Arg::Kind::group) {
    for (const Arg& element : values.elements) {
      if (element.kind == Arg::Kind::group) d.unsupported();
      add(element);
    }
  } else {
    add(values);
  }
  const Handler handler = sized(t, loads, access.values.size());
  if (handler == nullptr) d.unsupported();
  d.program().accesses.push_back(std::move(access));
  d.emit(handler, 0, 0, 0, 0, static_cast<std::uint32_t>(d.program().accesses.size() - 1));
}

// Atomics run lane by lane; those on global memory are the host's, and order what they order on the device.

template <typename T>
void atomic(Warp& warp, const MicroOp& op, Mask mask) {
  using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  const MemoryAccess& access = warp.program->accesses[op.aux];
  if (held(warp, access, mask)) return;
  ++warp.cta->changes;
  Trace trace(warp, sizeof(T), true, access.ordering);
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint64_t address = address_of(warp, access, lane);
    const Target target =
        resolve(warp, lane, access.space, address, sizeof(T), sizeof(T), true, access.peers);
    bool legal = true;
    if (target.shared) {
      const SharedPlace place{target.owner, target.offset};
      legal = check_shared_read(warp, lane, place, sizeof(T));
      legal = check_shared_write(warp, lane, place, sizeof(T)) && legal;
    }
    trace.before(lane, target, address);
    const T a = get<T>(warp.registers + op.a, lane);
    const T b = get<T>(warp.registers + op.b, lane);
    auto* const word = reinterpret_cast<Word*>(target.memory);
    Word old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    Word result = 0;
    do {
      result = std::bit_cast<Word>(combine(static_cast<Atomic>(op.c), std::bit_cast<T>(old), a, b));
    } while (!__atomic_compare_exchange_n(word, &old, result, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    put<Word>(warp.registers + op.d, lane, old);
    trace.after(lane, target, address, legal);
  });
  trace.finish();
}

bool emit_atomic(Decoder& d, bool returns) {
  const std::optional<Atomic> what = atomic_of(d.in());
  Handler handler = nullptr;
  const ScalarType t = d.type();
  switch (t) {
    case ScalarType::b32:
    case ScalarType::u32: handler = &atomic<std::uint32_t>; break;
    case ScalarType::s32: handler = &atomic<std::int32_t>; break;
    case ScalarType::b64:
    case ScalarType::u64: handler = &atomic<std::uint64_t>; break;
    case ScalarType::s64: handler = &atomic<std::int64_t>; break;
    case ScalarType::f32: handler = &atomic<float>; break;
    case ScalarType::f64: handler = &atomic<double>; break;
    default: return false;
  }
  const std::size_t first = returns ? 1 : 0;
  if (!what || d.in().vector_width() != 1 || d.arg(first + 1).kind == Arg::Kind::group) return false;
  MemoryAccess access = d.address(d.arg(first), d.space());
  access.ordering = ordering_of(d, true);
  d.program().accesses.push_back(std::move(access));
  const auto index = static_cast<std::uint32_t>(d.program().accesses.size() - 1);
  const Slot a = d.read(d.arg(first + 1), t);
  const Slot b = *what == Atomic::cas ? d.read(d.arg(first + 2), t) : a;
  d.emit(handler, d.write(returns ? d.arg(0) : Arg{}, t), a, b, static_cast<Slot>(*what), index);
  return true;
}

struct Plus {
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const { return a + b; }
};

std::uint64_t window_of(Space space) {
  switch (space) {
    case Space::shared: return shared_window;
    case Space::local: return local_window;
    case Space::param: return param_window;
    case Space::constant: return constant_window;
    default: return 0;
  }
}

/// cvta to generic adds the window, cvta.to takes it away.
void emit_cvta(Decoder& d, bool to) {
  const ScalarType t = ScalarType::u64;
  const std::uint64_t window = window_of(d.space());
  const Slot a = d.read(d.arg(1), t);
  d.emit(&apply<Plus, std::uint64_t, std::uint64_t, std::uint64_t>, d.write(d.arg(0), t), a,
         d.constant(to ? 0 - window : window, true));
}

/// isspacep.shared::cta: in the shared memory of the thread's own CTA.
void is_own_shared(Warp& warp, const MicroOp& op, Mask mask) {
  Mask& p = predicate(warp, op.d);
  for_lanes(mask, [&](std::uint32_t lane) {
    const auto address = get<std::uint64_t>(warp.registers + op.a, lane);
    const bool is = address >= shared_window && address < shared_window + window_bytes &&
                    !warp.cta->is_peer_address(address, Space::generic);
    p = (p & ~(1U << lane)) | static_cast<Mask>(is) << lane;
  });
}

template <Space space>
void is_space(Warp& warp, const MicroOp& op, Mask mask) {
  Mask& p = predicate(warp, op.d);
  for_lanes(mask, [&](std::uint32_t lane) {
    const auto address = get<std::uint64_t>(warp.registers + op.a, lane);
    const auto in = [&](std::uint64_t window) {
      return address >= window && address < window + window_bytes;
    };
    bool is = false;
    if constexpr (space == Space::global) {
      is = !in(shared_window) && !in(local_window) && !in(param_window) && !in(constant_window);
    } else {
      is = in(space == Space::shared  ? shared_window
              : space == Space::local ? local_window
              : space == Space::param ? param_window
                                      : constant_window);
    }
    p = (p & ~(1U << lane)) | static_cast<Mask>(is) << lane;
  });
}

bool emit_isspacep(Decoder& d) {
  Handler handler = nullptr;
  switch (d.space()) {
    case Space::global: handler = &is_space<Space::global>; break;
    case Space::shared: handler = d.has("shared::cluster") ? &is_space<Space::shared> : &is_own_shared; break;
    case Space::local: handler = &is_space<Space::local>; break;
    case Space::param: handler = &is_space<Space::param>; break;
    case Space::constant: handler = &is_space<Space::constant>; break;
    default: return false;
  }
  d.emit(handler, d.write_predicate(d.arg(0)), d.read(d.arg(1), ScalarType::u64));
  return true;
}

void nothing(Warp&, const MicroOp&, Mask) {}

struct Zero {
  template <typename... T>
  std::uint64_t operator()(T...) const {
    return 0;
  }
};

}  // namespace

bool select_memory(Decoder& d) {
  switch (d.in().opcode) {
    case Opcode::ld:
    case Opcode::ldu: emit_move(d, true); return true;
    case Opcode::st: emit_move(d, false); return true;
    case Opcode::cvta: emit_cvta(d, false); return true;
    case Opcode::cvta_to: emit_cvta(d, true); return true;
    case Opcode::isspacep: return emit_isspacep(d);
    // Caches hold no state that a kernel can see.
    case Opcode::prefetch:
    case Opcode::prefetchu:
    case Opcode::applypriority: d.emit(&nothing); return true;
    case Opcode::createpolicy_range:
    case Opcode::createpolicy_fractional:
    case Opcode::createpolicy_cvt:
      d.emit(&apply<Zero, std::uint64_t, std::uint64_t>, d.write(d.arg(0), ScalarType::b64),
             d.constant(0, true));
      return true;
    case Opcode::atom: return emit_atomic(d, true);
    case Opcode::red: return emit_atomic(d, false);
    default: return false;
  }
}

}  // namespace sim
TMAJIT_END
