#include "sim/undefined/undefined.hpp"

#include "sim/cta/cta.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

using Kind = Flow::Kind;

constexpr std::string_view to_global_memory = "is stored to global memory by";

/// Mask of the lanes in which the operand alone determines the result: it is 0 in a conjunction or product,
/// or all ones in a disjunction.
Mask absorbing(const Warp& warp, const Flow& flow, Slot slot, Mask mask) {
  const bool zero = flow.kind == Kind::conjoins;
  if (flow.bytes == 0) return mask & (zero ? ~read_mask(warp, slot) : read_mask(warp, slot));
  const std::uint64_t ones = ~std::uint64_t{0} >> (64 - 8 * flow.bytes);
  Mask found = 0;
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::byte* const at = warp.registers + slot;
    const std::uint64_t value =
        (flow.bytes == 8 ? get<std::uint64_t>(at, lane) : get<std::uint32_t>(at, lane)) & ones;
    if (value == (zero ? 0 : ones)) found |= 1U << lane;
  });
  return found;
}

/// The CTA of the cluster whose shared memory contains a range; null owner if there is none.
SharedAddress owner_of(Cta& cta, std::uint64_t address, std::uint32_t bytes) {
  if (const auto at = cta.shared_offset(address, bytes)) return {&cta, *at};
  for (std::uint32_t rank = 0; rank < cta.cluster.size(); ++rank) {
    Cta& peer = cta.cluster.cta(rank);
    if (const auto at = peer.shared_offset(address, bytes)) return {&peer, *at};
  }
  return {};
}

/// The key in Undefined::local_ of a byte of a lane's local memory.
std::uint64_t local_key(std::uint32_t lane, std::uint64_t address) {
  return std::uint64_t{lane} << 32 | address;
}

/// Marks bytes of shared memory as written with an undefined value.
void put_shared(Cta& owner, std::uint32_t offset, std::uint32_t bytes, OriginNumber origin) {
  for (std::uint32_t b = 0; b < bytes; ++b) owner.shadow()[offset + b] |= undefined;
  owner.cluster.origins().put(owner.in_cluster(offset), bytes, origin);
}

/// Returns the warp's tracker; creates it if it is missing. Makes Cta::run switch to the tracking loop.
Undefined& tracker_of(Warp& warp) {
  if (!warp.undefined) warp.undefined = std::make_unique<Undefined>(*warp.program);
  if (!warp.undefined->any()) {
    warp.changes_loop = true;
    warp.update_join();
  }
  return *warp.undefined;
}

/// Reports the use of an undefined value in a lane at `location`; `how` is the verb: "is stored by".
void report(const Warp& warp, std::uint32_t lane, std::uint32_t location, const Origin& origin,
            std::string_view how) {
  const Program& program = *warp.program;
  const bool loaded = origin.number == 0;
  const check::RuleId rule =
      loaded ? check::RuleId("shared.uninitialised") : check::RuleId("register.uninitialised");
  if (warp.cta->launch.reports.count_repeat(rule->id, program.locations[origin.location].line)) return;
  std::string what = fmt::format("a load of unwritten shared memory at {:#x}", origin.address);
  if (!loaded) {
    const auto named = std::ranges::find(program.unwritten, origin.number, &UnwrittenRegister::number);
    what = fmt::format("a read of {}, which no instruction has written", named->name);
  }
  const CodeLocation& here = program.locations[location];
  what += location == origin.location
              ? fmt::format(": it {} this instruction", how)
              : fmt::format(": a value computed from it {} \"{}\" at PTX line {}", how, here.text, here.line);
  Cta& cta = loaded ? *origin.cta : *warp.cta;
  About about;
  if (loaded) about.cause = fmt::format("in segment {}", program.locations[origin.location].segment);
  cta.report(loaded ? origin.thread : warp.thread(lane), origin.location, rule, std::move(what), {}, {},
             std::move(about));
}

}  // namespace

void Origins::clear() {
  all_.clear();
  numbers_.clear();
  stored_.clear();
}

