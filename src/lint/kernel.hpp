#pragma once

/// A function as the checks see it: its blocks, the instructions that matter to them, and what is known of
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
    remote_copy,  ///< to the shared memory of another CTA, and whatever else counts bytes there
    prefetch,
    commit,
    wait_group,
    fence,       ///< fence.proxy.async that covers shared memory
    init_fence,  ///< fence.mbarrier_init
    sync,        ///< bar, barrier, barrier.cluster: other threads go on after it
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
  bool is_shared = false;                   ///< access and write: surely shared memory
  Value shared = Values::unknown(32);       ///< address of the tile, or of the access or mbarrier
  Value global = Values::unknown(64);       ///< global address of a one-dimensional copy
  Value barrier = Values::unknown(32);      ///< address of the mbarrier of a load
  Value bytes = Values::unknown(32);        ///< bytes moved or expected; arrivals of init
  std::uint64_t groups = 0;                 ///< groups that wait_group leaves pending
  std::uint32_t access_bytes = 0;           ///< bytes of an access or write
  MapMode mode{};                           ///< mode of the map that a tensor copy takes
  llvm::SmallVector<Value, 5> coordinates;  ///< innermost first
  llvm::SmallVector<Value, 3> offsets;      ///< offsets of an im2col load or prefetch, innermost first
  const MapFacts* map = nullptr;            ///< null if the map is not known
  Value map_address = Values::unknown(64);  ///< map of a tensor copy, of a map's change or of its fence
  std::optional<CombineOp> reduction{};     ///< operation of a bulk_store of a tensor that reduces
};

/// Content of a register that comes from one block, where paths meet. A comparison asks for it later.
struct Arrival {
  std::uint32_t from = 0;  ///< a block
  SubjectId subject = 0;   ///< question that is asked of the register from there on
  Content content;         ///< content at the end of `from`
};

/// Remaining budget of a module's checks; an exhausted one stays at 0.
struct Allowance {
  /// Events and edges, each in one state: half a second or so.
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
  std::vector<Event> events;                   ///< events of reachable instructions, in the order of the text
  std::vector<std::uint32_t> first_event;      ///< first event of each block; one more at the end
  std::vector<Formula> guards;                 ///< guards of branches and events; always true for others
  std::vector<std::vector<Arrival>> arrivals;  ///< at each block
  std::vector<std::uint32_t> unwritten;        ///< registers that can be read before they are written
  bool unwritten_known = true;                 ///< else there were too many to find them
  std::set<std::size_t> maps_used;             ///< indices of LintOptions::maps
  bool knows_maps = true;  ///< no tensor copy takes a map of which it is not known which parameter it is

  [[nodiscard]] const ptx::Instruction& instruction(std::uint32_t index) const {
    return *function.instructions[index].instruction;
  }
  /// "line 12", or "the end of the function" past its last instruction; for texts.
  [[nodiscard]] std::string line_of(std::uint32_t index) const;
  [[nodiscard]] bool has(Event::Kind kind) const;
  /// Whether the two shared addresses may be the same byte, for `a_bytes` and `b_bytes` from there; 0 stands
  /// for any number.
  [[nodiscard]] bool may_overlap(const Value& a, std::uint64_t a_bytes, const Value& b,
                                 std::uint64_t b_bytes) const;
};

}  // namespace lint
TMAJIT_END
