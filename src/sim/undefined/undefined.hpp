#pragma once

/// Tracks uninitialised values through the registers of a warp, as MemorySanitizer does. A value is
/// uninitialised (here: undefined) if it comes from a register that no instruction has written, or from
/// shared memory that no thread or copy has written. It is reported only where it matters: where it guards an
/// instruction with side effects, is an address or operand of one, or is stored to global memory.
///
/// Tracking is by whole registers in each lane: a register counts as defined if any part of it is defined.
/// Tracking costs nothing in a warp without undefined values: Cta::run has a separate loop for warps that
/// have some.
#include "sim/program/flow.hpp"
#include "sim/warp/warp.hpp"

#include <array>
#include <map>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

TMAJIT_BEGIN
namespace sim {

struct Target;
struct Party;

/// The source of an undefined value: an unwritten register, or a load of unwritten shared memory.
struct Origin {
  RegisterNumber number = 0;   ///< the unwritten register; 0: a load
  bool read = false;           ///< `location` is set; false until an unwritten register is first read
  std::uint32_t location = 0;  ///< location (index into Program::locations) of the load, or of the first read
  Cta* cta = nullptr;          ///< loads: CTA of the thread that loads
  std::uint32_t thread = 0;    ///< loads: the thread
  std::uint64_t address = 0;   ///< loads: shared address
};

/// The origins of all undefined values of a cluster, and the origin of each undefined byte of its shared
/// memory.
class Origins {
 public:
  void clear();
  /// Returns the number of an origin. Origins with the same register and location share a number.
  OriginNumber number(const Origin& origin);
  [[nodiscard]] const Origin& operator[](OriginNumber number) const { return all_[number]; }
  /// Records the origin of bytes of shared memory whose Shadow is `undefined`; `at` is their
  /// Cta::in_cluster() offset.
  void put(std::uint64_t at, std::uint32_t bytes, OriginNumber origin);
  [[nodiscard]] OriginNumber at(std::uint64_t at) const;

 private:
  std::vector<Origin> all_;
  std::map<std::pair<RegisterNumber, std::uint32_t>, OriginNumber> numbers_;
  std::unordered_map<std::uint64_t, OriginNumber> stored_;  ///< by word of shared memory
};

/// The undefined registers and local memory of a warp.
class Undefined {
 public:
  explicit Undefined(const Program& program);

  /// Whether any register or byte of local memory is undefined in some lane.
  [[nodiscard]] bool any() const noexcept { return count_ != 0 || !local_.empty(); }
  /// Mask of the lanes in which the register is undefined.
  [[nodiscard]] Mask lanes_of(RegisterNumber number) const noexcept { return lanes_[number]; }
  /// Marks the register undefined in the lanes of `mask` and `undefined`, and defined in the other lanes of
  /// `mask`.
  void mark(RegisterNumber number, Mask mask, Mask undefined, OriginNumber origin);
  /// Marks every register and all local memory of these lanes as defined.
  void forget(Mask mask);

  /// Called before the lanes of `mask` execute the micro-operation at warp.pc.
  void before(Warp& warp, Mask mask);
  /// Called after the micro-operation at `pc`; `mask` contains the lanes that are still active after it.
  void after(Warp& warp, std::uint32_t pc, Mask mask);
  /// Called for a shfl that the lanes of `parties` execute together: the result of lane i gets the state of
  /// the operand in lane from[i].
  void shuffle(Warp& warp, std::span<const Party> parties, const std::array<std::uint8_t, lanes>& from);
  /// Called when a recursive function returns: restores the state of its caller's registers.
  void leave(Warp& warp, const Frame& frame, Mask mask);
  /// Called when a call copies an argument or a result in local memory: copies the state of the bytes.
  void copy(Warp& warp, const LocalCopy& copied, Mask mask);
  /// Called when lane `lane` stores `bytes` bytes of operand `operand` at `offset` of the owner's shared
  /// memory (stmatrix, wmma.store).
  void store_piece(Warp& warp, std::uint32_t lane, std::uint32_t operand, Cta& owner, std::uint32_t offset,
                   std::uint32_t bytes);

