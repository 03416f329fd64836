/// Exchange between the lanes of a warp (PTX ISA 9.7.9, "shfl"; 9.7.13, "vote", "elect", "bar.warp.sync").
#include "sim/cta.hpp"
#include "sim/decode.hpp"

#include <bit>
#include <optional>

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::Opcode;
using ptx::ScalarType;

/// Whether all lanes that take part are here; else these wait for the others.
bool converged(Warp& warp, Mask mask, Mask members) {
  const Mask missing = members & warp.live & ~mask;
  if (missing == 0) return true;
  warp.park(mask, warp.here(), {Wait::Kind::warp, missing, 0});
  return false;
}

Mask members_of(const Warp& warp, Slot slot, Mask mask) {
  return get<std::uint32_t>(warp.registers + slot, static_cast<std::uint32_t>(std::countr_zero(mask)));
}

/// Lanes may meet at different bar.warp.sync instructions.
void warp_sync(Warp& warp, const MicroOp& op, Mask mask) {
  const Mask members = members_of(warp, op.a, mask);
  Mask missing = members & warp.live & ~mask;
  for (const Group& group : warp.groups) {
    if (group.wait.kind == Wait::Kind::warp && warp.program->code[group.pc].handler == &warp_sync)
      missing &= ~group.mask;
  }
  if (missing != 0) {
    (void)converged(warp, mask, members);
    return;
  }
  for (Group& group : warp.groups) {
    if (group.wait.kind != Wait::Kind::warp || (group.mask & members) == 0) continue;
    ++group.pc;
    group.wait = {};
  }
  warp.update_join();
}

enum class Shuffle : std::uint8_t { up, down, bfly, idx };

/// a: value, b: lane or distance, c: clamp and segment; accesses[aux].values: members, then the predicate.
template <Shuffle mode>
void shuffle(Warp& warp, const MicroOp& op, Mask mask) {
  const auto& extra = warp.program->accesses[op.aux].values;
  if (!converged(warp, mask, members_of(warp, extra[0], mask))) return;
  std::byte* const r = warp.registers;
  std::uint32_t values[lanes];
  Mask inside = 0;
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint32_t b = get<std::uint32_t>(r + op.b, lane) & 31;
    const auto control = get<std::uint32_t>(r + op.c, lane);
    const std::uint32_t segment = control >> 8 & 31;
    const std::uint32_t clamp = control & 31;
    const std::uint32_t most = (lane & segment) | (clamp & ~segment);
    const std::uint32_t least = lane & segment;
    std::uint32_t from = lane;
    bool in = false;
    if constexpr (mode == Shuffle::up) {
      in = lane >= b && lane - b >= most;
      from = lane - b;
    } else if constexpr (mode == Shuffle::down) {
      from = lane + b;
      in = from <= most;
    } else if constexpr (mode == Shuffle::bfly) {
      from = lane ^ b;
      in = from <= most;
    } else {
      from = least | (b & ~segment);
      in = from <= most;
    }
    if (!in) from = lane;
    inside |= static_cast<Mask>(in) << lane;
    values[lane] = get<std::uint32_t>(r + op.a, from);
  });
  for_lanes(mask, [&](std::uint32_t lane) { put(r + op.d, lane, values[lane]); });
  Mask& p = predicate(warp, extra[1]);
  p = (p & ~mask) | inside;
}

enum class Vote : std::uint8_t { all, any, uni, ballot };

/// a: predicate, b: members.
template <Vote mode>
void vote(Warp& warp, const MicroOp& op, Mask mask) {
  const Mask members = members_of(warp, op.b, mask);
  if (!converged(warp, mask, members)) return;
  const Mask said = (predicate(warp, op.a & ~1U) ^ (0U - (op.a & 1U))) & mask;
  if constexpr (mode == Vote::ballot) {
    for_lanes(mask, [&](std::uint32_t lane) { put(warp.registers + op.d, lane, said); });
  } else {
    const bool result = mode == Vote::all   ? said == mask
                        : mode == Vote::any ? said != 0
                                            : said == mask || said == 0;
    Mask& p = predicate(warp, op.d);
    p = result ? p | mask : p & ~mask;
  }
}

/// The lowest lane is elected; aux: the predicate.
void elect(Warp& warp, const MicroOp& op, Mask mask) {
  if (!converged(warp, mask, members_of(warp, op.a, mask))) return;
  const auto leader = static_cast<std::uint32_t>(std::countr_zero(mask));
  for_lanes(mask, [&](std::uint32_t lane) { put(warp.registers + op.d, lane, leader); });
  Mask& p = predicate(warp, op.aux);
  p = (p & ~mask) | 1U << leader;
}

void active_mask(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) { put(warp.registers + op.d, lane, mask); });
}

/// match.any: lanes with the same value.
template <typename T>
void match_any(Warp& warp, const MicroOp& op, Mask mask) {
  if (!converged(warp, mask, members_of(warp, op.b, mask))) return;
  std::uint32_t result[lanes];
  for_lanes(mask, [&](std::uint32_t lane) {
    result[lane] = 0;
    for_lanes(mask, [&](std::uint32_t other) {
      const bool same = get<T>(warp.registers + op.a, lane) == get<T>(warp.registers + op.a, other);
      result[lane] |= static_cast<Mask>(same) << other;
    });
  });
  for_lanes(mask, [&](std::uint32_t lane) { put(warp.registers + op.d, lane, result[lane]); });
}

