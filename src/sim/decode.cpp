#include "sim/decode.hpp"

#include "ptx/printer.hpp"
#include "sim/variable_size.hpp"
#include "sim/warp.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <cstring>
#include <span>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

using ptx::ScalarType;
using ptx::StateSpace;

std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

bool is_wide(ScalarType type) {
  return ptx::bits_of(type) == 64;
}

struct Keep {
  template <typename T>
  T operator()(T value) const {
    return value;
  }
};

/// Initial bytes of a variable, from `at` on: literals only, and no more than there is room for.
void initialise(std::span<std::byte>& at, const ptx::Initializer& value, std::uint32_t element,
                const ptx::Variable& variable) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::unsupported,
                fmt::format("PTX line {}: the simulator does not take the initial value of {}: {}",
                            variable.location.line, variable.name, what));
  };
  if (value.kind == ptx::Initializer::Kind::list) {
    for (const ptx::Initializer& inner : value.elements) initialise(at, inner, element, variable);
    return;
  }
  if (value.kind != ptx::Initializer::Kind::value) refuse(fmt::format("the address of {}", value.name));
  if (element == 0 || element > 8) refuse("a type that is not 8 to 64 bits wide");
  if (at.size() < element) refuse("more values than the variable has elements");
  std::memcpy(at.data(), &value.value.bits, element);
  at = at.subspan(element);
}

}  // namespace

Program decode(std::string_view text, const std::string& entry, std::uint64_t global_base) {
  const ptx::ParseResult parsed = ptx::parse(text, entry);
  if (!parsed) throw Error(ErrorCode::invalid_argument, "the PTX does not parse:\n" + parsed.report);
  const ptx::Function* function = parsed.module->find(entry);
  if (function == nullptr || !function->is_entry) {
    throw Error(ErrorCode::invalid_argument, fmt::format("the PTX has no kernel \"{}\"", entry));
  }
  ptx::ResolveResult resolved = ptx::resolve(*parsed.module, *function);
  if (!resolved) {
    const ptx::Diagnostic& first = resolved.diagnostics.front();
    throw Error(ErrorCode::invalid_argument,
                fmt::format("kernel \"{}\", PTX line {}: {}", entry, first.location.line, first.message));
  }
  Program program;
  program.entry = entry;
  program.global_base = global_base;
  Decoder(program).run(*parsed.module, std::move(*resolved.function));
  return program;
}

void Decoder::run(const ptx::Module& module, ptx::FlatFunction function) {
  program_.register_bytes = 64;  // the slots of the true predicate and the carry, and what aligns others
  sink_[0] = allocate(4 * lanes);
  sink_[1] = allocate(8 * lanes);
  collect_callees(module, function);
  lay_out(module, function);
  // Functions come before those that call them: where lanes part, those in the function run first, and all
  // meet again where they return.
  for (const auto& callee : callees_) decode_callee(*callee);
  program_.first = static_cast<std::uint32_t>(program_.code.size());
  current_ = nullptr;
  decode_function(function);
  for (const auto& [op, target] : calls_) program_.code[op].aux = target->first;
  program_.register_bytes = static_cast<std::uint32_t>(align_up(program_.register_bytes, 64));
}

void Decoder::decode_function(const ptx::FlatFunction& function) {
  allocate_registers(function);
  first_.clear();
  branches_.clear();
  table_base_ = program_.branch_tables.size();
  program_.branch_tables.resize(table_base_ + function.branch_tables.size());
  if (current_ != nullptr && current_->recursive) describe_frame(*current_);
  if (current_ != nullptr) emit_transfers(*current_, true);
  for (const ptx::FlatInstruction& flat : function.instructions) {
    first_.push_back(static_cast<std::uint32_t>(program_.code.size()));
    decode_one(flat);
  }
  // It may end without ret, and labels may stand at its end.
  first_.push_back(static_cast<std::uint32_t>(program_.code.size()));
  ptx::Instruction end;
  end.words = {"ret"};
  end.opcode = ptx::Opcode::ret;
  decode_one({&end, {}, nullptr});
  for (const std::uint32_t branch : branches_) program_.code[branch].aux = first_[program_.code[branch].aux];
  for (std::size_t i = 0; i < function.branch_tables.size(); ++i) {
    for (const std::uint32_t target : function.branch_tables[i])
      program_.branch_tables[table_base_ + i].push_back(first_[target]);
  }
}