  /// The lanes in which a value is undefined, and its origin.
  struct State {
    Mask lanes = 0;
    OriginNumber origin = 0;
  };
  // Handlers that track the values of their instruction themselves use the next three functions. They read
  // the state of an operand, set the state of a result, and report an operand.

  [[nodiscard]] State operand(Warp& warp, std::uint32_t operand, Mask mask);
  void mark_result(Warp& warp, std::uint32_t result, Mask mask, State found);
  /// Called when the operand is stored to global memory: reports it if it is undefined.
  void report_if_operand_undefined(Warp& warp, std::uint32_t operand, Mask mask);

 private:
  friend void track_call(Warp& warp, const Frame& frame, Mask mask);
  [[nodiscard]] static const RegisterNumber* registers(const Warp& warp, const Flow& flow);
  /// The lanes in which any, or all, of `count` registers are undefined.
  [[nodiscard]] State any_of(Warp& warp, const RegisterNumber* first, std::size_t count, Mask mask);
  [[nodiscard]] State all_of(Warp& warp, const RegisterNumber* first, std::size_t count, Mask mask);
  /// The lanes of `mask` in which a register is undefined.
  [[nodiscard]] State state_of(Warp& warp, RegisterNumber number, Mask mask);
  /// The state of the result of selp.
  [[nodiscard]] State selected(Warp& warp, const Flow& flow, Mask mask);
  /// The state of the result of a conjunction, product or disjunction: an operand that alone determines the
  /// result absorbs an undefined one.
  [[nodiscard]] State absorbed(Warp& warp, const Flow& flow, Mask mask);
  void mark_results(Warp& warp, const Flow& flow, Mask mask, State found);
  // These functions track instructions of one kind: matrix products, movmatrix, stores, loads.

  void multiply(Warp& warp, const Flow& flow, Mask mask);
  void transpose(Warp& warp, const Flow& flow, Mask mask);
  void store(Warp& warp, const Flow& flow, Mask mask);
  /// Called for ld: a result is undefined if every byte of it comes from undefined local memory.
  void load(Warp& warp, const Flow& flow, Mask mask);
  /// Reports the lanes of `mask` in which the register is undefined; `how` says why the value matters.
  void report_if_undefined(Warp& warp, RegisterNumber number, Mask mask, std::string_view how);

  std::uint32_t location_ = 0;         ///< location of the present instruction
  std::vector<Mask> lanes_;            ///< by register
  std::vector<OriginNumber> origins_;  ///< by register, where it has undefined lanes
  std::size_t count_ = 0;              ///< registers with undefined lanes
  std::unordered_map<std::uint64_t, OriginNumber>
      local_;  ///< undefined bytes of local memory, by local_key()
};

/// Called when a recursive function is called: saves the state of its registers, which begin unwritten.
void track_call(Warp& warp, const Frame& frame, Mask mask);

/// Called when a CTA begins: the warp's registers that may be read before they are written become undefined.
void begin_undefined(Warp& warp);

/// Called when lane `lane` loads `count` results of `bytes` bytes each from shared memory, parts of which may
/// be undefined.
void track_load(Warp& warp, std::uint32_t lane, const Target& at, std::uint32_t bytes, std::uint32_t count);
/// Called when lane `lane` loads a result from `count` pieces of `bytes` bytes each, at the offsets `pieces`
/// in the shared memory of `owner`. Marks result `result` undefined if all its bytes are undefined.
void track_pieces(Warp& warp, std::uint32_t lane, std::uint32_t result, Cta& owner,
                  const std::uint32_t* pieces, std::size_t count, std::uint32_t bytes);

/// Reports a bulk store to global memory of undefined bytes at `offset` of the owner's shared memory.
void report_stored_undefined(const Warp& warp, std::uint32_t lane, const Cta& owner, std::uint32_t offset);

}  // namespace sim
TMAJIT_END
