#include "sim/decode/decode.hpp"

#include "ptx/opcode_rows.hpp"
#include "ptx/printer.hpp"
#include "sim/cta/cta.hpp"
#include "sim/decode/device_runtime.hpp"
#include "sim/decode/selector.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {

namespace {

// Special registers (PTX ISA 10). %clock and %globaltimer count the CTA's instructions, so that runs are
// reproducible.

enum class Shape : std::uint8_t { scalar, vector, predicate };

struct SpecialRegister {
  std::string_view name;
  Shape shape;
  std::uint32_t (*value)(const LaneId& at, std::size_t dimension);
};
using enum Shape;

std::uint32_t lanes_below(const LaneId& at) {
  return (1U << at.lane) - 1;
}

using At = const LaneId&;

/// Special registers whose value does not change while a kernel runs.
constexpr SpecialRegister special_registers[] = {
    {"%tid", vector, [](At at, std::size_t d) { return at.cta.thread_index(at.warp.thread(at.lane))[d]; }},
    {"%ntid", vector, [](At at, std::size_t d) { return at.cta.launch.shape.block[d]; }},
    {"%ctaid", vector, [](At at, std::size_t d) { return at.cta.ctaid[d]; }},
    {"%nctaid", vector, [](At at, std::size_t d) { return at.cta.launch.shape.grid[d]; }},
    {"%cluster_ctaid", vector,
     [](At at, std::size_t d) { return at.cta.ctaid[d] % at.cta.launch.cluster[d]; }},
    {"%cluster_nctaid", vector, [](At at, std::size_t d) { return at.cta.launch.cluster[d]; }},
    {"%clusterid", vector, [](At at, std::size_t d) { return at.cta.ctaid[d] / at.cta.launch.cluster[d]; }},
    {"%nclusterid", vector,
     [](At at, std::size_t d) { return at.cta.launch.shape.grid[d] / at.cta.launch.cluster[d]; }},
    {"%laneid", scalar, [](At at, std::size_t) { return at.lane; }},
    {"%warpid", scalar, [](At at, std::size_t) { return at.warp.index; }},
    {"%nwarpid", scalar, [](At at, std::size_t) { return static_cast<std::uint32_t>(at.cta.warps.size()); }},
    {"%smid", scalar, [](At at, std::size_t) { return at.cta.ctaid[0] % at.cta.launch.options.sm_count; }},
    {"%nsmid", scalar, [](At at, std::size_t) { return at.cta.launch.options.sm_count; }},
    {"%gridid", scalar, [](At, std::size_t) { return 0U; }},
    {"%lanemask_eq", scalar, [](At at, std::size_t) { return 1U << at.lane; }},
    {"%lanemask_le", scalar, [](At at, std::size_t) { return lanes_below(at) | 1U << at.lane; }},
    {"%lanemask_lt", scalar, [](At at, std::size_t) { return lanes_below(at); }},
    {"%lanemask_ge", scalar, [](At at, std::size_t) { return ~lanes_below(at); }},
    {"%lanemask_gt", scalar, [](At at, std::size_t) { return ~(lanes_below(at) | 1U << at.lane); }},
    {"%dynamic_smem_size", scalar, [](At at, std::size_t) { return at.cta.launch.shape.shared_bytes; }},
    {"%total_smem_size", scalar, [](At at, std::size_t) { return at.cta.shared_bytes() + shared_base; }},
    {"%aggr_smem_size", scalar, [](At at, std::size_t) { return at.cta.shared_bytes() + shared_base; }},
    {"%cluster_ctarank", scalar, [](At at, std::size_t) { return at.cta.rank; }},
    {"%cluster_nctarank", scalar, [](At at, std::size_t) { return at.cta.cluster.size(); }},
    // Cooperative groups read the upper and the lower half of the address of the grid's workspace from these.
    {"%envreg1", scalar,
     [](At at, std::size_t) { return static_cast<std::uint32_t>(at.cta.launch.grid_workspace >> 32); }},
    {"%envreg2", scalar,
     [](At at, std::size_t) { return static_cast<std::uint32_t>(at.cta.launch.grid_workspace); }},
    {"%is_explicit_cluster", predicate,
     [](At at, std::size_t) { return at.cta.launch.explicit_cluster ? 1U : 0U; }},
};

/// The index of component x, y or z; nothing for other words.
std::optional<std::size_t> dimension_of(std::string_view component) {
  if (component.size() != 1 || component[0] < 'x' || component[0] > 'z') return std::nullopt;
  return static_cast<std::size_t>(component[0] - 'x');
}

template <std::uint32_t shift>
void read_clock(Warp& warp, const MicroOp& op, Mask mask) {
  const std::uint64_t now = warp.cta->tick();
  for_lanes(mask, [&](std::uint32_t lane) {
    if constexpr (shift == 64) {
      put(warp.registers + op.d, lane, now);
    } else {
      put(warp.registers + op.d, lane, static_cast<std::uint32_t>(now >> shift));
    }
  });
}

/// The error text for an unsupported instruction, or for unsupported `what` in it.
std::string refusal(const Program& program, const ptx::Instruction& instruction, std::string_view what) {
  return fmt::format("kernel \"{}\", PTX line {}: the simulator does not run {}\"{}\"", program.entry,
                     instruction.location.line, what.empty() ? std::string() : fmt::format("{} in ", what),
                     ptx::print(instruction));
}

}  // namespace