OriginNumber Origins::number(const Origin& origin) {
  const std::uint32_t location = origin.read ? origin.location : ~0U;
  const auto [found, fresh] =
      numbers_.try_emplace({origin.number, location}, static_cast<OriginNumber>(all_.size()));
  if (fresh) all_.push_back(origin);
  return found->second;
}

void Origins::put(std::uint64_t at, std::uint32_t bytes, OriginNumber origin) {
  for (std::uint64_t word = at / 4; word <= (at + bytes - 1) / 4; ++word) stored_[word] = origin;
}

OriginNumber Origins::at(std::uint64_t at) const {
  return stored_.at(at / 4);
}

Undefined::Undefined(const Program& program)
    : lanes_(program.register_count + 1), origins_(program.register_count + 1) {}

void Undefined::mark(RegisterNumber number, Mask mask, Mask undefined, OriginNumber origin) {
  if (number == 0) return;
  Mask& all = lanes_[number];
  undefined &= mask;
  const Mask now = (all & ~mask) | undefined;
  if ((all == 0) != (now == 0)) now != 0 ? ++count_ : --count_;
  all = now;
  if (undefined != 0) origins_[number] = origin;
}

void Undefined::forget(Mask mask) {
  std::erase_if(local_, [&](const auto& each) { return (mask >> (each.first >> 32) & 1) != 0; });
  if (count_ == 0) return;
  for (Mask& all : lanes_) {
    if (all != 0 && (all &= ~mask) == 0) --count_;
  }
}

const RegisterNumber* Undefined::registers(const Warp& warp, const Flow& flow) {
  return warp.program->flow_registers.data() + flow.begin;
}

Undefined::State Undefined::state_of(Warp& warp, RegisterNumber number, Mask mask) {
  State found{lanes_[number] & mask, origins_[number]};
  if (found.lanes == 0) return found;
  Origins& origins = warp.cta->cluster.origins();
  // Give an unwritten register at its first read an origin with this location, which reports show.
  if (!origins[found.origin].read) found.origin = origins.number({number, true, location_, warp.cta, 0, 0});
  return found;
}

Undefined::State Undefined::any_of(Warp& warp, const RegisterNumber* first, std::size_t count, Mask mask) {
  State all;
  for (std::size_t i = 0; i < count; ++i) {
    const State each = state_of(warp, first[i], mask);
    if (each.lanes == 0) continue;
    all = {all.lanes | each.lanes, each.origin};
  }
  return all;
}

Undefined::State Undefined::all_of(Warp& warp, const RegisterNumber* first, std::size_t count, Mask mask) {
  State all;
  bool begun = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (first[i] == 0) continue;
    const State each = state_of(warp, first[i], mask);
    all = {begun ? all.lanes & each.lanes : each.lanes, each.origin};
    begun = true;
  }
  return all;
}

Undefined::State Undefined::selected(Warp& warp, const Flow& flow, Mask mask) {
  const RegisterNumber* const operands = registers(warp, flow) + flow.results + flow.addresses;
  const Mask first = read_mask(warp, warp.program->code[flow.first].c);
  State all;
  for (const State& each : {state_of(warp, operands[0], mask & first),
                            state_of(warp, operands[1], mask & ~first), state_of(warp, operands[2], mask)}) {
    if (each.lanes != 0) all = {all.lanes | each.lanes, each.origin};
  }
  return all;
}

Undefined::State Undefined::absorbed(Warp& warp, const Flow& flow, Mask mask) {
  const RegisterNumber* const operands = registers(warp, flow) + flow.results + flow.addresses;
  const MicroOp& op = warp.program->code[flow.first];
  const State a = state_of(warp, operands[0], mask);
  const State b = state_of(warp, operands[1], mask);
  const State added = any_of(warp, operands + 2, flow.operands - 2U, mask);
  return {(a.lanes & ~absorbing(warp, flow, op.b, a.lanes & ~b.lanes)) |
              (b.lanes & ~absorbing(warp, flow, op.a, b.lanes & ~a.lanes)) | added.lanes,
          a.lanes != 0   ? a.origin
          : b.lanes != 0 ? b.origin
                         : added.origin};
}

