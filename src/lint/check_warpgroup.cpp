#include "lint/checks.hpp"

#include <map>

#include <llvm/ADT/STLExtras.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using ptx::Opcode;

/// Follows the registers of products (wgmma.mma_async) through one block, in which the order of instructions
/// is certain.
class ProductCheck {
 public:
  ProductCheck(const Kernel& kernel, Findings& findings) : kernel_(kernel), findings_(findings) {}

  void run(const ptx::BasicBlock& block) {
    in_flight_.clear();
    touched_.clear();
    ++group_;
    ++fences_;
    last_ = block.last;
    for (std::uint32_t i = block.first; i < block.last; ++i) step(i);
  }

 private:
  /// A register that a product may still use.
  struct InFlight {
    std::uint64_t age = 0;      ///< groups committed since the product
    std::uint32_t product = 0;  ///< the last product that uses the register
    std::uint64_t group = 0;    ///< number of the product's group
  };

  void step(std::uint32_t index) {
    const ptx::FlatInstruction& flat = kernel_.function.instructions[index];
    const ptx::Instruction& in = *flat.instruction;
    switch (in.opcode) {
      case Opcode::wgmma_mma_async: return product(index);
      case Opcode::wgmma_fence: ++fences_; return touched_.clear();
      case Opcode::wgmma_commit_group:
        for (auto& [reg, flying] : in_flight_) ++flying.age;
        ++group_;
        return;
      case Opcode::wgmma_wait_group: {
        const std::uint64_t pending = in.operands.empty() ? 0 : in.operands[0].value.bits;
        for (auto each = in_flight_.begin(); each != in_flight_.end();)
          each = each->second.age > pending ? in_flight_.erase(each) : std::next(each);
        return;
      }
      case Opcode::call:
        // The function may fence and wait.
        in_flight_.clear();
        return touched_.clear();
      default: break;
    }
    if (in.guard) return;
    for (const ptx::Binding& binding : flat.bindings) {
      const auto* const reg = std::get_if<ptx::RegisterRef>(&binding);
      if (reg == nullptr) continue;
      if (const auto flying = in_flight_.find(reg->index); flying != in_flight_.end())
        report(index, reg->index, flying->second);
      // mov and setp do not count: compilers move copies and constants across statements of the source, and
      // compute a product's predicate from an accumulator that they have just set to 0.
      if (in.opcode != Opcode::mov && in.opcode != Opcode::setp) touched_.emplace(reg->index, index);
    }
  }

  void report(std::uint32_t index, std::uint32_t reg, const InFlight& flying) {
    std::string found =
        fmt::format("no wgmma.wait_group covers the product at {} before this access to its register {}",
                    kernel_.line_of(flying.product), kernel_.function.registers[reg].name);
    if (flying.age == 0) found += "; no wgmma.commit_group has closed its group";
    FindingCause cause{.number = flying.group};
    const auto wait = flying.age == 0 ? std::nullopt : next_wait(index);
    if (wait) {
      found += fmt::format("; the next wait comes after it, at {}", kernel_.line_of(*wait));
      cause.remedy = check::moved_before_wait;
    }
    findings_.add(index, "wgmma.register-in-flight", std::move(found), {}, cause);
  }

  /// The next wait after an instruction in its block, before any other product.
  [[nodiscard]] std::optional<std::uint32_t> next_wait(std::uint32_t index) const {
    for (++index; index < last_; ++index) {
      const Opcode opcode = kernel_.instruction(index).opcode;
      if (opcode == Opcode::wgmma_wait_group) return index;
      if (opcode == Opcode::wgmma_mma_async) return std::nullopt;
    }
    return std::nullopt;
  }

  void product(std::uint32_t index) {
    const ptx::FlatInstruction& flat = kernel_.function.instructions[index];
    const auto operands = bound_operands(flat);
    for (std::size_t i = 0; i < std::min<std::size_t>(operands.size(), 2); ++i) {
      if (operands[i].operand->kind != ptx::Operand::Kind::vector) continue;
      for (const ptx::BoundOperand& element : bound_elements(operands[i])) {
        if (element.operand->kind != ptx::Operand::Kind::symbol) continue;
        const auto* const reg = std::get_if<ptx::RegisterRef>(&flat.bindings[element.binding]);
        if (reg == nullptr) continue;
        if (const auto by = touched_.find(reg->index); by != touched_.end()) {
          findings_.add(
              index, "wgmma.missing-fence",
              fmt::format("a wgmma.mma_async uses {}, which {} accesses, with no wgmma.fence between",
                          kernel_.function.registers[reg->index].name, kernel_.line_of(by->second)),
              {}, {.number = fences_});
        }
        if (!flat.instruction->guard) in_flight_[reg->index] = {0, index, group_};
      }
    }
  }

