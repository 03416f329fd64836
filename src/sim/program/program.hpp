#pragma once

/// A decoded kernel, which all CTAs share read-only while it runs.
#include "sim/arithmetic/video.hpp"
#include "sim/program/flow.hpp"

#include <tmajit/tensor_map_spec.hpp>
#include <tmajit/version.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

TMAJIT_BEGIN
namespace sim {

class Cta;
struct Warp;
struct MicroOp;

inline constexpr std::uint32_t lanes = 32;
/// One bit per lane.
using Mask = std::uint32_t;
inline constexpr Mask all_lanes = ~Mask{0};
/// The first lane of a mask that is not empty.
[[nodiscard]] constexpr std::uint32_t first_lane(Mask mask) noexcept {
  return static_cast<std::uint32_t>(std::countr_zero(mask));
}
[[nodiscard]] constexpr std::uint32_t count_of(Mask mask) noexcept {
  return static_cast<std::uint32_t>(std::popcount(mask));
}

/// A register's offset in bytes in a warp's register file. Values of up to 32 bits take 4 bytes a lane,
/// 64-bit values 8, and a predicate one mask. Literals and special registers have slots, too.
using Slot = std::uint32_t;
/// The predicate that is always true; the guard of an instruction without one.
inline constexpr Slot true_slot = 0;
/// The carry of extended-precision arithmetic, a bit a lane.
inline constexpr Slot carry_slot = 8;

/// Runs one micro-operation for the lanes of `mask`, which are active and passed the guard.
using Handler = void (*)(Warp& warp, const MicroOp& op, Mask mask);

/// A step of an instruction: most instructions are one micro-operation.
struct MicroOp {
  Handler handler = nullptr;
  Slot d = 0;
  Slot a = 0;
  Slot b = 0;
  Slot c = 0;
  std::uint32_t guard = true_slot;  ///< slot of a predicate, plus 1 if it must be false
  std::uint32_t aux = 0;  ///< depends on the handler: a branch target, or an index into a table of Program
};

enum class Space : std::uint8_t { generic, global, shared, local, param, constant };

/// The role of a memory instruction in the memory model.
struct Ordering {
  bool strong = false;  ///< relaxed or stronger, volatile, or atomic
  bool acquires = false;
  bool releases = false;
  bool cta_scope = false;  ///< .cta; else the scope is wider
};

/// The address operand of a memory instruction (a register plus an offset, or the offset alone), and the
/// registers that it loads or stores.
struct MemoryAccess {
  Space space = Space::generic;
  std::uint8_t address_width = 0;  ///< bytes a lane; 0 if there is no register
  Slot address = 0;
  bool peers = false;  ///< the address may be in the shared memory of another CTA of the cluster
  std::int64_t offset = 0;
  std::vector<Slot> values{};  ///< slots of the elements moved
  Ordering ordering{};
};

enum class Atomic : std::uint8_t;
/// A bulk reduction (reduction.hpp). `apply` combines `bytes` bytes of elements at `to` with those at `from`,
/// each element atomically. It is null for a plain copy, and while the type of a tensor is unknown.
struct Reduction {
  Atomic operation{};
  void (*apply)(std::byte* to, const std::byte* from, std::uint32_t bytes, Atomic operation) = nullptr;
};

/// Operands of an asynchronous copy.
struct BulkOperands {
  MemoryAccess destination;
  MemoryAccess source;  ///< the tensor map's address for loads and prefetches
  MemoryAccess barrier;
  Slot bytes = 0;
  MapMode mode{};                  ///< the mode that the tensor map must have
  std::vector<Slot> coordinates;   ///< innermost first
  std::vector<Slot> offsets;       ///< im2col loads and prefetches: offsets in the image, innermost first
  bool reduces = false;            ///< the instruction is a cp.reduce
  Reduction reduction{};           ///< of a cp.reduce; for a tensor only the operation is set
  std::optional<Slot> cta_mask{};  ///< .multicast::cluster: one bit per CTA
};

struct PendingProduct;
/// Operands of a wgmma.mma_async: D += A · B. Each of the four warps of a warpgroup computes 16 of 64 rows.
struct WarpgroupProduct {
  std::uint32_t n = 0;
  std::uint32_t per_chunk = 0;  ///< elements of A or B in 16 bytes
  std::vector<Slot> d;
  std::vector<Slot> a;  ///< registers of A; empty: a descriptor in `a_matrix`
  Slot a_matrix = 0;
  Slot b_matrix = 0;
  Slot keeps_d = 0;  ///< a predicate: D += A · B if it is true, else D = A · B
  bool negates_a = false;
  bool negates_b = false;
  bool a_by_columns = false;  ///< A is stored transposed
  bool b_by_rows = false;     ///< B is stored transposed
  bool saturates = false;
  std::uint32_t kind = 0;  ///< encodes result type and shape: products of one kind need no fence between them
  std::vector<std::uint32_t> registers;  ///< numbers of D's, then A's registers among Program::watched
  std::size_t results = 0;               ///< how many of `registers` are D's
  void (*multiply)(Warp& warp, const WarpgroupProduct& product, const PendingProduct& pending) = nullptr;
};

/// The lane that asks for the value of a special register.
struct LaneId {
  const Cta& cta;
  const Warp& warp;
  std::uint32_t lane;
};

/// A special register that the warp fills in when it starts.
struct SpecialSlot {
  std::uint32_t (*value)(const LaneId& at, std::size_t dimension) = nullptr;
  std::size_t dimension = 0;  ///< component of a vector register: x, y, z
  bool is_predicate = false;
  Slot slot = 0;
};

/// A literal, which the warp's register file holds like a register.
struct ConstantSlot {
  std::uint64_t bits = 0;
  Slot slot = 0;
  bool wide = false;  ///< 8 bytes a lane, else 4
};

/// A recursive function: the registers that a call of it saves, and its frame in local memory.
struct Frame {
  std::vector<Slot> narrow;      ///< registers of 4 bytes a lane
  std::vector<Slot> wide;        ///< registers of 8 bytes a lane
  std::vector<Slot> predicates;  ///< registers of one bit a lane
  /// The function's registers, and the subset that it can read before it writes them.
  std::vector<RegisterNumber> numbers;
  std::vector<RegisterNumber> unwritten;
  Slot base = 0;  ///< slot of the frame's address in local memory, 8 bytes a lane
  std::uint32_t bytes = 0;
};

/// A copy between variables in a lane's local memory: arguments and results of calls.
struct LocalCopy {
  MemoryAccess to;
  MemoryAccess from;
  std::uint32_t bytes = 0;
};

/// An instruction's line in the PTX and in the source. Elsewhere a "location" is an index into
/// Program::locations.
struct CodeLocation {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string source_file;
  std::string source_path;
  std::uint64_t source_line = 0;
  std::string text;
  std::uint32_t statement = 0;  ///< number of the source statement and its chain of inlined calls; 0: unknown
  std::uint32_t segment = 0;    ///< number of the run of instructions between two waits or barriers
};

struct Parameter {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

/// A variable that a module declares outside its functions.
struct ModuleVariable {
  std::string name;
  bool constant = false;  ///< in constant memory, else in global memory
  std::uint64_t at = 0;   ///< offset in Program::constant_bank or Program::global_image
  std::uint64_t bytes = 0;
};

struct Program {
  std::string entry;                       ///< the kernel's name
  std::vector<MicroOp> code;               ///< functions first, then the kernel, which ends with an exit
  std::uint32_t first = 0;                 ///< index of the kernel's first micro-operation
  std::vector<std::uint32_t> location_of;  ///< by micro-operation: index into `locations`
  std::vector<CodeLocation> locations;     ///< by instruction
  std::vector<MemoryAccess> accesses;
  std::vector<BulkOperands> bulks;
  std::vector<WarpgroupProduct> products;
  std::vector<Video> videos;
  // Watched registers are those that wgmma products use. The other instructions that use them are checked.
  std::uint32_t watched = 0;  ///< the number of watched registers
  std::vector<std::uint32_t>
      watch_begin;                     ///< by micro-operation: first index in `watches`; one more at the end
  std::vector<std::uint32_t> watches;  ///< 2 · the number of a watched register, plus 1 for a mov or setp
  std::vector<Flow> flows;             ///< by location
  std::vector<RegisterNumber> flow_registers;
  RegisterNumber register_count = carry_number;
  std::vector<UnwrittenRegister> unwritten;  ///< registers that may be read before they are written
  std::vector<std::vector<std::uint32_t>> branch_tables;
  std::vector<Frame> frames;
  std::vector<LocalCopy> copies;
  std::vector<std::vector<std::uint64_t>> call_targets;  ///< by indirect call: addresses of possible callees
  std::vector<std::string> refusals;  ///< error texts of instructions that the simulator does not run
  std::vector<SpecialSlot> specials;
  std::vector<ConstantSlot> constants;
  std::uint32_t register_bytes = 0;  ///< size of a warp's register file