void Undefined::mark_results(Warp& warp, const Flow& flow, Mask mask, State found) {
  const RegisterNumber* const results = registers(warp, flow);
  for (std::size_t i = 0; i < flow.results; ++i) mark(results[i], mask, found.lanes, found.origin);
}

void Undefined::before(Warp& warp, Mask mask) {
  const Program& program = *warp.program;
  location_ = program.location_of[warp.pc];
  const Flow& flow = program.flows[location_];
  if (flow.first != warp.pc) return;
  const RegisterNumber* const addresses = registers(warp, flow) + flow.results;
  const RegisterNumber* const operands = addresses + flow.addresses;
  const State guard = state_of(warp, flow.guard, warp.active);
  const bool to_local = flow.kind == Kind::stores && program.accesses[flow.access].space == Space::local;
  if (flow.guarded && !to_local) report_if_undefined(warp, flow.guard, guard.lanes, "is the guard of");
  for (std::size_t i = 0; i < flow.addresses; ++i)
    report_if_undefined(warp, addresses[i], mask, "is an address in");
  State found;
  switch (flow.kind) {
    case Kind::acts:
      for (std::size_t i = 0; i < flow.operands; ++i)
        report_if_undefined(warp, operands[i], mask, "is an operand of");
      break;
    case Kind::defines: break;
    case Kind::joins: found = all_of(warp, operands, flow.operands, mask); break;
    case Kind::selects:
    case Kind::conjoins:
    case Kind::disjoins:
      // The slots of a single micro-operation are those of the instruction's operands.
      if (flow.first == flow.last) {
        found = flow.kind == Kind::selects ? selected(warp, flow, mask) : absorbed(warp, flow, mask);
        break;
      }
      [[fallthrough]];
    case Kind::computes: found = any_of(warp, operands, flow.operands, mask); break;
    default: return;  // after() handles these: the lanes may have to wait for other lanes first
  }
  mark_results(warp, flow, mask, found);
  if (flow.kind == Kind::defines && flow.access != Flow::none && !local_.empty()) load(warp, flow, mask);
  if (guard.lanes != 0 && !flow.guarded) mark_results(warp, flow, guard.lanes, guard);
}

void Undefined::after(Warp& warp, std::uint32_t pc, Mask mask) {
  const Program& program = *warp.program;
  location_ = program.location_of[pc];
  const Flow& flow = program.flows[location_];
  if (flow.last != pc || mask == 0) return;
  if (flow.kind == Kind::fragments) multiply(warp, flow, mask);
  if (flow.kind == Kind::transposes) transpose(warp, flow, mask);
  if (flow.kind == Kind::stores) store(warp, flow, mask);
  if (flow.kind != Kind::meets) return;
  State found = any_of(warp, registers(warp, flow) + flow.results + flow.addresses, flow.operands, mask);
  if (found.lanes != 0) found.lanes = mask;
  mark_results(warp, flow, mask, found);
}

void Undefined::shuffle(Warp& warp, std::span<const Party> parties,
                        const std::array<std::uint8_t, lanes>& from) {
  State value;
  const auto for_each_party = [&](const auto& visit) {
    for (const Party& party : parties) {
      location_ = warp.program->location_of[party.pc];
      const Flow& flow = warp.program->flows[location_];
      visit(party.lanes, flow, registers(warp, flow));
    }
  };
  for_each_party([&](Mask members, const Flow& flow, const RegisterNumber* numbers) {
    const State own =
        state_of(warp, numbers[flow.results + flow.addresses], parties.size() == 1 ? all_lanes : members);
    if (own.lanes != 0) value = {value.lanes | own.lanes, own.origin};
  });
  for_each_party([&](Mask members, const Flow& flow, const RegisterNumber* numbers) {
    // The result also depends on the operand that gives the source lane.
    State found = any_of(warp, numbers + flow.results + flow.addresses + 1, flow.operands - 1U, members);
    for_lanes(members, [&](std::uint32_t lane) { found.lanes |= (value.lanes >> from[lane] & 1) << lane; });
    if (value.lanes != 0) found.origin = value.origin;
    mark(numbers[0], members, found.lanes, found.origin);
    if (flow.results > 1) mark(numbers[1], members, 0, 0);
  });
}

