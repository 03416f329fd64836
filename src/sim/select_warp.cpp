/// Exchange between the lanes of a warp (PTX ISA 9.7.9, "shfl"; 9.7.13, "vote", "elect", "bar.warp.sync").
#include "sim/cta.hpp"
#include "sim/select.hpp"

#include <optional>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

void warp_sync(Warp& warp, const MicroOp& op, Mask mask);

/// The mask of members has the lanes that execute the instruction.
void require_members(Warp& warp, Mask members, Mask here) {
  const Mask missing = here & ~members;
  if (missing == 0) return;
  warp.report(first_lane(missing), "warp.member-mask",
              fmt::format("lanes {:#x} execute it, but its mask of members, {:#x}, lacks lanes {:#x}", here,
                          members, missing));
}

/// Lanes with different masks of members are of different meetings, as tiles of a warp are. Calls
/// visit(lanes) for each meeting whose members are all here; the lanes of others wait for theirs.
template <class Visit>
void for_each_meeting(Warp& warp, Slot members, Mask mask, const Visit& visit) {
  const auto named = [&](std::uint32_t lane) { return get<std::uint32_t>(warp.registers + members, lane); };
  for_alike(mask, named, [&](std::uint32_t all, Mask lanes_here) {
    require_members(warp, all, lanes_here);
    if (!warp.gather(lanes_here, all)) return;
    if (warp.cta->races) warp.cta->races->meet(warp, lanes_here);
    visit(lanes_here);
  });
}

/// Lanes may meet at different bar.warp.sync instructions.
void meet_at_any_sync(Warp& warp, Mask members, Mask mask) {
  Mask missing = members & warp.live & ~mask;
  for (const Group& group : warp.groups) {
    if (group.wait.kind == Wait::Kind::warp && warp.program->code[group.pc].handler == &warp_sync)
      missing &= ~group.mask;
  }
  if (missing != 0) {
    (void)warp.gather(mask, members);
    return;
  }
  Mask met = mask;
  for (Group& group : warp.groups) {
    if (group.wait.kind != Wait::Kind::warp || (group.mask & members) == 0) continue;
    ++group.pc;
    group.wait = {};
    met |= group.mask;
  }
  if (warp.cta->races) warp.cta->races->meet(warp, met);
  warp.update_join();
}

void warp_sync(Warp& warp, const MicroOp& op, Mask mask) {
  const auto named = [&](std::uint32_t lane) { return get<std::uint32_t>(warp.registers + op.a, lane); };
  for_alike(mask, named, [&](std::uint32_t members, Mask same) {
    require_members(warp, members, same);
    meet_at_any_sync(warp, members, same);
  });
}

enum class Shuffle : std::uint8_t { up, down, bfly, idx };

/// a: value, b: lane or distance, c: clamp and segment; accesses[aux].values: members, then the predicate.
template <Shuffle mode>
void shuffle(Warp& warp, const MicroOp& op, Mask mask) {
  const auto& extra = warp.program->accesses[op.aux].values;
  for_each_meeting(warp, extra[0], mask, [&](Mask met) {
    std::byte* const r = warp.registers;
    std::uint32_t values[lanes];
    Mask inside = 0;
    std::array<std::uint8_t, lanes> sources;  // NOLINT: of lanes in `met`
    for_lanes(met, [&](std::uint32_t lane) {
      const std::uint32_t b = get<std::uint32_t>(r + op.b, lane) & 31;
      const auto control = get<std::uint32_t>(r + op.c, lane);
      const std::uint32_t segment = control >> 8 & 31;
      const std::uint32_t clamp = control & 31;
      const std::uint32_t least = lane & segment;
      const std::uint32_t bound = least | (clamp & ~segment);
      std::uint32_t from = least | (b & ~segment);
      if constexpr (mode == Shuffle::up) from = lane - b;
      if constexpr (mode == Shuffle::down) from = lane + b;
      if constexpr (mode == Shuffle::bfly) from = lane ^ b;
      const bool in = mode == Shuffle::up ? lane >= b && from >= bound : from <= bound;
      if (!in) from = lane;
      inside |= static_cast<Mask>(in) << lane;
      values[lane] = get<std::uint32_t>(r + op.a, from);
      sources[lane] = static_cast<std::uint8_t>(from);
    });
    if (warp.undefined && warp.undefined->any()) warp.undefined->shuffle(warp, met, sources);
    for_lanes(met, [&](std::uint32_t lane) { put(r + op.d, lane, values[lane]); });
    write_mask(warp, extra[1], met, inside);
  });
}

