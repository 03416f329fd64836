#include "lint/kernel.hpp"

#include "ptx/opcode_rows.hpp"

#include <algorithm>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLExtras.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using ptx::Effect;
using ptx::Opcode;
using ptx::Operand;
using ptx::StateSpace;
using Kind = Event::Kind;

bool is_shared_space(StateSpace space) {
  return space == StateSpace::shared || space == StateSpace::shared_cta ||
         space == StateSpace::shared_cluster;
}

/// Turns instructions into events while the propagation visits them.
class Collector {
 public:
  Collector(Kernel& kernel, Propagation& state) : kernel_(kernel), state_(state) {}

  void visit(std::uint32_t index) {
    const ptx::FlatInstruction& flat = kernel_.function.instructions[index];
    const Formula guard = state_.guard(flat);
    if (ends_block(flat.instruction->opcode)) kernel_.guards[index] = guard;
    if (ptx::row_of(flat.instruction->opcode).effect == Effect::none) return;
    flat_ = &flat;
    operands_ = bound_operands(flat);
    event_ = Event();
    event_.instruction = index;
    event_.guard = guard;
    if (!classify(*flat.instruction)) return;
    kernel_.guards[index] = guard;
    kernel_.events.push_back(std::move(event_));
  }

 private:
  /// Returns true: the instruction is an event.
  bool set_kind(Kind kind) {
    event_.kind = kind;
    return true;
  }
  [[nodiscard]] Value address(std::size_t operand) {
    return operand < operands_.size() ? state_.address(*flat_, operands_[operand]) : Values::unknown(32);
  }
  [[nodiscard]] Value value(std::size_t operand) {
    return operand < operands_.size() ? state_.read(*flat_, operands_[operand], 32) : Values::unknown(32);
  }

  // The functions below fill event_ from the instruction, and return whether it is an event.

  bool classify(const ptx::Instruction& in) {
    switch (ptx::row_of(in.opcode).effect) {
      case Effect::none:
      case Effect::waits: return false;
      case Effect::reads: return memory(in, Kind::access, 1);
      case Effect::writes: return memory(in, Kind::write, 0);
      case Effect::updates: return memory(in, Kind::write, 1);
      case Effect::writes_matrix:
        event_.is_shared = true;
        event_.shared = address(0);
        event_.access_bytes = 16;
        return set_kind(Kind::write);
      case Effect::moves_fragments:
        if (in.has("mma")) return false;
        return in.has("load") ? memory(in, Kind::access, 1) : memory(in, Kind::write, 0);
      case Effect::bulk_copy: return bulk(in);
      case Effect::tensor_load:
        tensor(in, 1, 3);
        event_.shared = address(0);
        event_.barrier = address(2);
        return set_kind(Kind::bulk_load);
      case Effect::tensor_store:
        for (const CombineOp op : all_combine_ops)
          if (in.has(name(op))) event_.reduction = op;
        tensor(in, 0, 2);
        event_.shared = address(1);
        return set_kind(Kind::bulk_store);
      case Effect::tensor_prefetch: tensor(in, 0, 1); return set_kind(Kind::prefetch);
      case Effect::bulk_prefetch:
        event_.global = address(0);
        event_.bytes = value(1);
        return set_kind(Kind::prefetch);
      case Effect::commits: return set_kind(Kind::commit);
      case Effect::waits_for_group:
        event_.groups = value(0).number().value_or(0);
        return set_kind(Kind::wait_group);
      case Effect::waits_for_phase: return mbarrier(Kind::wait, 1, 2);
      case Effect::synchronises: return set_kind(Kind::sync);
      case Effect::uses_map: use_map(address(0)); return false;
      case Effect::changes_map:
        if (llvm::any_of(in.spaces(), is_shared_space) && in.opcode == Opcode::tensormap_replace)
          return false;
        event_.map_address = address(0);
        return set_kind(Kind::map_change);
      case Effect::proxy_fence: return fence(in);
      case Effect::init_fence: return set_kind(Kind::init_fence);
      case Effect::initialises: return mbarrier(Kind::init, 0, 1);
      case Effect::invalidates: return mbarrier(Kind::invalidate, 0, 1);
      case Effect::expects: return mbarrier(Kind::expect, 0, 1);
      case Effect::arrives: return mbarrier(in.has("expect_tx") ? Kind::arrive_expect : Kind::arrive, 1, 2);
      case Effect::remote_copy: return set_kind(Kind::remote_copy);
      case Effect::calls: kernel_.knows_maps = false; return set_kind(Kind::call);
    }
    return false;
  }