/// match.all: all lanes, if they have the same value, or none; aux is the predicate that says so, or 0.
template <typename T>
void match_all(Warp& warp, const MicroOp& op, Mask mask) {
  if (!converged(warp, mask, members_of(warp, op.b, mask))) return;
  const T first = get<T>(warp.registers + op.a, static_cast<std::uint32_t>(std::countr_zero(mask)));
  bool same = true;
  for_lanes(mask, [&](std::uint32_t lane) { same = same && get<T>(warp.registers + op.a, lane) == first; });
  for_lanes(mask, [&](std::uint32_t lane) { put(warp.registers + op.d, lane, same ? mask : 0U); });
  if (op.aux == 0) return;
  Mask& p = predicate(warp, op.aux);
  p = same ? p | mask : p & ~mask;
}

enum class Reduce : std::uint8_t { add, min, max, and_, or_, xor_ };

/// a: value, b: members, c: the operation.
template <typename T>
void reduce(Warp& warp, const MicroOp& op, Mask mask) {
  if (!converged(warp, mask, members_of(warp, op.b, mask))) return;
  std::optional<T> total;
  for_lanes(mask, [&](std::uint32_t lane) {
    const T v = get<T>(warp.registers + op.a, lane);
    if (!total) {
      total = v;
      return;
    }
    switch (static_cast<Reduce>(op.c)) {
      case Reduce::add:
        total = static_cast<T>(static_cast<std::uint32_t>(*total) + static_cast<std::uint32_t>(v));
        break;
      case Reduce::min: total = std::min(*total, v); break;
      case Reduce::max: total = std::max(*total, v); break;
      case Reduce::and_: total = *total & v; break;
      case Reduce::or_: total = *total | v; break;
      case Reduce::xor_: total = *total ^ v; break;
    }
  });
  for_lanes(mask, [&](std::uint32_t lane) { put(warp.registers + op.d, lane, *total); });
}

bool emit_shuffle(Decoder& d) {
  const auto u32 = ScalarType::b32;
  const Arg& target = d.arg(0);
  const bool two = target.kind == Arg::Kind::group;
  MemoryAccess extra;
  extra.values = {d.read(d.arg(4), u32), two ? d.write_predicate(target.elements[1]) : d.temporary(false)};
  d.program().accesses.push_back(extra);
  const Handler handler = d.has("up")     ? &shuffle<Shuffle::up>
                          : d.has("down") ? &shuffle<Shuffle::down>
                          : d.has("bfly") ? &shuffle<Shuffle::bfly>
                                          : &shuffle<Shuffle::idx>;
  const Slot a = d.read(d.arg(1), u32);
  const Slot b = d.read(d.arg(2), u32);
  const Slot c = d.read(d.arg(3), u32);
  d.emit(handler, d.write(two ? target.elements[0] : target, u32), a, b, c,
         static_cast<std::uint32_t>(d.program().accesses.size() - 1));
  return true;
}

bool emit_reduce(Decoder& d) {
  constexpr std::pair<const char*, Reduce> names[] = {{"add", Reduce::add}, {"min", Reduce::min},
                                                      {"max", Reduce::max}, {"and", Reduce::and_},
                                                      {"or", Reduce::or_},  {"xor", Reduce::xor_}};
  for (const auto& [name, what] : names) {
    if (!d.has(name)) continue;
    const Slot a = d.read(d.arg(1), d.type());
    const Slot b = d.read(d.arg(2), ScalarType::b32);
    d.emit(d.type() == ScalarType::s32 ? &reduce<std::int32_t> : &reduce<std::uint32_t>,
           d.write(d.arg(0), d.type()), a, b, static_cast<Slot>(what));
    return true;
  }
  return false;
}

}  // namespace

bool select_warp(Decoder& d) {
  const auto u32 = ScalarType::b32;
  switch (d.in().opcode) {
    case Opcode::bar_warp_sync: d.emit(&warp_sync, 0, d.read(d.arg(0), u32)); return true;
    case Opcode::shfl: return emit_shuffle(d);
    case Opcode::vote: {
      const Slot p = d.read_predicate(d.arg(1));
      const Slot members = d.read(d.arg(2), u32);
      if (d.has("ballot")) {
        d.emit(&vote<Vote::ballot>, d.write(d.arg(0), u32), p, members);
      } else {
        d.emit(d.has("all")   ? &vote<Vote::all>
               : d.has("any") ? &vote<Vote::any>
                              : &vote<Vote::uni>,
               d.write_predicate(d.arg(0)), p, members);
      }
      return true;
    }
    case Opcode::elect: {
      const Arg& target = d.arg(0);
      if (target.kind != Arg::Kind::group) return false;
      const Slot members = d.read(d.arg(1), u32);
      d.emit(&elect, d.write(target.elements[0], u32), members, 0, 0, d.write_predicate(target.elements[1]));
      return true;
    }
    case Opcode::activemask: d.emit(&active_mask, d.write(d.arg(0), u32)); return true;
    case Opcode::match: {
      const bool wide = ptx::bits_of(d.type()) == 64;
      const Slot a = d.read(d.arg(1), d.type());
      const Slot members = d.read(d.arg(2), u32);
      if (d.has("all")) {
        const bool two = d.arg(0).kind == Arg::Kind::group;
        const Arg& target = two ? d.arg(0).elements[0] : d.arg(0);
        d.emit(wide ? &match_all<std::uint64_t> : &match_all<std::uint32_t>, d.write(target, u32), a, members,
               0, two ? d.write_predicate(d.arg(0).elements[1]) : 0);
        return true;
      }
      d.emit(wide ? &match_any<std::uint64_t> : &match_any<std::uint32_t>, d.write(d.arg(0), u32), a,
             members);
      return true;
    }
    case Opcode::redux: return d.type() == ScalarType::f32 ? false : emit_reduce(d);
    default: return false;
  }
}

}  // namespace sim
TMAJIT_END