enum class Vote : std::uint8_t { all, any, uni, ballot };

/// a: predicate, b: members.
template <Vote mode>
void vote(Warp& warp, const MicroOp& op, Mask mask) {
  for_each_meeting(warp, op.b, mask, [&](Mask met) {
    const Mask said = read_mask(warp, op.a) & met;
    if constexpr (mode == Vote::ballot) {
      for_lanes(met, [&](std::uint32_t lane) { put(warp.registers + op.d, lane, said); });
    } else {
      const bool result = mode == Vote::all   ? said == met
                          : mode == Vote::any ? said != 0
                                              : said == met || said == 0;
      write_mask(warp, op.d, met, result ? all_lanes : 0U);
    }
  });
}

/// The lane that is elected of those of `members` that are here. The ISA says only that it is the same for
/// the same members each time: in mode random the seed draws it, else it is the lowest.
std::uint32_t leader_of(const Warp& warp, Mask members, Mask met) {
  const SimOptions& options = warp.cta->launch.options;
  if (options.mode != SimOptions::Mode::random) return first_lane(met);
  const std::uint64_t drawn = (options.seed * 0x9e3779b97f4a7c15ULL ^ members) * 0xbf58476d1ce4e5b9ULL;
  const Mask from_there = met & all_lanes << (drawn >> 59);
  return first_lane(from_there != 0 ? from_there : met);
}

/// aux: the predicate
void elect(Warp& warp, const MicroOp& op, Mask mask) {
  for_each_meeting(warp, op.a, mask, [&](Mask met) {
    const auto leader = leader_of(warp, get<std::uint32_t>(warp.registers + op.a, first_lane(met)), met);
    for_lanes(met, [&](std::uint32_t lane) { put(warp.registers + op.d, lane, leader); });
    write_mask(warp, op.aux, met, 1U << leader);
  });
}

void active_mask(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) { put(warp.registers + op.d, lane, mask); });
}

/// match.any: lanes with the same value.
template <typename T>
void match_any(Warp& warp, const MicroOp& op, Mask mask) {
  const auto value = [&](std::uint32_t lane) { return get<T>(warp.registers + op.a, lane); };
  for_each_meeting(warp, op.b, mask, [&](Mask met) {
    for_alike(met, value, [&](T, Mask same) {
      for_lanes(same, [&](std::uint32_t lane) { put(warp.registers + op.d, lane, same); });
    });
  });
}

/// match.all: all lanes, if they have the same value, or none; aux is the predicate that says so, or 0.
template <typename T>
void match_all(Warp& warp, const MicroOp& op, Mask mask) {
  for_each_meeting(warp, op.b, mask, [&](Mask met) {
    const T first = get<T>(warp.registers + op.a, first_lane(met));
    bool same = true;
    for_lanes(met, [&](std::uint32_t lane) { same = same && get<T>(warp.registers + op.a, lane) == first; });
    for_lanes(met, [&](std::uint32_t lane) { put(warp.registers + op.d, lane, same ? met : 0U); });
    if (op.aux != 0) write_mask(warp, op.aux, met, same ? all_lanes : 0U);
  });
}