void Decoder::check_room(std::string_view what, std::uint64_t bytes, std::uint64_t most) const {
  if (bytes <= most) return;
  throw Error(ErrorCode::unsupported, fmt::format("kernel \"{}\": {} of {} bytes, at most {} are legal",
                                                  program_.entry, what, bytes, most));
}

void Decoder::place_variable(const ptx::Variable& variable) {
  const std::uint64_t bytes = bytes_of(variable);
  const std::uint64_t alignment = std::max<std::uint64_t>(alignment_of(variable), 1);
  const auto place = [&](std::uint32_t& end, std::string_view what, std::uint64_t most) {
    const std::uint64_t at = align_up(end, alignment);
    check_room(what, at + bytes, most);
    end = static_cast<std::uint32_t>(at + bytes);
    return at;
  };
  switch (variable.space) {
    case StateSpace::shared:
    case StateSpace::shared_cta:
      // Dynamic shared memory follows what is declared with a size; run() places it last.
      addresses_[&variable] =
          shared_base + place(program_.static_shared_bytes, "static shared memory", max_shared_bytes);
      break;
    case StateSpace::param: passed_.insert(&variable); [[fallthrough]];
    case StateSpace::local:
      if (current_ != nullptr && current_->recursive) {
        framed_.insert(&variable);
        addresses_[&variable] =
            place(program_.frames[current_->frame].bytes, "the frame of a function", stack_bytes);
      } else {
        addresses_[&variable] = place(program_.local_bytes, "local memory", max_local_bytes);
      }
      break;
    case StateSpace::constant:
    case StateSpace::global: {
      auto& bank = variable.space == StateSpace::global ? program_.global_image : program_.constant_bank;
      const std::uint64_t at = align_up(bank.size(), alignment);
      const bool global = variable.space == StateSpace::global;
      check_room(global ? "global variables" : "constant memory", at + bytes,
                 global ? max_global_bytes : max_constant_bytes);
      bank.resize(at + bytes);
      addresses_[&variable] = at;
      std::span<std::byte> target(bank.data() + at, bytes);
      if (variable.initializer)
        initialise(target, *variable.initializer, ptx::bits_of(variable.type) / 8, variable);
      break;
    }
    default: addresses_[&variable] = 0;
  }
}