  bool memory(const ptx::Instruction& in, Kind kind, std::size_t operand) {
    const auto spaces = in.spaces();
    const auto types = in.types();
    if (types.empty() || operand >= operands_.size()) return false;
    event_.shared = address(operand);
    event_.access_bytes = std::max(bits_of(types.back()) / 8, 1U) * in.vector_width();
    const ptx::Variable* variable = kernel_.values.variable_of(event_.shared);
    event_.is_shared = spaces.empty() ? variable != nullptr && variable->space == StateSpace::shared
                                      : is_shared_space(spaces.front());
    return set_kind(kind);
  }

  bool bulk(const ptx::Instruction& in) {
    const auto spaces = in.spaces();
    if (spaces.size() < 2) return false;
    event_.bytes = value(2);
    if (spaces[0] == StateSpace::global) {
      event_.global = address(0);
      event_.shared = address(1);
      return set_kind(Kind::bulk_store);
    }
    if (spaces[1] != StateSpace::global) return set_kind(Kind::remote_copy);
    event_.shared = address(0);
    event_.global = address(1);
    event_.barrier = address(3);
    return set_kind(Kind::bulk_load);
  }

  /// `offsets` is the index of the operand with the offsets, which only .im2col has.
  void tensor(const ptx::Instruction& in, std::size_t operand, std::size_t offsets) {
    event_.is_tensor = true;
    if (in.has("im2col") || in.has("im2col_no_offs")) event_.mode = MapMode::im2col;
    if (in.has("im2col") && offsets < operands_.size() &&
        operands_[offsets].operand->kind == Operand::Kind::vector) {
      for (const ptx::BoundOperand& each : bound_elements(operands_[offsets]))
        event_.offsets.push_back(state_.read(*flat_, each, 16));
    }
    if (operand >= operands_.size()) return;
    const auto parts = bound_elements(operands_[operand]);
    if (parts.empty()) return;
    for (const ptx::BoundOperand& part : llvm::ArrayRef<ptx::BoundOperand>(parts).drop_front()) {
      if (part.operand->kind == Operand::Kind::vector) {
        for (const ptx::BoundOperand& each : bound_elements(part))
          event_.coordinates.push_back(state_.read(*flat_, each, 32));
      } else {
        event_.coordinates.push_back(state_.read(*flat_, part, 32));
      }
    }
    event_.map_address = state_.read(*flat_, parts.front(), 64);
    event_.map = use_map(event_.map_address);
    if (event_.map != nullptr && event_.map->box_bytes != 0)
      event_.bytes = Values::constant(event_.map->box_bytes, 32);
  }

  /// Marks the map at the address as used, and returns its known facts or null.
  const MapFacts* use_map(const Value& address) {
    const MapFacts* found = nullptr;
    const auto parameter = parameter_at(address);
    kernel_.knows_maps = kernel_.knows_maps && parameter;
    if (!parameter) return nullptr;
    const std::string& name = kernel_.function.function->parameters[*parameter].name;
    const auto& maps = kernel_.options.maps;
    for (std::size_t i = 0; i < maps.size(); ++i) {
      const MapFacts& facts = maps[i];
      if (address.constant != facts.offset) continue;
      if (facts.parameter != name && facts.parameter != std::to_string(*parameter)) continue;
      kernel_.maps_used.insert(i);
      if (found == nullptr) found = &facts;
    }
    return found;
  }