/// a: value, b: members, c: the operation.
template <typename T>
void reduce(Warp& warp, const MicroOp& op, Mask mask) {
  for_each_meeting(warp, op.b, mask, [&](Mask met) {
    std::optional<T> total;
    for_lanes(met, [&](std::uint32_t lane) {
      const T value = get<T>(warp.registers + op.a, lane);
      total = total ? combine(static_cast<Atomic>(op.c), *total, value, T{}) : value;
    });
    for_lanes(met, [&](std::uint32_t lane) { put(warp.registers + op.d, lane, *total); });
  });
}

void select_shfl(Decoder& d) {
  const auto b32 = ScalarType::b32;
  const auto to = elements(d.arg(0));
  MemoryAccess extra;
  extra.values = {d.read(4, b32), to.size() > 1 ? d.write(to[1], ScalarType::pred) : d.temporary(false)};
  const Handler handler = d.has("up")     ? &shuffle<Shuffle::up>
                          : d.has("down") ? &shuffle<Shuffle::down>
                          : d.has("bfly") ? &shuffle<Shuffle::bfly>
                                          : &shuffle<Shuffle::idx>;
  const Slot a = d.read(1, b32);
  const Slot b = d.read(2, b32);
  const Slot c = d.read(3, b32);
  d.emit(handler, d.write(to[0], b32), a, b, c, d.add(std::move(extra)));
}

void select_vote(Decoder& d) {
  using enum ScalarType;
  if (d.has("ballot")) return d.emit_as(&vote<Vote::ballot>, {b32, pred, b32});
  const Handler handler = d.has("all")   ? &vote<Vote::all>
                          : d.has("any") ? &vote<Vote::any>
                                         : &vote<Vote::uni>;
  d.emit_as(handler, {pred, pred, b32});
}

void select_elect(Decoder& d) {
  const Arg& target = d.arg(0);
  if (target.kind != Arg::Kind::group) d.unsupported();
  const Slot members = d.read(1, ScalarType::b32);
  d.emit(&elect, d.write(target.elements[0], ScalarType::b32), members, 0, 0,
         d.write(target.elements[1], ScalarType::pred));
}

void select_match(Decoder& d) {
  const bool wide = is_wide(d.type());
  const Slot a = d.read(1, d.type());
  const Slot members = d.read(2, ScalarType::b32);
  const auto to = elements(d.arg(0));
  const Slot target = d.write(to[0], ScalarType::b32);
  const Slot p = to.size() > 1 ? d.write(to[1], ScalarType::pred) : 0;
  const Handler all = wide ? &match_all<std::uint64_t> : &match_all<std::uint32_t>;
  const Handler any = wide ? &match_any<std::uint64_t> : &match_any<std::uint32_t>;
  d.emit(d.has("all") ? all : any, target, a, members, 0, p);
}

void select_redux(Decoder& d) {
  const ScalarType t = d.type();
  const std::optional<Atomic> what = atomic_of(d.in());
  if (t == ScalarType::f32 || !what) d.unsupported();
  const Slot a = d.read(1, t);
  const Slot members = d.read(2, ScalarType::b32);
  d.emit(t == ScalarType::s32 ? &reduce<std::int32_t> : &reduce<std::uint32_t>, d.write(0, t), a, members,
         static_cast<Slot>(*what));
}

constexpr Selector table[] = {
    {Opcode::shfl, &select_shfl},
    {Opcode::bar_warp_sync, [](Decoder& d) { d.emit(&warp_sync, 0, d.read(0, ScalarType::b32)); }},
    {Opcode::vote, &select_vote},
    {Opcode::match, &select_match},
    {Opcode::activemask, [](Decoder& d) { d.emit(&active_mask, d.write(0, ScalarType::b32)); }},
    {Opcode::redux, &select_redux},
    {Opcode::elect, &select_elect},
};

}  // namespace

constinit const Selectors warp_selectors = table;

}  // namespace sim
TMAJIT_END