void Decoder::lay_out(const ptx::Module& module, const ptx::FlatFunction& function) {
  std::vector<const ptx::Variable*> variables;
  for (const ptx::Directive& directive : module.directives) {
    if (const auto* variable = std::get_if<ptx::Variable>(&directive)) variables.push_back(variable);
  }
  variables.insert(variables.end(), function.variables.begin(), function.variables.end());
  // Local variables and parameters of functions have been placed; what they share with all lies here too.
  for (const auto& callee : callees_) {
    lay_out_callee(*callee);
    for (const ptx::Variable* variable : callee->flat.variables) {
      if (addresses_.count(variable) == 0) variables.push_back(variable);
    }
  }
  current_ = nullptr;
  std::vector<const ptx::Variable*> dynamic;
  std::uint64_t alignment = 16;
  for (const ptx::Variable* variable : variables) {
    const bool shared = variable->space == StateSpace::shared || variable->space == StateSpace::shared_cta;
    if (shared && bytes_of(*variable) == 0) {
      dynamic.push_back(variable);
      alignment = std::max(alignment, alignment_of(*variable));
    } else {
      place_variable(*variable);
    }
  }
  program_.static_shared_bytes =
      static_cast<std::uint32_t>(align_up(program_.static_shared_bytes, alignment));
  for (const ptx::Variable* variable : dynamic)
    addresses_[variable] = shared_base + program_.static_shared_bytes;
  if (!program_.frames.empty()) {
    program_.stack_begin = static_cast<std::uint32_t>(align_up(program_.local_bytes, 16));
    program_.local_bytes = program_.stack_begin + stack_bytes;
  }
  for (const ptx::Variable& parameter : function.function->parameters) {
    const std::uint64_t at =
        align_up(program_.parameter_bytes, std::max<std::uint64_t>(alignment_of(parameter), 1));
    const auto bytes = static_cast<std::uint32_t>(bytes_of(parameter));
    addresses_[&parameter] = at;
    program_.parameters.push_back({static_cast<std::uint32_t>(at), bytes});
    program_.parameter_bytes = static_cast<std::uint32_t>(at) + bytes;
    check_room("parameters", program_.parameter_bytes, max_parameter_bytes);
  }
  for (const ptx::Tuning& tuning : function.function->tuning) {
    if (tuning.name == "maxntid" || tuning.name == "reqntid") {
      std::uint64_t threads = 1;
      for (const std::uint64_t n : tuning.values) threads *= n;
      program_.max_threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(threads, 1024));
    }
    if (tuning.name == "reqnctapercluster") {
      auto& cluster = program_.cluster.emplace(std::array<std::uint32_t, 3>{1, 1, 1});
      for (std::size_t i = 0; i < std::min<std::size_t>(tuning.values.size(), 3); ++i)
        cluster[i] = static_cast<std::uint32_t>(std::min<std::uint64_t>(tuning.values[i], ~0U));
    }
    if (tuning.name == "explicitcluster") program_.explicit_cluster = true;
  }
}

Slot Decoder::allocate(std::uint32_t bytes) {
  const Slot slot = program_.register_bytes;
  program_.register_bytes += bytes;
  return slot;
}

void Decoder::allocate_registers(const ptx::FlatFunction& function) {
  // Lanes first, so that they stay aligned; predicates take 4 bytes in all.
  registers_.clear();
  for (const ptx::Register& reg : function.registers) {
    Arg arg;
    arg.kind = Arg::Kind::reg;
    arg.wide = is_wide(reg.type);
    if (reg.vector_width != 1) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("the simulator has no vector registers ({})", reg.name));
    }
    if (ptx::bits_of(reg.type) == 128) {
      // Its halves, the low one first.
      arg.wide = true;
      Arg pair;
      pair.kind = Arg::Kind::group;
      for (int half = 0; half < 2; ++half) {
        arg.slot = allocate(8 * lanes);
        pair.elements.push_back(arg);
      }
      registers_.push_back(std::move(pair));
      continue;
    }
    if (reg.type == ScalarType::pred) {
      arg.kind = Arg::Kind::predicate;
    } else {
      arg.slot = allocate(arg.wide ? 8 * lanes : 4 * lanes);
    }
    registers_.push_back(arg);
  }
  std::uint32_t predicates = 0;
  for (Arg& arg : registers_) {
    if (arg.kind == Arg::Kind::predicate) arg.slot = program_.register_bytes + 4 * predicates++;
  }
  program_.register_bytes += static_cast<std::uint32_t>(align_up(4 * std::uint64_t{predicates} + 4, 64));
}

