/// Uninitialised registers, which no instruction has written on any path of a thread: the values computed
/// from them, and where those matter.
///
/// A register is undefined at an instruction if it is undefined on all paths to it. The paths are those of
/// the blocks' edges, whether or not conditions allow them. Threads take only some of these paths, so a
/// register that is undefined on all of them is undefined for certain. Registers that are undefined on some
/// paths only are not examined: compilers leave them where a condition prevents the read, and the simulated
/// device, which runs the kernel, sees every read.
#include "lint/checks.hpp"
#include "ptx/data_flow.hpp"

#include <optional>

#include <llvm/ADT/STLExtras.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using ptx::DataFlow;
using ptx::Opcode;
using ptx::Operand;

constexpr std::uint32_t none = ~0U;
/// Limit of registers × blocks, one bit each: 8 MB.
constexpr std::size_t max_bits = 64'000'000;
/// Limit of examined instructions, with repetitions: about a second.
constexpr std::size_t max_steps = 10'000'000;

/// A register or a literal that an operand reads.
struct Part {
  std::uint32_t reg = none;
  std::optional<std::uint64_t> literal;
};

/// The registers of an instruction by their role.
struct Parts {
  std::uint32_t guard = none;
  llvm::SmallVector<std::uint32_t, 4> results;
  llvm::SmallVector<std::uint32_t, 4> addresses;  ///< addresses, and other operands that always matter
  llvm::SmallVector<Part, 8> operands;
};

/// Finds the Parts of an instruction.
class Reader {
 public:
  explicit Reader(const ptx::FlatInstruction& flat) : flat_(flat) {}

  Parts read(DataFlow flow) {
    const ptx::Instruction& in = *flat_.instruction;
    if (in.guard) parts_.guard = register_at(0);
    const auto operands = bound_operands(flat_);
    const bool last_is_mask = (flow == DataFlow::shuffles || flow == DataFlow::meets) && operands.size() > 1;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (i == 0 && writes_first(in)) {
        add_results(operands[i]);
      } else if (last_is_mask && i + 1 == operands.size()) {
        for_each_part(operands[i], [&](Part part) { parts_.addresses.push_back(part.reg); });
      } else if (in.opcode == Opcode::call && operands[i].operand->kind == Operand::Kind::symbol) {
        // The pointer of an indirect call.
        for_each_part(operands[i], [&](Part part) { parts_.addresses.push_back(part.reg); });
      } else {
        add_operand(operands[i]);
      }
    }
    return std::move(parts_);
  }

 private:
  [[nodiscard]] std::uint32_t register_at(std::uint32_t binding) const {
    const auto* const reg = std::get_if<ptx::RegisterRef>(&flat_.bindings[binding]);
    return reg == nullptr ? none : reg->index;
  }

  template <class Visit>
  void for_each_part(const ptx::BoundOperand& bound, const Visit& visit) {
    const Operand& operand = *bound.operand;
    if (!operand.elements.empty()) {
      for (const ptx::BoundOperand& element : bound_elements(bound)) for_each_part(element, visit);
    } else if (operand.kind == Operand::Kind::symbol || operand.kind == Operand::Kind::negated) {
      visit(Part{register_at(bound.binding), {}});
    } else if (operand.kind == Operand::Kind::immediate) {
      visit(Part{none, operand.value.bits});
    } else {
      visit(Part{});
    }
  }

  void add_results(const ptx::BoundOperand& bound) {
    for_each_part(bound, [&](Part part) { parts_.results.push_back(part.reg); });
  }

  void add_operand(const ptx::BoundOperand& bound) {
    const Operand::Kind kind = bound.operand->kind;
    if (kind != Operand::Kind::address && kind != Operand::Kind::tensor)
      return for_each_part(bound, [&](Part part) { parts_.operands.push_back(part); });
    // The address of the tensor map is first; coordinates are ordinary operands.
    bool first = true;
    for (const ptx::BoundOperand& element : bound_elements(bound)) {
      for_each_part(element, [&](Part part) {
        if (first) {
          parts_.addresses.push_back(part.reg);
        } else {
          parts_.operands.push_back(part);
        }
      });
      first = false;
    }
  }

  const ptx::FlatInstruction& flat_;
  Parts parts_;
};