Program decode(std::string_view text, const std::string& entry, std::uint64_t global_base,
               std::string_view project) {
  ptx::ParseResult parsed = ptx::parse(text, entry);
  if (!parsed) throw Error(ErrorCode::invalid_argument, "the PTX does not parse:\n" + parsed.report);
  define_device_runtime(*parsed.module);
  const ptx::Function* function = parsed.module->find(entry);
  if (function == nullptr || !function->is_entry) {
    throw Error(ErrorCode::invalid_argument, fmt::format("the PTX has no kernel \"{}\"", entry));
  }
  Program program;
  program.entry = entry;
  program.global_base = global_base;
  program.uses_device_headers = check::uses_device_headers(text);
  Decoder(program, project).run(*parsed.module, resolve(*parsed.module, *function, "kernel"));
  return program;
}

void Decoder::run(const ptx::Module& module, ptx::FlatFunction function) {
  program_.register_bytes =
      64;  // the true predicate, the carry, and padding for the alignment of further slots
  sink_[0] = allocate(4 * lanes);
  sink_[1] = allocate(8 * lanes);
  collect_functions(module);
  collect_callees(module, function);
  lay_out(module, function);
  const auto choose = [&](std::span<const std::string_view> paths) {
    return own_files_.reported_frame(paths);
  };
  for (const auto& callee : callees_) choose_sources(callee->flat, choose);
  choose_sources(function, choose);
  // The code of a function comes before that of its callers. When lanes diverge, the lanes with the smallest
  // pc run first, so lanes in a function finish it, and reconverge with the other lanes after the call.
  for (const auto& callee : callees_) {
    current_ = callee.get();
    callee->first = static_cast<std::uint32_t>(program_.code.size());
    decode_function(callee->flat);
  }
  program_.first = static_cast<std::uint32_t>(program_.code.size());
  current_ = nullptr;
  decode_function(function);
  for (const auto& [op, target] : calls_) program_.code[op].aux = target->first;
  program_.register_bytes = static_cast<std::uint32_t>(align_up(program_.register_bytes, 64));
  if (!program_.products.empty()) watch_registers();
}

void Decoder::decode_function(const ptx::FlatFunction& function) {
  allocate_registers(function);
  find_unwritten(function);
  first_.clear();
  branches_.clear();
  table_base_ = program_.branch_tables.size();
  program_.branch_tables.resize(table_base_ + function.branch_tables.size());
  if (current_ != nullptr && current_->recursive) list_frame_registers(*current_);
  if (current_ != nullptr) emit_transfers(true);
  for (const ptx::FlatInstruction& flat : function.instructions) {
    first_.push_back(static_cast<std::uint32_t>(program_.code.size()));
    decode_one(flat);
  }
  // The function may end without ret, and may have labels at its end.
  first_.push_back(static_cast<std::uint32_t>(program_.code.size()));
  ptx::Instruction end;
  end.name = "ret";
  end.opcode = Opcode::ret;
  decode_one({&end, {}, {}, ptx::SourceFrame::none});
  statements_ += static_cast<std::uint32_t>(function.frames.size());
  ++segment_;
  for (const std::uint32_t branch : branches_) program_.code[branch].aux = first_[program_.code[branch].aux];
  for (std::size_t i = 0; i < function.branch_tables.size(); ++i) {
    for (const std::uint32_t target : function.branch_tables[i])
      program_.branch_tables[table_base_ + i].push_back(first_[target]);
  }
}