void Decoder::decode_one(const ptx::FlatInstruction& flat) {
  flat_ = &flat;
  binding_ = 0;
  guard_ = true_slot;
  after_.clear();
  const ptx::Instruction& instruction = *flat.instruction;
  program_.place.push_back({instruction.location.line, instruction.location.column,
                            flat.source != nullptr ? flat.source->line : 0, ptx::print(instruction)});
  if (instruction.guard) {
    const auto* reg = std::get_if<ptx::RegisterRef>(&flat.bindings[binding_++]);
    if (reg == nullptr) unsupported("this guard");
    guard_ = registers_[reg->index].slot | (instruction.guard->negated ? 1U : 0U);
  }
  args_.clear();
  for (const ptx::Operand& operand : instruction.operands) args_.push_back(convert(operand));
  using Selector = bool (*)(Decoder&);
  constexpr Selector selectors[] = {
      select_call,     select_carry,   select_integer, select_half_more,    select_control,    select_memory,
      select_logic,    select_convert, select_half,    select_float,        select_arithmetic, select_warp,
      select_mbarrier, select_bulk,    select_cluster, select_small_copies, select_matrix,     select_mma};
  if (std::ranges::none_of(selectors, [&](Selector select) { return select(*this); })) unsupported();
  for (MicroOp& op : after_) program_.code.push_back(op);
  program_.places.resize(program_.code.size(), static_cast<std::uint32_t>(program_.place.size() - 1));
}

Arg Decoder::convert_name(const ptx::Operand& operand) {
  const ptx::Binding& binding = flat_->bindings[binding_++];
  Arg arg;
  if (const auto* reg = std::get_if<ptx::RegisterRef>(&binding)) {
    if (operand.offset != 0) unsupported("a register plus an offset");
    arg = registers_[reg->index];
    arg.negated = operand.kind == ptx::Operand::Kind::negated;
  } else if (const auto* special = std::get_if<ptx::SpecialRef>(&binding)) {
    arg = convert_special(special->name, operand.component);
  } else if (const auto* label = std::get_if<ptx::LabelRef>(&binding)) {
    arg.kind = Arg::Kind::label;
    arg.bits = label->index;
  } else if (const auto* table = std::get_if<ptx::BranchTableRef>(&binding)) {
    arg.kind = Arg::Kind::table;
    arg.bits = table_base_ + table->index;
  } else if (const auto* variable = std::get_if<const ptx::Variable*>(&binding)) {
    return variable_arg(**variable, operand.offset);
  } else if (const auto* function = std::get_if<const ptx::Function*>(&binding)) {
    if (in().opcode != ptx::Opcode::call) unsupported("the address of a function");
    arg.kind = Arg::Kind::function;
    arg.function = *function;
  } else {
    unsupported("an indirect call");
  }
  return arg;
}