/// Whether the literal alone determines the result.
bool decides(DataFlow flow, const ptx::Instruction& in, std::uint64_t literal) {
  if (flow == DataFlow::conjoins) return literal == 0;
  const auto types = in.types();
  const std::uint32_t bits = types.empty() ? 1 : std::max(ptx::bits_of(types.back()), 1U);
  const std::uint64_t ones = ~std::uint64_t{0} >> (64 - std::min(bits, 64U));
  return (literal & ones) == ones;
}

class UnwrittenCheck {
 public:
  UnwrittenCheck(const Kernel& kernel, Findings& findings) : kernel_(kernel), findings_(findings) {}

  void run() {
    if (kernel_.unwritten.empty()) return;
    find_reached();
    const std::size_t blocks = kernel_.flow.blocks().size();
    if (steps_ > max_steps || blocks * origins_.size() > max_bits) return give_up();
    entering_.assign(blocks, {});
    arrive(0, initial());
    while (!open_.empty()) {
      if (steps_ > max_steps) return give_up();
      const std::uint32_t block = kernel_.flow.order()[*open_.begin()];
      open_.erase(open_.begin());
      undefined_ = entering_[block];
      pass(block);
      for (const ptx::Edge& edge : kernel_.flow.blocks()[block].edges) arrive(edge.target, undefined_);
    }
    reports_ = true;
    for (const std::uint32_t block : kernel_.flow.order()) {
      undefined_ = entering_[block];
      pass(block);
    }
  }

 private:
  /// First read of a register that no instruction has written.
  struct Origin {
    std::uint32_t reg = none;
    std::uint32_t instruction = none;  ///< the first read
  };

  void give_up() { findings_.unfinished("register.uninitialised"); }

  void add_slot(std::uint32_t reg) {
    if (slot_of_[reg] != none) return;
    slot_of_[reg] = static_cast<std::uint32_t>(origins_.size());
    origins_.push_back({reg, none});
  }

  /// Finds the registers that can be undefined, and the instructions that name them.
  void find_reached() {
    slot_of_.assign(kernel_.function.registers.size(), none);
    for (const std::uint32_t reg : kernel_.unwritten) add_slot(reg);
    for (std::size_t before = 0; before != origins_.size() && steps_ <= max_steps;) {
      before = origins_.size();
      for (const std::uint32_t block : kernel_.flow.order()) {
        for (std::uint32_t i = kernel_.flow.blocks()[block].first; i < kernel_.flow.blocks()[block].last; ++i)
          reach(i);
      }
    }
    concerned_.resize(kernel_.flow.blocks().size());
    for (const std::uint32_t block : kernel_.flow.order()) {
      for (std::uint32_t i = kernel_.flow.blocks()[block].first; i < kernel_.flow.blocks()[block].last; ++i)
        if (names_any(i)) concerned_[block].push_back(i);
    }
  }

  [[nodiscard]] bool names_any(std::uint32_t index) const {
    return llvm::any_of(kernel_.function.instructions[index].bindings, [&](const ptx::Binding& binding) {
      const auto* const reg = std::get_if<ptx::RegisterRef>(&binding);
      return reg != nullptr && slot_of_[reg->index] != none;
    });
  }

  /// Gives slots to the results of an instruction that reads a register with a slot.
  void reach(std::uint32_t index) {
    ++steps_;
    if (!names_any(index)) return;
    const ptx::FlatInstruction& flat = kernel_.function.instructions[index];
    const DataFlow flow = ptx::data_flow(flat);
    if (flow == DataFlow::defines || flow == DataFlow::acts) return;
    bool reads = false;
    ptx::for_each_read(flat, [&](std::uint32_t reg) { reads = reads || slot_of_[reg] != none; });
    if (reads) ptx::for_each_written(flat, [&](std::uint32_t reg, std::uint32_t) { add_slot(reg); });
  }