void Undefined::multiply(Warp& warp, const Flow& flow, Mask mask) {
  const Program& program = *warp.program;
  const RegisterNumber* const results = registers(warp, flow);
  const RegisterNumber* const addends = results + flow.results + flow.addresses;
  const RegisterNumber* const left = addends + (flow.operands - flow.left - flow.right);
  const RegisterNumber* const right = left + flow.left;
  const bool of_warpgroup = flow.right == 0;
  Mask keeps = mask;
  if (of_warpgroup) keeps &= read_mask(warp, program.products[program.code[flow.last].aux].keeps_d);
  // Lanes 4 i to 4 i + 3 hold row i of a (and row i + 8 if there are 16 rows) and column i of b (PTX ISA,
  // fragment figures of mma). A lane holds columns 2 (lane % 4) and 2 (lane % 4) + 1 of the result.
  const std::uint32_t halves = of_warpgroup ? 2 : flow.packs ? flow.results : flow.results / 2U;
  State found;
  std::array<Mask, 2> rows{};
  for (std::size_t i = 0; i < flow.left; ++i) {
    const State each = state_of(warp, left[i], mask);
    for_lanes(each.lanes, [&](std::uint32_t lane) { rows[i % halves] |= 15U << lane / 4 * 4; });
    if (each.lanes != 0) found = each;
  }
  std::array<Mask, 2> columns{};  // undefined in the even columns, and in the odd ones
  for (std::size_t i = 0; i < flow.right; ++i) {
    const State each = state_of(warp, right[i], mask);
    for_lanes(each.lanes, [&](std::uint32_t lane) { columns[lane / 4 % 2] |= 0x11111111U << lane / 8; });
    if (each.lanes != 0) found = each;
  }
  std::vector<State> all(flow.results);
  for (std::size_t i = 0; i < flow.results; ++i) {
    const Mask row = rows[(flow.packs ? i : i / 2) % halves];
    const Mask column = flow.packs ? columns[0] & columns[1] : columns[i % 2];
    const State addend = state_of(warp, addends[i], keeps);
    all[i] = {row | column | addend.lanes, addend.lanes != 0 ? addend.origin : found.origin};
  }
  for (std::size_t i = 0; i < flow.results; ++i) mark(results[i], mask, all[i].lanes, all[i].origin);
}

void Undefined::transpose(Warp& warp, const Flow& flow, Mask mask) {
  const RegisterNumber* const numbers = registers(warp, flow);
  const State from = state_of(warp, numbers[flow.results + flow.addresses], mask);
  Mask undefined_lanes = 0;
  // A lane gets rows 2 (lane % 4) and 2 (lane % 4) + 1 of column lane / 4. Four lanes hold each row.
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint32_t first = lane % 4 * 8 + lane / 8;
    undefined_lanes |= (from.lanes >> first & from.lanes >> (first + 4) & 1) << lane;
  });
  mark(numbers[0], mask, undefined_lanes, from.origin);
}

void Undefined::store(Warp& warp, const Flow& flow, Mask mask) {
  const MemoryAccess& access = warp.program->accesses[flow.access];
  const RegisterNumber* const values = registers(warp, flow) + flow.results + flow.addresses;
  for (std::uint32_t i = 0; i < flow.operands; ++i) {
    const State found = state_of(warp, values[i], mask);
    Mask to_global = 0;
    // A defined value clears the mark of local memory. For shared memory, check_shadow() has cleared it.
    for_lanes(local_.empty() ? found.lanes : mask, [&](std::uint32_t lane) {
      const bool is_undefined = (found.lanes >> lane & 1) != 0;
      std::uint64_t address = address_of(warp, access, lane) + std::uint64_t{i} * flow.bytes;
      const Space space = access.space == Space::generic ? take_space(address) : access.space;
      if (space == Space::local) {
        for (std::uint32_t b = 0; b < flow.bytes; ++b) {
          local_.erase(local_key(lane, address + b));
          if (is_undefined) local_[local_key(lane, address + b)] = found.origin;
        }
      }
      if (!is_undefined) return;
      if (space == Space::global) to_global |= 1U << lane;
      if (space != Space::shared) return;
      const SharedAddress at = owner_of(*warp.cta, address, flow.bytes);
      if (at.owner != nullptr) put_shared(*at.owner, at.offset, flow.bytes, found.origin);
    });
    report_if_undefined(warp, values[i], to_global, to_global_memory);
  }
}