void Decoder::decode_one(const ptx::FlatInstruction& flat) {
  flat_ = &flat;
  binding_ = 0;
  guard_ = true_slot;
  after_.clear();
  const ptx::Instruction& instruction = *flat.instruction;
  if (ptx::separates(instruction.opcode)) ++segment_;
  program_.locations.push_back(
      {instruction.location.line, instruction.location.column, std::string(flat.source.file()),
       own_files_.shown(flat.source.path), flat.source.line, ptx::print(instruction),
       flat.frame == ptx::SourceFrame::none ? 0 : statements_ + flat.frame + 1, segment_});
  if (instruction.guard) {
    const auto* reg = std::get_if<ptx::RegisterRef>(&flat.bindings[binding_++]);
    if (reg == nullptr) unsupported("this guard");
    guard_ = registers_[reg->index].slot | (instruction.guard->negated ? 1U : 0U);
    guard_number_ = registers_[reg->index].number;
  }
  const auto first = static_cast<std::uint32_t>(program_.code.size());
  try {
    select_one();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    refuse(first, error.what());
  }
  program_.location_of.resize(program_.code.size(),
                              static_cast<std::uint32_t>(program_.locations.size() - 1));
  program_.flows.resize(program_.locations.size());
}

void Decoder::select_one() {
  const ptx::Instruction& instruction = *flat_->instruction;
  if (instruction.opcode == Opcode::unknown)
    throw Error(ErrorCode::unsupported,
                fmt::format("{}: {}", refusal(program_, instruction, {}), instruction.fault));
  args_.clear();
  const auto first = static_cast<std::uint32_t>(program_.code.size());
  for (const ptx::Operand& operand : instruction.operands) args_.push_back(convert(operand));
  if (instruction.opcode != Opcode::wgmma_mma_async) record_registers(first, args_);
  if (instruction.opcode == Opcode::mov || instruction.opcode == Opcode::setp) moves_.insert(first);
  const Selector* const selector = find_selector(instruction.opcode);
  if (selector == nullptr) unsupported();
  selector->select(*this);
  for (MicroOp& op : after_) program_.code.push_back(op);
  if (program_.code.size() > first) record_flow(first);
}

void Decoder::refuse(std::uint32_t first, std::string why) {
  program_.code.resize(first);
  std::erase_if(branches_, [&](std::uint32_t op) { return op >= first; });
  std::erase_if(calls_, [&](const auto& call) { return call.first >= first; });
  program_.refusals.push_back(std::move(why));
  emit([](Warp& warp, const MicroOp& op,
          Mask) { throw Error(ErrorCode::unsupported, warp.program->refusals[op.aux]); },
       0, 0, 0, 0, static_cast<std::uint32_t>(program_.refusals.size() - 1));
}

Arg Decoder::convert_name(const ptx::Operand& operand) {
  const ptx::Binding& binding = flat_->bindings[binding_++];
  if (const auto* reg = std::get_if<ptx::RegisterRef>(&binding)) {
    if (operand.offset != 0) unsupported("a register plus an offset");
    Arg arg = registers_[reg->index];
    arg.negated = operand.kind == ptx::Operand::Kind::negated;
    return arg;
  }
  if (const auto* special = std::get_if<ptx::SpecialRef>(&binding))
    return convert_special(special->name, operand.component);
  if (const auto* label = std::get_if<ptx::LabelRef>(&binding))
    return {.kind = Arg::Kind::label, .bits = label->index};
  if (const auto* table = std::get_if<ptx::BranchTableRef>(&binding))
    return {.kind = Arg::Kind::table, .bits = table_base_ + table->index};
  if (const auto* variable = std::get_if<const ptx::Variable*>(&binding))
    return variable_arg(**variable, operand.offset);
  if (const auto* function = std::get_if<const ptx::Function*>(&binding)) {
    if (instruction().opcode == Opcode::call) return {.kind = Arg::Kind::function, .function = *function};
    return {.kind = Arg::Kind::constant, .bits = function_address(**function)};
  }
  target_lists_.push_back(targets(binding));
  return {.kind = Arg::Kind::targets, .bits = target_lists_.size() - 1};
}