  const Kernel& kernel_;
  Findings& findings_;
  std::map<std::uint32_t, InFlight> in_flight_;  ///< registers in flight
  std::map<std::uint32_t, std::uint32_t>
      touched_;               ///< last instruction that named a register since the last fence
  std::uint64_t group_ = 0;   ///< number of the present group of products
  std::uint64_t fences_ = 0;  ///< number of the present stretch between fences
  std::uint32_t last_ = 0;    ///< end of the block
};

/// The value of operand `i` if it is a literal.
std::optional<std::uint64_t> literal(const ptx::Instruction& in, std::size_t i) {
  if (i >= in.operands.size() || in.operands[i].kind != ptx::Operand::Kind::immediate) return std::nullopt;
  return in.operands[i].value.bits;
}

void check_setmaxnreg(std::uint32_t index, const ptx::Instruction& in, Findings& findings) {
  const auto count = literal(in, 0);
  if (!count || (*count >= 24 && *count <= 256 && *count % 8 == 0)) return;
  findings.add(index, "setmaxnreg.value", fmt::format("setmaxnreg to {} registers", *count),
               "a multiple of 8 from 24 to 256");
}

/// A field may have the values from 0 to count − 1 (PTX ISA 9.7.9.28, "Tensormap new_val validity").
struct FieldValues {
  const char* field;
  std::uint64_t count;
};
constexpr FieldValues field_values[] = {
    {"rank", 5}, {"elemtype", 13}, {"interleave_layout", 3}, {"swizzle_mode", 4}, {"fill_mode", 2}};

void check_replace(std::uint32_t index, const ptx::Instruction& in, Findings& findings) {
  const bool has_ordinal = in.operands.size() == 3;
  const std::uint64_t ordinals = in.has("global_stride") ? 4 : 5;
  if (const auto ord = literal(in, 1); has_ordinal && ord && *ord >= ordinals) {
    findings.add(index, "tensormap.field", fmt::format("tensormap.replace at the ordinal {}", *ord),
                 fmt::format("0 to {}", ordinals - 1));
  }
  const auto* const field =
      llvm::find_if(field_values, [&](const FieldValues& each) { return in.has(each.field); });
  const auto value = literal(in, has_ordinal ? 2 : 1);
  if (field == std::end(field_values) || !value || *value < field->count) return;
  findings.add(index, "tensormap.field",
               fmt::format("tensormap.replace gives .{} the value {}", field->field, *value),
               fmt::format("0 to {}", field->count - 1));
}

}  // namespace

void check_warpgroup(const Kernel& kernel, Findings& findings) {
  bool calls = false;
  bool fences = false;
  std::optional<std::uint32_t> first;
  for (const std::uint32_t number : kernel.flow.order()) {
    const ptx::BasicBlock& block = kernel.flow.blocks()[number];
    for (std::uint32_t i = block.first; i < block.last; ++i) {
      const ptx::Instruction& in = kernel.instruction(i);
      calls = calls || in.opcode == Opcode::call;
      fences = fences || in.opcode == Opcode::wgmma_fence;
      if (in.opcode == Opcode::wgmma_mma_async) first = std::min(first.value_or(i), i);
      if (in.opcode == Opcode::setmaxnreg) check_setmaxnreg(i, in, findings);
      if (in.opcode == Opcode::tensormap_replace) check_replace(i, in, findings);
    }
  }
  if (!first) return;
  if (!fences && !calls && kernel.function.function->is_entry)
    findings.add(*first, "wgmma.missing-fence", "a wgmma.mma_async in a kernel without any wgmma.fence");
  ProductCheck check(kernel, findings);
  for (const std::uint32_t number : kernel.flow.order()) check.run(kernel.flow.blocks()[number]);
}

}  // namespace lint
TMAJIT_END
