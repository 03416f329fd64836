#include "lint/checks.hpp"
#include "lint/threads.hpp"

#include <llvm/ADT/STLExtras.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using Kind = Event::Kind;

/// Limit of instructions × blocks.
constexpr std::size_t max_work = 20'000'000;

/// Whether the instruction has the same operands in both threads.
bool is_same_for(const Kernel& kernel, const Event& event,
                 const std::pair<std::uint64_t, std::uint64_t>& threads) {
  const auto same = [&](const Value& value) { return is_equal_in_both(kernel.values, value, threads); };
  // Shared addresses have 32 bits.
  const auto same_address = [&](const Value& value) { return same(kernel.values.convert(value, 32, false)); };
  if (event.kind == Kind::init) return same_address(event.barrier);
  if (!same_address(event.shared) || (event.kind == Kind::bulk_load && !same_address(event.barrier)))
    return false;
  if (!event.is_tensor) return same(event.global);
  return same(event.map_address) && llvm::all_of(event.coordinates, same) &&
         llvm::all_of(event.offsets, same);
}

}  // namespace

void check_repeats(const Kernel& kernel, Findings& findings) {
  std::size_t work = 0;
  for (const Event& event : kernel.events) {
    const ptx::Opcode opcode = kernel.instruction(event.instruction).opcode;
    const bool reduces =
        opcode == ptx::Opcode::cp_reduce_async_bulk || opcode == ptx::Opcode::cp_reduce_async_bulk_tensor;
    const bool is_copy = event.kind == Kind::bulk_load || event.kind == Kind::bulk_store;
    if (event.kind != Kind::init && (!is_copy || reduces)) continue;
    work += kernel.flow.blocks().size();
    const check::RuleId rule = event.kind == Kind::init        ? check::RuleId("mbarrier.initialised-twice")
                               : event.kind == Kind::bulk_load ? check::RuleId("load.overlap")
                                                               : check::RuleId("race.global-write-write");
    if (work > max_work) return findings.unfinished(rule);
    const auto cases = threads_at(kernel, event.instruction);
    const auto repeats = [&](const Threads& each) {
      const auto lanes = two_lanes(kernel, each);
      return lanes && is_same_for(kernel, event, *lanes);
    };
    if (!cases || llvm::none_of(*cases, repeats)) continue;
    findings.add(event.instruction, rule,
                 event.kind == Kind::init
                     ? "several lanes of a warp execute this mbarrier.init of one mbarrier"
                 : event.kind == Kind::bulk_load
                     ? "several lanes of a warp ask for this load into the same shared memory"
                     : "several lanes of a warp ask for this bulk store to the same global memory",
                 "one thread: thread 0, or the one that elect.sync chooses in one warp");
  }
}

}  // namespace lint
TMAJIT_END