Arg Decoder::convert_special(const std::string& name, const std::string& component) {
  using Kind = SpecialSlot::Kind;
  static const std::map<std::string_view, Kind> kinds{{"%tid.x", Kind::tid_x},
                                                      {"%tid.y", Kind::tid_y},
                                                      {"%tid.z", Kind::tid_z},
                                                      {"%ntid.x", Kind::ntid_x},
                                                      {"%ntid.y", Kind::ntid_y},
                                                      {"%ntid.z", Kind::ntid_z},
                                                      {"%ctaid.x", Kind::ctaid_x},
                                                      {"%ctaid.y", Kind::ctaid_y},
                                                      {"%ctaid.z", Kind::ctaid_z},
                                                      {"%nctaid.x", Kind::nctaid_x},
                                                      {"%nctaid.y", Kind::nctaid_y},
                                                      {"%nctaid.z", Kind::nctaid_z},
                                                      {"%laneid", Kind::laneid},
                                                      {"%warpid", Kind::warpid},
                                                      {"%nwarpid", Kind::nwarpid},
                                                      {"%smid", Kind::smid},
                                                      {"%nsmid", Kind::nsmid},
                                                      {"%gridid", Kind::gridid},
                                                      {"%lanemask_eq", Kind::lanemask_eq},
                                                      {"%lanemask_le", Kind::lanemask_le},
                                                      {"%lanemask_lt", Kind::lanemask_lt},
                                                      {"%lanemask_ge", Kind::lanemask_ge},
                                                      {"%lanemask_gt", Kind::lanemask_gt},
                                                      {"%dynamic_smem_size", Kind::dynamic_smem_size},
                                                      {"%total_smem_size", Kind::total_smem_size},
                                                      {"%aggr_smem_size", Kind::total_smem_size},
                                                      {"%cluster_ctarank", Kind::cluster_ctarank},
                                                      {"%cluster_nctarank", Kind::cluster_nctarank},
                                                      {"%is_explicit_cluster", Kind::is_explicit_cluster},
                                                      {"%cluster_ctaid.x", Kind::cluster_ctaid_x},
                                                      {"%cluster_ctaid.y", Kind::cluster_ctaid_y},
                                                      {"%cluster_ctaid.z", Kind::cluster_ctaid_z},
                                                      {"%cluster_nctaid.x", Kind::cluster_nctaid_x},
                                                      {"%cluster_nctaid.y", Kind::cluster_nctaid_y},
                                                      {"%cluster_nctaid.z", Kind::cluster_nctaid_z},
                                                      {"%clusterid.x", Kind::clusterid_x},
                                                      {"%clusterid.y", Kind::clusterid_y},
                                                      {"%clusterid.z", Kind::clusterid_z},
                                                      {"%nclusterid.x", Kind::nclusterid_x},
                                                      {"%nclusterid.y", Kind::nclusterid_y},
                                                      {"%nclusterid.z", Kind::nclusterid_z}};
  const std::string full = component.empty() ? name : name + "." + component;
  Arg arg;
  if (name == "WARP_SZ") {
    arg.kind = Arg::Kind::constant;
    arg.bits = lanes;
    return arg;
  }
  if (const std::optional<Arg> time = convert_clock(full)) return *time;
  const auto kind = kinds.find(full);
  if (kind == kinds.end()) unsupported("the special register " + full);
  const auto [slot, fresh] = specials_.try_emplace(full, 0);
  const bool is_predicate = kind->second == Kind::is_explicit_cluster;
  if (fresh) {
    slot->second = allocate(4 * lanes);
    program_.specials.push_back({kind->second, slot->second, false});
  }
  arg.kind = is_predicate ? Arg::Kind::predicate : Arg::Kind::reg;
  arg.slot = slot->second;
  return arg;
}

Arg Decoder::convert(const ptx::Operand& operand) {
  using Kind = ptx::Operand::Kind;
  Arg arg;
  switch (operand.kind) {
    case Kind::symbol:
    case Kind::negated: return convert_name(operand);
    case Kind::sink: return arg;
    case Kind::immediate:
      arg.kind = Arg::Kind::constant;
      arg.bits = operand.value.bits;
      arg.is_f64_literal = operand.value.kind == ptx::Immediate::Kind::f64;
      return arg;
    case Kind::vector:
    case Kind::tuple:
    case Kind::pair:
      arg.kind = Arg::Kind::group;
      for (const ptx::Operand& element : operand.elements) arg.elements.push_back(convert(element));
      return arg;
    case Kind::address:
    case Kind::tensor: {
      arg.kind = Arg::Kind::memory;
      arg.access.offset = operand.offset;
      for (std::size_t i = 0; i < operand.elements.size(); ++i) {
        Arg element = convert(operand.elements[i]);
        if (i > 0) {
          arg.elements.push_back(std::move(element));
        } else if (element.passed != nullptr) {
          const auto offset = static_cast<std::uint64_t>(arg.access.offset);
          arg.access = element.access;
          arg.access.offset =
              static_cast<std::int64_t>(static_cast<std::uint64_t>(arg.access.offset) + offset);
          arg.passed = element.passed;
        } else if (element.kind == Arg::Kind::reg) {
          arg.access.address = element.slot;
          arg.access.address_width = element.wide ? 8 : 4;
        } else {
          // Addresses wrap.
          arg.access.offset =
              static_cast<std::int64_t>(static_cast<std::uint64_t>(arg.access.offset) + element.bits);
        }
      }
      return arg;
    }
  }
  return arg;
}

const Arg& Decoder::arg(std::size_t i) const {
  if (i >= args_.size()) unsupported("this number of operands");
  return args_[i];
}