  [[nodiscard]] std::vector<bool> initial() const {
    std::vector<bool> undefined(origins_.size(), false);
    for (const std::uint32_t reg : kernel_.unwritten) undefined[slot_of_[reg]] = true;
    return undefined;
  }

  /// A register is undefined at the beginning of a block if it is undefined on all paths followed so far.
  void arrive(std::uint32_t block, const std::vector<bool>& undefined) {
    std::vector<bool>& entering = entering_[block];
    bool changed = entering.empty();
    if (changed) {
      entering = undefined;
    } else {
      for (std::size_t i = 0; i < entering.size(); ++i) {
        if (!entering[i] || undefined[i]) continue;
        entering[i] = false;
        changed = true;
      }
    }
    if (changed) open_.insert(kernel_.flow.rank(block));
  }

  void pass(std::uint32_t block) {
    for (const std::uint32_t index : concerned_[block]) step(index);
  }

  [[nodiscard]] bool is_undefined(std::uint32_t reg) const {
    return reg != none && slot_of_[reg] != none && undefined_[slot_of_[reg]];
  }

  void step(std::uint32_t index) {
    ++steps_;
    const ptx::FlatInstruction& flat = kernel_.function.instructions[index];
    const ptx::Instruction& in = *flat.instruction;
    const DataFlow flow = ptx::data_flow(flat);
    index_ = index;
    const Parts parts = Reader(flat).read(flow);
    if (reports_) report_uses(parts, flow, in);
    const bool guard_is_undefined = is_undefined(parts.guard);
    std::vector<std::uint32_t> sources(parts.results.size(), none);
    for (std::size_t i = 0; i < sources.size(); ++i) sources[i] = source(parts, flow, in, i);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const std::uint32_t reg = parts.results[i];
      if (reg == none || slot_of_[reg] == none) continue;
      if (guard_is_undefined && !ptx::has_effects(flow, in.opcode)) sources[i] = parts.guard;
      // A guarded write may leave the previous value.
      const bool may_stay_defined = in.guard && !guard_is_undefined && !is_undefined(reg);
      undefined_[slot_of_[reg]] = sources[i] != none && !may_stay_defined;
      if (undefined_[slot_of_[reg]]) origins_[slot_of_[reg]] = origin_of(sources[i]);
    }
  }

  /// A register that makes result number `result` undefined, or none.
  [[nodiscard]] std::uint32_t source(const Parts& parts, DataFlow flow, const ptx::Instruction& in,
                                     std::size_t result) const {
    const auto undefined = [&](std::size_t i) {
      return i < parts.operands.size() && is_undefined(parts.operands[i].reg);
    };
    const auto any = [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < std::min(to, parts.operands.size()); ++i)
        if (undefined(i)) return parts.operands[i].reg;
      return none;
    };
    switch (flow) {
      case DataFlow::computes:
      case DataFlow::transposes:
      case DataFlow::meets: return any(0, none);
      case DataFlow::shuffles: return result == 0 ? any(0, none) : none;
      case DataFlow::joins: {
        const bool all = llvm::all_of(
            parts.operands, [&](const Part& part) { return part.reg == none || is_undefined(part.reg); });
        return all ? any(0, none) : none;
      }
      case DataFlow::selects:
        return undefined(2)                   ? parts.operands[2].reg
               : undefined(0) && undefined(1) ? parts.operands[0].reg
                                              : none;
      case DataFlow::conjoins:
      case DataFlow::disjoins:
        if (const std::uint32_t added = any(2, none); added != none) return added;
        for (std::size_t i = 0; i < 2 && parts.operands.size() > 1; ++i) {
          const Part& other = parts.operands[1 - i];
          if (undefined(i) && (undefined(1 - i) || (other.literal && !decides(flow, in, *other.literal))))
            return parts.operands[i].reg;
        }
        return none;
      // Only the addend of a dense mma is followed: wgmma has a predicate by which it ignores its addend, and
      // sparse products have more operands.
      case DataFlow::fragments: {
        if (in.opcode != Opcode::mma || in.operands.size() != 4 ||
            parts.operands.size() < parts.results.size())
          return none;
        const std::size_t addend = parts.operands.size() - parts.results.size() + result;
        return undefined(addend) ? parts.operands[addend].reg : none;
      }
      default: return none;
    }
  }

  /// Origin of the undefined value in the register, which the present instruction reads.
  [[nodiscard]] Origin origin_of(std::uint32_t reg) const {
    Origin origin = origins_[slot_of_[reg]];
    if (origin.instruction == none) origin.instruction = index_;
    return origin;
  }

  void report_uses(const Parts& parts, DataFlow flow, const ptx::Instruction& in) {
    if (ptx::has_effects(flow, in.opcode) && !stores_to(in, ptx::StateSpace::local))
      report_if_undefined(parts.guard, "is the guard of");
    for (const std::uint32_t reg : parts.addresses) report_if_undefined(reg, "is an address in");
    if (flow == DataFlow::acts) {
      for (const Part& part : parts.operands) report_if_undefined(part.reg, "is an operand of");
    } else if (flow == DataFlow::stores && stores_to(in, ptx::StateSpace::global)) {
      for (const Part& part : parts.operands) report_if_undefined(part.reg, "is stored to global memory by");
    } else if (in.opcode == Opcode::wgmma_mma_async) {
      // The descriptors, and the predicate that enables the addend.
      for (std::size_t i = in.operands[1].kind == Operand::Kind::vector ? in.operands[1].elements.size() : 0;
           i < parts.operands.size(); ++i)
        report_if_undefined(parts.operands[i].reg, "is an operand of");
    }
  }

  static bool stores_to(const ptx::Instruction& in, ptx::StateSpace space) {
    const auto spaces = in.spaces();
    return in.opcode == Opcode::st && !spaces.empty() && spaces.front() == space;
  }

  void report_if_undefined(std::uint32_t reg, std::string_view how) {
    if (!is_undefined(reg)) return;
    const Origin origin = origin_of(reg);
    // Each register is reported once.
    if (llvm::is_contained(reported_, origin.reg)) return;
    reported_.push_back(origin.reg);
    const std::string where = origin.instruction == index_ ? "this instruction" : kernel_.line_of(index_);
    findings_.add(origin.instruction, "register.uninitialised",
                  fmt::format("a read of {}, which no instruction has written: {} {} {}",
                              kernel_.function.registers[origin.reg].name,
                              origin.instruction == index_ ? "it" : "a value computed from it", how, where));
  }

  const Kernel& kernel_;
  Findings& findings_;
  std::vector<std::uint32_t> slot_of_;  ///< slots of registers that can be undefined, else none
  std::vector<Origin> origins_;         ///< origin of each slot
  std::vector<std::vector<std::uint32_t>> concerned_;  ///< instructions that name such registers, by block
  std::vector<std::vector<bool>> entering_;            ///< by block: slots that are undefined at its start
  std::vector<bool> undefined_;   ///< slots that are undefined before the present instruction
  std::set<std::uint32_t> open_;  ///< ranks of blocks that are still to be processed
  std::size_t steps_ = 0;
  std::uint32_t index_ = 0;
  bool reports_ = false;
  std::vector<std::uint32_t> reported_;
};

}  // namespace

void check_unwritten(const Kernel& kernel, Findings& findings) {
  if (!kernel.unwritten_known) return findings.unfinished("register.uninitialised");
  UnwrittenCheck(kernel, findings).run();
}

}  // namespace lint
TMAJIT_END