Arg Decoder::convert(const ptx::Operand& operand) {
  using Kind = ptx::Operand::Kind;
  Arg arg;
  switch (operand.kind) {
    case Kind::symbol:
    case Kind::negated: return convert_name(operand);
    case Kind::sink: break;
    case Kind::unread: unsupported();  // not reached: select_one() rejects unknown instructions
    case Kind::immediate:
      return {.kind = Arg::Kind::constant,
              .bits = operand.value.bits,
              .is_f64_literal = operand.value.kind == ptx::Immediate::Kind::f64};
    case Kind::vector:
    case Kind::tuple:
    case Kind::pair:
      arg.kind = Arg::Kind::group;
      for (const ptx::Operand& element : operand.elements) arg.elements.push_back(convert(element));
      break;
    case Kind::address:
    case Kind::tensor: {
      arg.kind = Arg::Kind::memory;
      auto offset = static_cast<std::uint64_t>(operand.offset);  // unsigned, because addresses wrap
      for (std::size_t i = 0; i < operand.elements.size(); ++i) {
        Arg element = convert(operand.elements[i]);
        if (i > 0) {
          arg.elements.push_back(std::move(element));
        } else if (element.param_variable != nullptr) {
          arg.access = element.access;
          arg.param_variable = element.param_variable;
          offset += static_cast<std::uint64_t>(element.access.offset);
        } else if (element.kind == Arg::Kind::reg) {
          arg.number = element.number;
          arg.access.address = element.slot;
          arg.access.address_width = element.wide ? 8 : 4;
        } else {
          offset += element.bits;
        }
      }
      arg.access.offset = static_cast<std::int64_t>(offset);
    }
  }
  return arg;
}

const Arg& Decoder::arg(std::size_t i) const {
  if (i >= args_.size()) unsupported("this number of operands");
  return args_[i];
}

ScalarType Decoder::type() const {
  const auto types = instruction().types();
  if (types.empty()) unsupported("an instruction without a type");
  return types.back();
}

Slot Decoder::constant(std::uint64_t bits, bool wide) {
  if (!wide) bits &= 0xffffffff;
  const auto [found, fresh] = constants_.try_emplace({bits, wide}, 0);
  if (fresh) {
    found->second = temporary(wide);
    program_.constants.push_back({bits, found->second, wide});
  }
  return found->second;
}

Slot Decoder::temporary(bool wide) {
  return allocate(wide ? 8 * lanes : 4 * lanes);
}

Slot Decoder::read(const Arg& arg, ScalarType type) {
  if (type == ScalarType::pred) {
    if (arg.kind == Arg::Kind::constant) return arg.bits != 0 ? true_slot : true_slot + 1;
    if (arg.kind != Arg::Kind::predicate) unsupported("this predicate");
    return arg.slot | (arg.negated ? 1U : 0U);
  }
  const bool wide = is_wide(type);
  if (arg.kind == Arg::Kind::constant) {
    std::uint64_t bits = arg.bits;
    if (arg.is_f64_literal && type == ScalarType::f32) {
      bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
    }
    return constant(bits, wide);
  }
  if (arg.kind != Arg::Kind::reg) unsupported("this operand");
  if (arg.wide == wide) return arg.slot;
  const Slot slot = temporary(wide);
  emit(wide ? &apply<identity, std::uint64_t, std::uint32_t> : &apply<identity, std::uint32_t, std::uint64_t>,
       slot, arg.slot);
  return slot;
}

Slot Decoder::write(const Arg& arg, ScalarType type) {
  const bool wide = is_wide(type);
  if (arg.kind == Arg::Kind::sink) return sink_[wide ? 1 : 0];
  if (type == ScalarType::pred) {
    if (arg.kind != Arg::Kind::predicate) unsupported("this predicate");
    return arg.slot;
  }
  if (arg.kind != Arg::Kind::reg) unsupported("this destination");
  if (arg.wide == wide) return arg.slot;
  const Slot slot = temporary(wide);
  const Handler extends = ptx::is_signed_integer(type) ? &apply<identity, std::uint64_t, std::int32_t>
                                                       : &apply<identity, std::uint64_t, std::uint32_t>;
  after_.push_back(
      {wide ? &apply<identity, std::uint32_t, std::uint64_t> : extends, arg.slot, slot, 0, 0, guard_, 0});
  return slot;
}