ScalarType Decoder::type() const {
  const std::vector<ScalarType> types = in().types();
  if (types.empty()) unsupported("an instruction without a type");
  return types.back();
}

Slot Decoder::constant(std::uint64_t bits, bool wide) {
  if (!wide) bits &= 0xffffffff;
  const auto [found, fresh] = constants_.try_emplace({bits, wide}, 0);
  if (fresh) {
    found->second = allocate(wide ? 8 * lanes : 4 * lanes);
    program_.constants.push_back({bits, found->second, wide});
  }
  return found->second;
}

Slot Decoder::temporary(bool wide) {
  return allocate(wide ? 8 * lanes : 4 * lanes);
}

Slot Decoder::read(const Arg& arg, ScalarType type) {
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
  if (wide) {
    emit(&apply<Keep, std::uint64_t, std::uint32_t>, slot, arg.slot);
  } else {
    emit(&apply<Keep, std::uint32_t, std::uint64_t>, slot, arg.slot);
  }
  return slot;
}

Slot Decoder::write(const Arg& arg, ScalarType type) {
  const bool wide = is_wide(type);
  if (arg.kind == Arg::Kind::sink) return sink_[wide ? 1 : 0];
  if (arg.kind != Arg::Kind::reg) unsupported("this destination");
  if (arg.wide == wide) return arg.slot;
  const Slot slot = temporary(wide);
  MicroOp op;
  op.guard = guard_;
  op.d = arg.slot;
  op.a = slot;
  if (wide) {
    op.handler = &apply<Keep, std::uint32_t, std::uint64_t>;
  } else if (ptx::is_signed_integer(type)) {
    op.handler = &apply<Keep, std::uint64_t, std::int32_t>;
  } else {
    op.handler = &apply<Keep, std::uint64_t, std::uint32_t>;
  }
  after_.push_back(op);
  return slot;
}

Slot Decoder::read_predicate(const Arg& arg) {
  if (arg.kind == Arg::Kind::constant) return arg.bits != 0 ? true_slot : true_slot + 1;
  if (arg.kind != Arg::Kind::predicate) unsupported("this predicate");
  return arg.slot | (arg.negated ? 1U : 0U);
}

Slot Decoder::write_predicate(const Arg& arg) {
  if (arg.kind == Arg::Kind::sink) return sink_[0];
  if (arg.kind != Arg::Kind::predicate) unsupported("this predicate");
  return arg.slot;
}

std::uint64_t Decoder::literal(const Arg& arg) const {
  if (arg.kind != Arg::Kind::constant) unsupported("a register where a literal is expected");
  return arg.bits;
}

MemoryAccess Decoder::address(const Arg& arg, Space space) const {
  if (arg.kind != Arg::Kind::memory) unsupported("this address");
  MemoryAccess access = arg.access;
  access.space = arg.passed != nullptr ? Space::local : space;
  access.peers = has("shared::cluster") || in().spaces().empty();
  return access;
}

Space Decoder::space() const {
  const auto spaces = in().spaces();
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

void Decoder::emit(Handler handler, Slot d, Slot a, Slot b, Slot c, std::uint32_t aux) {
  program_.code.push_back({handler, d, a, b, c, guard_, aux});
}

void Decoder::emit_branch(Handler handler, std::uint64_t target, Slot a) {
  branches_.push_back(static_cast<std::uint32_t>(program_.code.size()));
  emit(handler, 0, a, 0, 0, static_cast<std::uint32_t>(target));
}

void Decoder::unsupported(std::string_view what) const {
  const ptx::Instruction& instruction = in();
  throw Error(
      ErrorCode::unsupported,
      fmt::format("kernel \"{}\", PTX line {}: the simulator does not run {}\"{}\"", program_.entry,
                  instruction.location.line, what.empty() ? std::string() : fmt::format("{} in ", what),
                  ptx::print(instruction)));
}

}  // namespace sim
TMAJIT_END
