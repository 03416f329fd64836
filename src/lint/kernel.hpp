#pragma once

/// A function as the checks see it: its blocks, the instructions that matter to them, and what is known about
/// their operands.
#include "lint/propagation.hpp"

#include <tmajit/combine.hpp>
#include <tmajit/lint.hpp>

#include <set>

TMAJIT_BEGIN
namespace lint {

/// An instruction that some check looks at.
struct Event {
  enum class Kind : std::uint8_t {
    access,       ///< ld, atom and others that read memory
    write,        ///< st, red, stmatrix and others that write memory
    bulk_load,    ///< global to shared, completes on an mbarrier
    bulk_store,   ///< shared to global, completes in a bulk group
    remote_copy,  ///< changes the transaction count of an mbarrier, perhaps in another CTA: a copy between
                  ///< CTAs, st.async, red.async, mbarrier.complete_tx
    prefetch,
    commit,
    wait_group,
    fence,       ///< fence.proxy.async that covers shared memory
    init_fence,  ///< fence.mbarrier_init
    sync,        ///< bar, barrier, barrier.cluster: synchronises threads
    init,        ///< mbarrier.init
    invalidate,
    expect,         ///< mbarrier.expect_tx
    arrive_expect,  ///< mbarrier.arrive.expect_tx
    arrive,
    wait,        ///< test_wait, try_wait
    map_change,  ///< tensormap.replace or tensormap.cp_fenceproxy, which change a tensor map in global memory
    map_acquire,  ///< fence.proxy.tensormap::generic.acquire
    call,
  };
  Kind kind = Kind::access;
  std::uint32_t instruction = 0;
  Formula guard = always;
  bool is_tensor = false;
  bool is_shared = false;               ///< the access or write certainly concerns shared memory
  Value shared = Values::unknown(32);   ///< address of the tile, or of the access or mbarrier
  Value global = Values::unknown(64);   ///< global address of a one-dimensional copy
  Value barrier = Values::unknown(32);  ///< address of the mbarrier of a load
  Value bytes = Values::unknown(32);    ///< bytes moved or expected; for init the arrivals
  std::uint64_t groups = 0;             ///< groups that wait_group leaves pending
  std::uint32_t access_bytes = 0;       ///< bytes of an access or write
  MapMode mode{};                       ///< mode of the map that a tensor copy needs
  std::vector<Value> coordinates;       ///< innermost first
  std::vector<Value> offsets;           ///< offsets of an im2col load or prefetch, innermost first
  const MapFacts* map = nullptr;        ///< null if the map is not known
  Value map_address =
      Values::unknown(64);               ///< address of the map that is copied through, changed or acquired
  std::optional<CombineOp> reduction{};  ///< operation of a bulk_store that is a tensor reduction
};

/// Content of a register at the end of one of the blocks from which paths meet. A comparison after the
/// meeting point needs it.
struct Arrival {
  std::uint32_t from = 0;  ///< the block at whose end the register has this content
  SubjectId subject = 0;   ///< subject of later comparisons of the register
  Content content;
};

/// Remaining budget of a module's checks; an exhausted one stays at 0.
struct Allowance {
  /// Steps of path checks. One step takes one state over one event or edge. All together take about half a
  /// second.
  std::uint64_t steps = 8'000'000;
};

struct Kernel {
  Kernel(const ptx::Module& module, ptx::FlatFunction flat, const LintOptions& options, Allowance& allowance);
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  const ptx::Module& module;
  const LintOptions& options;
  Allowance& allowance;
  ptx::FlatFunction function;
  ptx::ControlFlow flow;
  Values values;
  Conditions conditions;
  std::vector<Event> events;               ///< events of reachable instructions, in the order of the text
  std::vector<std::uint32_t> first_event;  ///< first event of each block; one more at the end
  std::vector<Formula> guards;             ///< guards of branches and events, by instruction; else `always`
  std::vector<std::vector<Arrival>> arrivals;  ///< by the block at which paths meet
  std::vector<std::uint32_t> unwritten;        ///< registers that can be read before they are written
  bool unwritten_known = true;                 ///< false: there were too many to find them
  std::set<std::size_t> maps_used;             ///< indices of LintOptions::maps
  bool knows_maps = true;  ///< for every tensor copy, the parameter that is its map is known

  [[nodiscard]] const ptx::Instruction& instruction(std::uint32_t index) const {
    return *function.instructions[index].instruction;
  }
  /// "line 12", or "the end of the function" past its last instruction; for texts.
  [[nodiscard]] std::string line_of(std::uint32_t index) const;
  [[nodiscard]] bool has(Event::Kind kind) const;
  /// Whether `a_bytes` at shared address `a` may overlap `b_bytes` at `b`; 0 stands for any number of bytes.
  [[nodiscard]] bool may_overlap(const Value& a, std::uint64_t a_bytes, const Value& b,
                                 std::uint64_t b_bytes) const;

 private:
  /// Puts the events into the order of the text.
  void sort_events();
};

}  // namespace lint
TMAJIT_END
