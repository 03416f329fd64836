/// Exchange between the lanes of a warp (PTX ISA 9.7.9, "shfl"; 9.7.13, "vote", "elect", "bar.warp.sync").
#include "sim/cta/cta.hpp"
#include "sim/instructions/select.hpp"

#include <array>
#include <optional>
#include <span>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// Reports lanes that execute an instruction whose member mask lacks them.
void require_members(Warp& warp, Mask members, Mask here) {
  const Mask missing = here & ~members;
  if (missing == 0) return;
  warp.report(first_lane(missing), "warp.member-mask",
              fmt::format("lanes {:#x} execute it, but its mask of members, {:#x}, lacks lanes {:#x}", here,
                          members, missing));
}

/// Lanes that exchange values in a warp-wide operation. They have the same member mask, and execute one
/// instruction or several with the same qualifiers.
class Exchange {
 public:
  Exchange(Warp& warp, Mask here) : warp_(warp), lanes_(here) { parties_[0] = {warp.here(), here}; }

  [[nodiscard]] Mask lanes() const noexcept { return lanes_; }
  void add(const Group& group) {
    parties_[count_++] = {group.pc, group.mask};
    lanes_ |= group.mask;
  }
  [[nodiscard]] std::span<const Party> parties() const noexcept { return {parties_.data(), count_}; }
  /// Calls visit(op, lanes) for each instruction that lanes of the exchange execute.
  template <class Visit>
  void for_each_instruction(const Visit& visit) const {
    for (const Party& party : parties()) visit(warp_.program->code[party.pc], party.lanes);
  }
  /// The value of each lane in slot slot(op), where op is the lane's own instruction.
  template <typename T, class SlotOf>
  [[nodiscard]] std::array<T, sim::lanes> values(const SlotOf& slot) const {
    std::array<T, sim::lanes> all;  // NOLINT: the first instruction fills it
    const std::byte* const first = warp_.registers + slot(warp_.program->code[parties_[0].pc]);
    for (std::uint32_t lane = 0; lane < sim::lanes; ++lane) all[lane] = get<T>(first, lane);
    for (const Party& party : parties().subspan(1)) {
      const std::byte* const from = warp_.registers + slot(warp_.program->code[party.pc]);
      for_lanes(party.lanes, [&](std::uint32_t lane) { all[lane] = get<T>(from, lane); });
    }
    return all;
  }
  /// Writes result(lane) to each lane's destination.
  template <class ResultOf>
  void write_results(const ResultOf& result) const {
    for_each_instruction([&](const MicroOp& op, Mask lanes) {
      std::byte* const d = warp_.registers + op.d;
      for_lanes_vectorised(lanes, [&](std::uint32_t lane) { put(d, lane, result(lane)); });
    });
  }

 private:
  Warp& warp_;
  Mask lanes_;
  std::uint32_t count_ = 1;
  std::array<Party, sim::lanes> parties_;  // NOLINT: the first count_ are set
};

constexpr auto a_of = [](const MicroOp& op) { return op.a; };

/// Groups the lanes of `mask` into exchanges by their member mask (slot `members`): the tiles of a warp, for
/// example, have different masks. Calls visit(exchange) for each exchange whose members are all present;
/// lanes of incomplete exchanges wait. With `same_c`, instructions take part in one exchange only if their c
/// is equal.
template <class Visit>
void for_each_exchange(Warp& warp, const MicroOp& op, Slot members, Mask mask, const Visit& visit,
                       bool same_c = false) {
  const auto members_of = [&](std::uint32_t lane) {
    return get<std::uint32_t>(warp.registers + members, lane);
  };
  for_alike(mask, members_of, [&](std::uint32_t member_mask, Mask arriving) {
    require_members(warp, member_mask, arriving);
    Exchange exchange(warp, arriving);
    const auto belongs = [&](const Group& group) {
      const MicroOp& there = warp.program->code[group.pc];
      return group.wait.kind == Wait::Kind::warp && group.wait.detail == member_mask &&
             there.handler == op.handler && (!same_c || there.c == op.c);
    };
    for (const Group& group : warp.groups) {
      if (belongs(group)) exchange.add(group);
    }
    if (const Mask missing = member_mask & warp.live & ~exchange.lanes(); missing != 0) {
      warp.require_progress(arriving, member_mask, missing);
      return warp.park(arriving, warp.here(), {Wait::Kind::warp, missing, member_mask});
    }
    if (warp.cta->races) warp.cta->races->synchronise(warp, exchange.lanes());
    visit(exchange);
    if (exchange.parties().size() == 1) return;
    for (Group& group : warp.groups) {
      if (!belongs(group)) continue;
      if (warp.undefined && warp.undefined->any()) warp.undefined->after(warp, group.pc, group.mask);
      ++group.pc;
      group.wait = {};
    }
    warp.update_join();
  });
}