  /// The index of the parameter that holds the address, if it is known.
  [[nodiscard]] std::optional<std::size_t> parameter_at(const Value& address) const {
    if (!address.exact() || address.terms.size() != 1 || address.terms[0].factor != 1) return {};
    const ptx::Variable* parameter = kernel_.values.symbol(address.terms[0].symbol).variable;
    const auto& parameters = kernel_.function.function->parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (&parameters[i] == parameter) return i;
    }
    return {};
  }

  bool fence(const ptx::Instruction& in) {
    if (in.has("tensormap::generic")) {
      if (!in.has("acquire")) return false;
      event_.map_address = address(0);
      use_map(event_.map_address);
      return set_kind(Kind::map_acquire);
    }
    // Only fence.proxy.async of all memory or of shared memory counts: other fences are between other
    // proxies.
    if (!in.has("async")) return false;
    const auto spaces = in.spaces();
    if (!spaces.empty() && !is_shared_space(spaces.front())) return false;
    return set_kind(Kind::fence);
  }

  bool mbarrier(Kind kind, std::size_t operand, std::size_t count) {
    event_.shared = address(operand);
    event_.barrier = event_.shared;
    event_.bytes = value(count);
    return set_kind(kind);
  }

  Kernel& kernel_;
  Propagation& state_;
  const ptx::FlatInstruction* flat_ = nullptr;
  llvm::SmallVector<ptx::BoundOperand, 6> operands_;
  Event event_;
};

}  // namespace

Kernel::Kernel(const ptx::Module& its_module, ptx::FlatFunction flat, const LintOptions& its_options,
               Allowance& its_allowance)
    : module(its_module),
      options(its_options),
      allowance(its_allowance),
      function(std::move(flat)),
      flow(function),
      conditions(values) {
  guards.assign(function.instructions.size(), always);
  Propagation propagation(function, flow, values, conditions);
  Collector collector(*this, propagation);
  propagation.visit([&](std::uint32_t index) { collector.visit(index); });
  arrivals.resize(flow.blocks().size());
  propagation.for_each_arrival(
      [&](std::uint32_t block, std::uint32_t from, SubjectId subject, Content content) {
        arrivals[block].push_back({from, subject, std::move(content)});
      });
  sort_events();
  unwritten = propagation.unwritten();
  unwritten_known = propagation.unwritten_known();
  std::uint32_t next = 0;
  for (const ptx::BasicBlock& block : flow.blocks()) {
    while (next < events.size() && events[next].instruction < block.first) ++next;
    first_event.push_back(next);
  }
  first_event.push_back(static_cast<std::uint32_t>(events.size()));
}

void Kernel::sort_events() {
  // Events are large. Sorting pointers to them first moves each event only once.
  std::vector<Event*> sorted;
  for (Event& event : events) sorted.push_back(&event);
  std::ranges::sort(sorted, {}, &Event::instruction);
  std::vector<Event> in_order;
  in_order.reserve(events.size());
  for (Event* const event : sorted) in_order.push_back(std::move(*event));
  events = std::move(in_order);
}

std::string Kernel::line_of(std::uint32_t index) const {
  if (index >= function.instructions.size()) return "the end of the function";
  return "line " + std::to_string(instruction(index).location.line);
}

bool Kernel::has(Event::Kind kind) const {
  return llvm::any_of(events, [&](const Event& event) { return event.kind == kind; });
}

bool Kernel::may_overlap(const Value& a, std::uint64_t a_bytes, const Value& b, std::uint64_t b_bytes) const {
  const ptx::Variable* in_a = values.variable_of(a);
  const ptx::Variable* in_b = values.variable_of(b);
  if (in_a != nullptr && in_b != nullptr && in_a != in_b) {
    // All variables of dynamic shared memory begin at one address.
    const auto dynamic = [](const ptx::Variable* variable) {
      return variable->linkage == ptx::Linkage::extern_ && variable->space == StateSpace::shared;
    };
    return dynamic(in_a) && dynamic(in_b);
  }
  const auto distance = Values::difference32(a, b);
  if (!distance) return true;
  if (*distance >= 0) return b_bytes == 0 || static_cast<std::uint64_t>(*distance) < b_bytes;
  return a_bytes == 0 || static_cast<std::uint64_t>(-std::int64_t{*distance}) < a_bytes;
}

}  // namespace lint
TMAJIT_END