  std::vector<Parameter> parameters;
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared_bytes = 0;  ///< dynamic shared memory begins after these bytes
  std::uint32_t local_bytes = 0;          ///< bytes a lane
  std::uint32_t stack_begin = 0;          ///< where frames of recursive functions begin in local memory
  std::vector<std::byte> constant_bank;
  std::vector<std::byte> global_image;  ///< initial values of the module's own .global variables
  std::uint64_t global_base = 0;        ///< address of global_image in a launch
  /// The module's variables come first in both banks, so that all kernels agree on their offsets.
  std::vector<ModuleVariable> variables;
  bool uses_globals = false;
  bool uses_heap = false;            ///< calls malloc or free
  bool orders_memory = false;        ///< has fences, releases or acquires
  bool uses_device_headers = false;  ///< includes tmajit's device headers
  bool bounds_threads = false;       ///< .maxntid or .reqntid gives max_threads
  bool explicit_cluster = false;     ///< .explicitcluster: the launch must give the cluster's dimensions
  std::uint32_t max_threads = 1024;
  std::uint32_t max_registers = 0;                      ///< .maxnreg; 0: none
  std::uint32_t min_ctas = 0;                           ///< .minnctapersm; 0: none
  std::uint32_t max_increase = 0;                       ///< the largest value of a setmaxnreg.inc
  std::optional<std::array<std::uint32_t, 3>> cluster;  ///< .reqnctapercluster
};

// Generic addresses. Global memory begins at `global_begin`. Each of the other spaces has a window of
// `window_bytes` bytes: its generic address is the window's begin plus the address in the space.
inline constexpr std::uint64_t global_begin = 0x10'0000'0000;
inline constexpr std::uint64_t window_bytes = 1ULL << 32;
inline constexpr std::uint64_t shared_window = 0x7e00'0000'0000;
inline constexpr std::uint64_t local_window = 0x7d00'0000'0000;
inline constexpr std::uint64_t param_window = 0x7c00'0000'0000;
inline constexpr std::uint64_t constant_window = 0x7b00'0000'0000;
inline constexpr std::pair<Space, std::uint64_t> windows[] = {{Space::shared, shared_window},
                                                              {Space::local, local_window},
                                                              {Space::param, param_window},
                                                              {Space::constant, constant_window}};
/// Returns the space that a generic address is in, and turns the address into one of that space.
[[nodiscard]] constexpr Space take_space(std::uint64_t& address) noexcept {
  for (const auto& [space, window] : windows) {
    if (address - window >= window_bytes) continue;
    address -= window;
    return space;
  }
  return Space::global;
}
/// Returns the offset that turns an address of the space into a generic one.
[[nodiscard]] constexpr std::uint64_t window_of(Space space) noexcept {
  for (const auto& [each, window] : windows) {
    if (each == space) return window;
  }
  return 0;
}
/// First shared address of a CTA's own memory. Hopper, too, reserves the first KiB for the system.
inline constexpr std::uint32_t shared_base = 1024;
inline constexpr std::uint32_t max_shared_bytes = 227 * 1024;
/// Limits of the other memories of a kernel, in bytes (CUDA C++ Programming Guide, "Technical
/// Specifications"; PTX ISA, "Kernel Function Parameters").
inline constexpr std::uint32_t max_local_bytes = 512 * 1024;
inline constexpr std::uint32_t max_constant_bytes = 64 * 1024;
inline constexpr std::uint32_t max_parameter_bytes = 32'764;
inline constexpr std::uint64_t max_global_bytes = 1ULL << 32;
/// The largest cluster, in CTAs, of devices of compute capability 9.0. More than 8 are not portable to other
/// devices (CUDA Driver API, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED).
inline constexpr std::uint32_t max_cluster = 16;

}  // namespace sim
TMAJIT_END