void warp_sync(Warp& warp, const MicroOp& op, Mask mask) {
  for_each_exchange(warp, op, op.a, mask, [](const Exchange&) {});
}

enum class Shuffle : std::uint8_t { up, down, bfly, idx };

/// shfl. a: value; b: source lane or distance; c: clamp and segment mask; accesses[aux].values: the member
/// mask, and the result predicate.
template <Shuffle mode>
void shuffle(Warp& warp, const MicroOp& op, Mask mask) {
  const auto extra = [&](const MicroOp& each) -> const auto& {
    return warp.program->accesses[each.aux].values;
  };
  for_each_exchange(warp, op, extra(op)[0], mask, [&](const Exchange& exchange) {
    const auto values = exchange.values<std::uint32_t>(a_of);
    const auto operands = exchange.values<std::uint32_t>([](const MicroOp& each) { return each.b; });
    const auto controls = exchange.values<std::uint32_t>([](const MicroOp& each) { return each.c; });
    Mask inside = 0;
    std::array<std::uint8_t, lanes> sources;  // NOLINT: the loop sets all
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      const std::uint32_t b = operands[lane] & 31;
      const std::uint32_t segment = controls[lane] >> 8 & 31;
      const std::uint32_t clamp = controls[lane] & 31;
      const std::uint32_t least = lane & segment;
      const std::uint32_t bound = least | (clamp & ~segment);
      std::uint32_t from = least | (b & ~segment);
      if constexpr (mode == Shuffle::up) from = lane - b;
      if constexpr (mode == Shuffle::down) from = lane + b;
      if constexpr (mode == Shuffle::bfly) from = lane ^ b;
      const bool in = mode == Shuffle::up ? lane >= b && from >= bound : from <= bound;
      inside |= lane_if(in, lane);
      sources[lane] = static_cast<std::uint8_t>(in ? from : lane);
    }
    if (warp.undefined && warp.undefined->any()) {
      warp.undefined->shuffle(warp, exchange.parties(), sources);
    }
    exchange.write_results([&](std::uint32_t lane) { return values[sources[lane]]; });
    exchange.for_each_instruction([&](const MicroOp& each, Mask party_lanes) {
      write_mask(warp, extra(each)[1], party_lanes, inside);
    });
  });
}

enum class Vote : std::uint8_t { all, any, uni, ballot };

/// vote. a: predicate; b: member mask.
template <Vote mode>
void vote(Warp& warp, const MicroOp& op, Mask mask) {
  for_each_exchange(warp, op, op.b, mask, [&](const Exchange& exchange) {
    Mask votes = 0;
    exchange.for_each_instruction(
        [&](const MicroOp& each, Mask party_lanes) { votes |= read_mask(warp, each.a) & party_lanes; });
    if constexpr (mode == Vote::ballot) {
      exchange.write_results([&](std::uint32_t) { return votes; });
    } else {
      const bool unanimous = votes == exchange.lanes();
      const bool result = mode == Vote::all   ? unanimous
                          : mode == Vote::any ? votes != 0
                                              : unanimous || votes == 0;
      exchange.for_each_instruction([&](const MicroOp& each, Mask party_lanes) {
        write_mask(warp, each.d, party_lanes, result ? all_lanes : 0U);
      });
    }
  });
}

/// The lane that elect.sync elects among the lanes `present`. The ISA only requires that the same member mask
/// elects the same lane each time. It is the lowest lane; in mode random, seed and mask determine it.
std::uint32_t leader_of(const Warp& warp, Mask members, Mask present) {
  const SimOptions& options = warp.cta->launch.options;
  if (options.mode != SimOptions::Mode::random) return first_lane(present);
  const std::uint64_t drawn = (options.seed * 0x9e3779b97f4a7c15ULL ^ members) * 0xbf58476d1ce4e5b9ULL;
  const Mask from_drawn = present & all_lanes << (drawn >> 59);
  return first_lane(from_drawn != 0 ? from_drawn : present);
}

