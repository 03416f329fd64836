/// Records which registers an instruction reads and writes. The records serve to track uninitialised values
/// (undefined.hpp) and registers of wgmma products in flight (warpgroup.hpp).
#include "ptx/control_flow.hpp"
#include "ptx/liveness.hpp"
#include "ptx/operands.hpp"
#include "sim/decode/decode.hpp"

#include <algorithm>

TMAJIT_BEGIN
namespace sim {
namespace {

using Kind = Flow::Kind;

/// Appends the register number of each element of an operand; 0 for an element that is no register.
void append_numbers(std::vector<RegisterNumber>& to, const Arg& arg) {
  for (const Arg& element : elements(arg)) {
    if (element.kind == Arg::Kind::memory) continue;
    if (element.kind == Arg::Kind::group) {
      append_numbers(to, element);
    } else {
      to.push_back(element.number);
    }
  }
}

}  // namespace

/// Records in uses_ the registers that an instruction names; `first` is its first micro-operation.
void Decoder::record_registers(std::uint32_t first, const std::vector<Arg>& args) {
  for (const Arg& arg : args) {
    if (arg.kind == Arg::Kind::reg) uses_.emplace_back(first, arg.slot);
    if (arg.kind == Arg::Kind::memory && arg.access.address_width != 0)
      uses_.emplace_back(first, arg.access.address);
    record_registers(first, arg.elements);
  }
}

/// Numbers the registers of the kernel's wgmma products, and records which other instructions use these
/// registers.
void Decoder::watch_registers() {
  std::map<Slot, std::uint32_t> numbers;
  for (WarpgroupProduct& product : program_.products) {
    const auto number = [&](const std::vector<Slot>& slots) {
      for (const Slot slot : slots)
        product.registers.push_back(
            numbers.try_emplace(slot, static_cast<std::uint32_t>(numbers.size())).first->second);
    };
    number(product.d);
    product.results = product.registers.size();
    number(product.a);
  }
  program_.watched = static_cast<std::uint32_t>(numbers.size());
  std::size_t next = 0;
  for (std::uint32_t op = 0; op <= program_.code.size(); ++op) {
    program_.watch_begin.push_back(static_cast<std::uint32_t>(program_.watches.size()));
    for (; next < uses_.size() && uses_[next].first == op; ++next) {
      const auto found = numbers.find(uses_[next].second);
      const bool moves = moves_.contains(op);
      if (found != numbers.end()) program_.watches.push_back(2 * found->second + (moves ? 1 : 0));
    }
  }
}

void Decoder::record_flow(std::uint32_t first) {
  const Opcode opcode = instruction().opcode;
  Flow flow;
  flow.kind = ptx::data_flow(*flat_);
  flow.guarded = ptx::has_effects(flow.kind, opcode);
  flow.first = first;
  flow.last = static_cast<std::uint32_t>(program_.code.size() - 1);
  if (instruction().guard) flow.guard = guard_number_;
  if (opcode == Opcode::ld || opcode == Opcode::ldu || opcode == Opcode::st)
    flow.access = static_cast<std::uint32_t>(program_.accesses.size() - 1);
  const auto types = instruction().types();
  if (!types.empty()) flow.bytes = static_cast<std::uint8_t>(std::min(ptx::bits_of(types.back()) / 8, 8U));
  std::vector<RegisterNumber>& registers = program_.flow_registers;
  flow.begin = static_cast<std::uint32_t>(registers.size());
  auto count = [&, from = registers.size()]() mutable {
    return static_cast<std::uint16_t>(registers.size() - std::exchange(from, registers.size()));
  };
  const std::size_t from = ptx::writes_first(instruction()) ? 1 : 0;
  if (from == 1) append_numbers(registers, args_[0]);
  if (instruction().has("cc")) registers.push_back(carry_number);
  flow.results = count();
  const auto append_addresses = [&](const auto& self, const std::vector<Arg>& args) -> void {
    for (const Arg& arg : args) {
      if (arg.kind == Arg::Kind::memory) registers.push_back(arg.number);
      self(self, arg.elements);
    }
  };
  append_addresses(append_addresses, args_);
  if (flow.kind == Kind::fragments) {
    append_fragments(flow);
    return;
  }
  // The last operand must be defined if it is a mask of lanes, or the stride of wmma.load and wmma.store.
  const bool last_is_checked = flow.kind == Kind::shuffles || flow.kind == Kind::meets ||
                               (opcode == Opcode::wmma && !has("mma") && args_.size() > 2);
  if (last_is_checked) append_numbers(registers, args_.back());
  // The pointer of an indirect call must be defined. It is the only register operand of a call that is not in
  // a list in parentheses.
  for (const Arg& arg : args_)
    if (opcode == Opcode::call && arg.kind == Arg::Kind::reg) registers.push_back(arg.number);
  flow.addresses = count();
  if (flow.kind == Kind::defines) return program_.flows.push_back(flow);
  for (std::size_t i = from; i + (last_is_checked ? 1 : 0) < args_.size(); ++i) {
    append_numbers(registers, args_[i]);
    // The coordinates of a tensor copy are elements of the operand that names the map.
    if (args_[i].kind == Arg::Kind::memory) {
      for (const Arg& element : args_[i].elements) append_numbers(registers, element);
    }
  }
  if (opcode == Opcode::addc || opcode == Opcode::subc || opcode == Opcode::madc)
    registers.push_back(carry_number);
  flow.operands = count();
  program_.flows.push_back(flow);
}

/// The operands are mma d, a, b, c and wgmma.mma_async d, a, b, p. For wgmma, b is a descriptor, a may be
/// one, and predicate p decides whether d is the addend.
void Decoder::append_fragments(Flow flow) {
  std::vector<RegisterNumber>& registers = program_.flow_registers;
  const bool of_warpgroup = instruction().opcode == Opcode::wgmma_mma_async;
  flow.packs = instruction().types().front() == ScalarType::f16;
  const auto append = [&](std::size_t i) {
    const std::size_t before = registers.size();
    append_numbers(registers, args_[i]);
    return static_cast<std::uint16_t>(registers.size() - before);
  };
  const bool from_registers = args_[1].kind == Arg::Kind::group || !of_warpgroup;
  if (of_warpgroup) {
    if (!from_registers) flow.addresses = append(1);
    for (std::size_t i = 2; i < args_.size(); ++i)
      flow.addresses = static_cast<std::uint16_t>(flow.addresses + append(i));
  }
  const auto addends = append(of_warpgroup ? 0 : 3);
  if (from_registers) flow.left = append(1);
  if (!of_warpgroup) flow.right = append(2);
  flow.operands = static_cast<std::uint16_t>(addends + flow.left + flow.right);
  program_.flows.push_back(flow);
}

void Decoder::find_unwritten(const ptx::FlatFunction& function) {
  // Candidates are registers that a block reads without an earlier unguarded write in this block or in the
  // first block. No other register can be read before it is written.
  constexpr std::uint32_t none = ~0U;
  const ptx::ControlFlow flow(function);
  std::vector<std::uint32_t> slot_of(function.registers.size(), none);
  std::vector<std::uint32_t> written_in(function.registers.size(), none);
  std::vector<std::uint32_t> candidates;
  std::vector<bool> always_written(function.registers.size(), false);
  for (std::uint32_t i = 0; i < function.instructions.size(); ++i) {
    const ptx::FlatInstruction& flat = function.instructions[i];
    const std::uint32_t block = flow.block_of(i);
    ptx::for_each_read(flat, [&](std::uint32_t reg) {
      if (always_written[reg] || written_in[reg] == block || slot_of[reg] != none) return;
      slot_of[reg] = static_cast<std::uint32_t>(candidates.size());
      candidates.push_back(reg);
    });
    if (flat.instruction->guard) continue;
    ptx::for_each_written(flat, [&](std::uint32_t reg, std::uint32_t) {
      written_in[reg] = block;
      always_written[reg] = always_written[reg] || block == 0;
    });
  }
  ptx::Liveness live;
  // If there are too many candidates to analyse, all are assumed to be written.
  if (candidates.empty() || !live.find(function, flow, slot_of, candidates.size())) return;
  for (const std::uint32_t slot : live.in(0)) {
    const std::uint32_t reg = candidates[slot];
    for (const Arg& each : elements(registers_[reg])) {
      program_.unwritten.push_back({each.number, function.registers[reg].name});
      // Each call of a recursive function starts with unwritten registers.
      if (current_ != nullptr && current_->recursive)
        program_.frames[current_->frame].unwritten.push_back(each.number);
    }
  }
}

}  // namespace sim
TMAJIT_END