void Undefined::store_piece(Warp& warp, std::uint32_t lane, std::uint32_t operand, Cta& owner,
                            std::uint32_t offset, std::uint32_t bytes) {
  location_ = warp.location();
  const Flow& flow = warp.program->flows[location_];
  const RegisterNumber number = registers(warp, flow)[flow.results + flow.addresses + operand];
  const State found = state_of(warp, number, Mask{1} << lane);
  if (found.lanes != 0) put_shared(owner, offset, bytes, found.origin);
}

Undefined::State Undefined::operand(Warp& warp, std::uint32_t operand, Mask mask) {
  location_ = warp.location();
  const Flow& flow = warp.program->flows[location_];
  return state_of(warp, registers(warp, flow)[flow.results + flow.addresses + operand], mask);
}

void Undefined::mark_result(Warp& warp, std::uint32_t result, Mask mask, State found) {
  mark(registers(warp, warp.program->flows[warp.location()])[result], mask, found.lanes, found.origin);
}

void Undefined::report_if_operand_undefined(Warp& warp, std::uint32_t operand, Mask mask) {
  location_ = warp.location();
  const Flow& flow = warp.program->flows[location_];
  report_if_undefined(warp, registers(warp, flow)[flow.results + flow.addresses + operand], mask,
                      to_global_memory);
}

void Undefined::load(Warp& warp, const Flow& flow, Mask mask) {
  const MemoryAccess& access = warp.program->accesses[flow.access];
  for_lanes(mask, [&](std::uint32_t lane) {
    std::uint64_t address = address_of(warp, access, lane);
    if ((access.space == Space::generic ? take_space(address) : access.space) != Space::local) return;
    for (std::uint32_t i = 0; i < flow.results; ++i) {
      auto found = local_.end();
      for (std::uint32_t b = 0; b < flow.bytes; ++b) {
        found = local_.find(local_key(lane, address + std::uint64_t{i} * flow.bytes + b));
        if (found == local_.end()) break;
      }
      if (found == local_.end()) continue;
      mark(registers(warp, flow)[i], Mask{1} << lane, all_lanes, found->second);
    }
  });
}

void Undefined::leave(Warp& warp, const Frame& frame, Mask mask) {
  const auto call = [&](std::uint32_t lane) -> Activation& { return warp.calls->calls[lane].back(); };
  Mask restores = 0;
  for_lanes(mask, [&](std::uint32_t lane) {
    if (!call(lane).undefined.empty()) restores |= 1U << lane;
    // The next call that uses this part of the stack must not inherit its marks.
    for (std::uint32_t b = 0; b < frame.bytes && !local_.empty(); ++b)
      local_.erase(local_key(lane, warp.program->stack_begin + call(lane).top + b));
  });
  if (count_ == 0 && restores == 0) return;
  for (const RegisterNumber number : frame.numbers) mark(number, mask, 0, 0);
  if (restores != 0) (void)tracker_of(warp);
  for_lanes(restores, [&](std::uint32_t lane) {
    for (const UndefinedRegister& each : call(lane).undefined)
      mark(each.number, 1U << lane, all_lanes, each.origin);
  });
}