/// elect. d: the elected lane; a: member mask; aux: the result predicate.
void elect(Warp& warp, const MicroOp& op, Mask mask) {
  for_each_exchange(warp, op, op.a, mask, [&](const Exchange& exchange) {
    const auto members = get<std::uint32_t>(warp.registers + op.a, first_lane(mask));
    const auto leader = leader_of(warp, members, exchange.lanes());
    exchange.write_results([&](std::uint32_t) { return leader; });
    exchange.for_each_instruction([&](const MicroOp& each, Mask party_lanes) {
      write_mask(warp, each.aux, party_lanes, 1U << leader);
    });
  });
}

void active_mask(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) { put(warp.registers + op.d, lane, mask); });
}

/// match.any. a: value; b: member mask. Each lane gets the mask of lanes with the same value.
template <typename T>
void match_any(Warp& warp, const MicroOp& op, Mask mask) {
  for_each_exchange(warp, op, op.b, mask, [&](const Exchange& exchange) {
    const auto values = exchange.values<T>(a_of);
    std::array<Mask, lanes> alike;  // NOLINT: set for the lanes of the exchange
    for_alike(
        exchange.lanes(), [&](std::uint32_t lane) { return values[lane]; },
        [&](T, Mask same) { for_lanes(same, [&](std::uint32_t lane) { alike[lane] = same; }); });
    exchange.write_results([&](std::uint32_t lane) { return alike[lane]; });
  });
}

/// match.all. a: value; b: member mask. If all lanes have the same value, d is their mask, and predicate aux
/// is true; else both are 0. aux 0: no predicate.
template <typename T>
void match_all(Warp& warp, const MicroOp& op, Mask mask) {
  for_each_exchange(warp, op, op.b, mask, [&](const Exchange& exchange) {
    const auto values = exchange.values<T>(a_of);
    const T first = values[first_lane(exchange.lanes())];
    bool same = true;
    for_lanes(exchange.lanes(), [&](std::uint32_t lane) { same = same && values[lane] == first; });
    exchange.write_results([&](std::uint32_t) { return same ? exchange.lanes() : 0U; });
    exchange.for_each_instruction([&](const MicroOp& each, Mask party_lanes) {
      if (each.aux != 0) write_mask(warp, each.aux, party_lanes, same ? all_lanes : 0U);
    });
  });
}

/// redux. a: value; b: member mask; c: the operation.
template <typename T>
void reduce(Warp& warp, const MicroOp& op, Mask mask) {
  const auto visit = [&](const Exchange& exchange) {
    const auto values = exchange.values<T>(a_of);
    std::optional<T> total;
    for_lanes(exchange.lanes(), [&](std::uint32_t lane) {
      total = total ? combine(static_cast<Atomic>(op.c), *total, values[lane], T{}) : values[lane];
    });
    exchange.write_results([&](std::uint32_t) { return *total; });
  };
  for_each_exchange(warp, op, op.b, mask, visit, true);
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
  const std::optional<Atomic> operation = atomic_of(d.instruction());
  if (t == ScalarType::f32 || !operation) d.unsupported();
  const Slot a = d.read(1, t);
  const Slot members = d.read(2, ScalarType::b32);
  d.emit(t == ScalarType::s32 ? &reduce<std::int32_t> : &reduce<std::uint32_t>, d.write(0, t), a, members,
         static_cast<Slot>(*operation));
}

constexpr Selector warp_table[] = {
    {Opcode::shfl, &select_shfl},
    {Opcode::bar_warp_sync, [](Decoder& d) { d.emit(&warp_sync, 0, d.read(0, ScalarType::b32)); }},
    {Opcode::vote, &select_vote},
    {Opcode::match, &select_match},
    {Opcode::activemask, [](Decoder& d) { d.emit(&active_mask, d.write(0, ScalarType::b32)); }},
    {Opcode::redux, &select_redux},
    {Opcode::elect, &select_elect},
};

}  // namespace

constinit const Selectors warp_selectors = warp_table;

}  // namespace sim
TMAJIT_END
