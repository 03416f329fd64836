/// Finds waits for mbarriers after which the kernel does not look at the result of the wait.
///
/// mbarrier.test_wait and mbarrier.try_wait return false if the phase is not complete: the first at once, the
/// second after a time limit. A thread that goes on without reading the result has not waited.
#include "lint/checks.hpp"
#include "ptx/data_flow.hpp"
#include "ptx/operands.hpp"

#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using Kind = Event::Kind;

/// Limit of pairs of a checked and an ignored wait, and of instructions that are followed from all waits.
constexpr std::size_t max_followed = 10'000'000;

/// Follows values through registers, in whatever order the instructions are executed.
class Readers {
 public:
  explicit Readers(const Kernel& kernel) : kernel_(kernel), readers_(kernel.function.registers.size()) {
    for (std::uint32_t i = 0; i < kernel.function.instructions.size(); ++i) {
      ptx::for_each_read(kernel.function.instructions[i], [&](std::uint32_t reg) {
        if (readers_[reg].empty() || readers_[reg].back() != i) readers_[reg].push_back(i);
      });
    }
  }

  /// Whether the result of `instruction` reaches a branch, a guard, an address, or an operand of a store or
  /// of another instruction with an effect.
  [[nodiscard]] bool matters(std::uint32_t instruction) {
    std::set<std::uint32_t> known;
    std::vector<std::uint32_t> open;
    const auto add_results = [&](std::uint32_t index) {
      ptx::for_each_written(kernel_.function.instructions[index], [&](std::uint32_t reg, std::uint32_t) {
        if (known.insert(reg).second) open.push_back(reg);
      });
    };
    add_results(instruction);
    while (!open.empty()) {
      const std::uint32_t reg = open.back();
      open.pop_back();
      for (const std::uint32_t index : readers_[reg]) {
        if (++steps_ > max_followed) return true;
        const ptx::FlatInstruction& flat = kernel_.function.instructions[index];
        const ptx::DataFlow flow = ptx::data_flow(flat);
        // A load (`defines`) reads memory at an address that depends on the result.
        if (flow == ptx::DataFlow::defines || ptx::has_effects(flow, flat.instruction->opcode)) return true;
        add_results(index);
      }
    }
    return false;
  }
  /// Whether matters() has given up.
  [[nodiscard]] bool exhausted() const noexcept { return steps_ > max_followed; }

 private:
  const Kernel& kernel_;
  std::vector<std::vector<std::uint32_t>> readers_;  ///< instructions that read each register
  std::size_t steps_ = 0;
};

}  // namespace

void check_waits(const Kernel& kernel, Findings& findings) {
  // A called function may wait.
  if (!kernel.has(Kind::wait) || kernel.has(Kind::call)) return;
  Readers readers(kernel);
  std::vector<const Event*> checked;
  std::vector<const Event*> ignored;
  for (const Event& event : kernel.events) {
    if (event.kind == Kind::wait) (readers.matters(event.instruction) ? checked : ignored).push_back(&event);
  }
  if (readers.exhausted() || checked.size() * ignored.size() > max_followed)
    return findings.unfinished("mbarrier.unchecked-wait");
  for (const Event* wait : ignored) {
    // Another wait for the mbarrier, by this or another thread, may cover the same phase.
    const bool covered = llvm::any_of(
        checked, [&](const Event* other) { return kernel.may_overlap(wait->barrier, 8, other->barrier, 8); });
    if (covered) continue;
    const bool polls = kernel.instruction(wait->instruction).opcode == ptx::Opcode::mbarrier_test_wait;
    findings.add(wait->instruction, "mbarrier.unchecked-wait",
                 fmt::format("the kernel ignores the result of this {}, which may be false {}",
                             polls ? "mbarrier.test_wait" : "mbarrier.try_wait",
                             polls ? "at once" : "after a time limit"),
                 {}, {.instruction = wait->instruction});
  }
}

}  // namespace lint
TMAJIT_END