std::uint64_t Decoder::literal(const Arg& arg) const {
  if (arg.kind != Arg::Kind::constant) unsupported("a register where a literal is expected");
  return arg.bits;
}

MemoryAccess Decoder::address(const Arg& arg, Space space) const {
  if (arg.kind != Arg::Kind::memory) unsupported("this address");
  MemoryAccess access = arg.access;
  access.space = arg.param_variable != nullptr ? Space::local : space;
  access.peers = has("shared::cluster") || instruction().spaces().empty();
  return access;
}

Space Decoder::space() const {
  const auto spaces = instruction().spaces();
  if (spaces.empty()) return Space::generic;
  switch (spaces.front()) {
    case StateSpace::constant: return Space::constant;
    case StateSpace::global: return Space::global;
    case StateSpace::local: return Space::local;
    case StateSpace::param:
    case StateSpace::param_entry: return Space::param;
    case StateSpace::shared:
    case StateSpace::shared_cta:
    case StateSpace::shared_cluster: return Space::shared;
    default: unsupported("this state space");
  }
}

std::vector<Slot> Decoder::slots(const Arg& arg, ScalarType type, bool written) {
  std::vector<Slot> all;
  for (const Arg& each : elements(arg)) all.push_back(written ? write(each, type) : read(each, type));
  return all;
}

void Decoder::emit_as(Handler handler, std::span<const ScalarType> types, std::uint32_t aux) {
  if (handler == nullptr) unsupported();
  Slot slots[3] = {0, 0, 0};
  for (std::size_t i = 1; i < types.size(); ++i) slots[i - 1] = read(i, types[i]);
  emit(handler, write(0, types[0]), slots[0], slots[1], slots[2], aux);
}

void Decoder::emit_uniform(Handler handler, ScalarType type, std::uint32_t aux) {
  const std::array types{type, type, type, type};
  emit_as(handler, std::span(types).first(std::clamp<std::size_t>(args_.size(), 1, 4)), aux);
}

void Decoder::emit(Handler handler, Slot d, Slot a, Slot b, Slot c, std::uint32_t aux) {
  if (handler == nullptr) unsupported();
  program_.code.push_back({handler, d, a, b, c, guard_, aux});
}

void Decoder::emit_branch(Handler handler, std::uint64_t target) {
  branches_.push_back(static_cast<std::uint32_t>(program_.code.size()));
  emit(handler, 0, 0, 0, 0, static_cast<std::uint32_t>(target));
}

void Decoder::unsupported(std::string_view what) const {
  throw Error(ErrorCode::unsupported, refusal(program_, instruction(), what));
}

std::optional<Arg> Decoder::convert_clock(std::string_view name) {
  const bool wide = name == "%clock64" || name == "%globaltimer";
  const bool high = name == "%clock_hi" || name == "%globaltimer_hi";
  if (!wide && !high && name != "%clock" && name != "%globaltimer_lo") return std::nullopt;
  const Slot slot = temporary(wide);
  emit(wide ? &read_clock<64> : high ? &read_clock<32> : &read_clock<0>, slot);
  return Arg{.kind = Arg::Kind::reg, .slot = slot, .wide = wide};
}

Arg Decoder::convert_special(std::string_view name, const std::string& component) {
  if (name == "WARP_SZ") return {.kind = Arg::Kind::constant, .bits = lanes};
  std::string full(name);
  if (!component.empty()) full += "." + component;
  if (const std::optional<Arg> time = convert_clock(full)) return *time;
  const auto* const found = std::ranges::find(special_registers, name, &SpecialRegister::name);
  const auto dimension = dimension_of(component);
  if (found == std::end(special_registers) ||
      (found->shape == Shape::vector ? !dimension : !component.empty()))
    unsupported("the special register " + full);
  const auto [slot, fresh] = specials_.try_emplace(full, 0);
  const bool is_predicate = found->shape == Shape::predicate;
  if (fresh) {
    slot->second = allocate(4 * lanes);
    program_.specials.push_back({found->value, dimension.value_or(0), is_predicate, slot->second});
  }
  return {.kind = is_predicate ? Arg::Kind::predicate : Arg::Kind::reg, .slot = slot->second};
}

}  // namespace sim
TMAJIT_END