void Undefined::copy(Warp& warp, const LocalCopy& copied, Mask mask) {
  if (local_.empty()) return;
  for_lanes(mask, [&](std::uint32_t lane) {
    const std::uint64_t to = address_of(warp, copied.to, lane);
    const std::uint64_t from = address_of(warp, copied.from, lane);
    for (std::uint32_t b = 0; b < copied.bytes; ++b) {
      const auto found = local_.find(local_key(lane, from + b));
      if (found == local_.end()) {
        local_.erase(local_key(lane, to + b));
      } else {
        const OriginNumber origin = found->second;
        local_[local_key(lane, to + b)] = origin;
      }
    }
  });
}

void Undefined::report_if_undefined(Warp& warp, RegisterNumber number, Mask mask, std::string_view how) {
  const State found = state_of(warp, number, mask);
  if (found.lanes == 0) return;
  const Origin origin = warp.cta->cluster.origins()[found.origin];
  // One report for the register is enough.
  mark(number, found.lanes, 0, 0);
  if (origin.number != 0) mark(origin.number, found.lanes, 0, 0);
  for_lanes(found.lanes, [&](std::uint32_t lane) { report(warp, lane, location_, origin, how); });
}

void report_stored_undefined(const Warp& warp, std::uint32_t lane, const Cta& owner, std::uint32_t offset) {
  const Origins& origins = warp.cta->cluster.origins();
  report(warp, lane, warp.location(), origins[origins.at(owner.in_cluster(offset))], to_global_memory);
}

void track_call(Warp& warp, const Frame& frame, Mask mask) {
  // If a register can be unwritten, begin_undefined() has created warp.undefined.
  if (!warp.undefined || (!warp.undefined->any() && frame.unwritten.empty())) return;
  Undefined& undefined = tracker_of(warp);
  for (const RegisterNumber number : frame.numbers) {
    for_lanes(undefined.lanes_[number] & mask, [&](std::uint32_t lane) {
      warp.calls->calls[lane].back().undefined.push_back({number, undefined.origins_[number]});
    });
    undefined.mark(number, mask, 0, 0);
  }
  for (const RegisterNumber number : frame.unwritten) {
    const OriginNumber origin = warp.cta->cluster.origins().number({number, false, 0, warp.cta, 0, 0});
    undefined.mark(number, mask, mask, origin);
  }
}

void begin_undefined(Warp& warp) {
  const Program& program = *warp.program;
  if (program.unwritten.empty()) return warp.undefined.reset();
  if (!warp.undefined) warp.undefined = std::make_unique<Undefined>(program);
  warp.undefined->forget(all_lanes);
  for (const UnwrittenRegister& each : program.unwritten) {
    const OriginNumber origin = warp.cta->cluster.origins().number({each.number, false, 0, warp.cta, 0, 0});
    warp.undefined->mark(each.number, warp.live, warp.live, origin);
  }
}

void track_pieces(Warp& warp, std::uint32_t lane, std::uint32_t result, Cta& owner,
                  const std::uint32_t* pieces, std::size_t count, std::uint32_t bytes) {
  const Program& program = *warp.program;
  const Flow& flow = program.flows[warp.location()];
  const RegisterNumber number = result < flow.results ? program.flow_registers[flow.begin + result] : 0;
  if (number == 0) return;
  std::optional<std::uint32_t> stored;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::uint32_t at = pieces[i]; at < pieces[i] + bytes; ++at) {
      const std::uint8_t state = owner.shadow()[at];
      if ((state & undefined) != 0) {
        stored = at;
      } else if ((state & (initialised | loading | in_mbarrier)) != 0) {
        return;
      }
    }
  }
  Origins& origins = warp.cta->cluster.origins();
  const OriginNumber origin =
      stored
          ? origins.at(owner.in_cluster(*stored))
          : origins.number({0, true, warp.location(), warp.cta, warp.thread(lane), pieces[0] + shared_base});
  tracker_of(warp).mark(number, 1U << lane, 1U << lane, origin);
}

void track_load(Warp& warp, std::uint32_t lane, const Target& at, std::uint32_t bytes, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t offset = at.offset + i * bytes;
    track_pieces(warp, lane, i, *at.owner, &offset, 1, bytes);
  }
}

}  // namespace sim
TMAJIT_END
