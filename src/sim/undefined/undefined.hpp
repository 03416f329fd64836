#pragma once

/// Tracks uninitialised values through the registers of a warp. A value is uninitialised (here: undefined) if
/// it comes from a register that no instruction has written, or from shared memory that no thread or copy has
/// written. A value computed from an undefined one is reported only where it matters: where it decides
/// whether something is done, is an address or another operand of an instruction with side effects, or is
/// stored to global memory. An undefined value that the kernel discards is not reported.
///
/// Each lane of a register is undefined as a whole; a lane of which a part is defined counts as defined. A
/// warp without undefined values pays nothing for the tracking: Cta::run has a loop for each of the two
/// cases.
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

/// The cause of an undefined value: a register that no instruction has written, or a load.
struct Origin {
  RegisterNumber number = 0;  ///< the register that no instruction has written; 0: a load
  bool read = false;          ///< whether `place` is set: a register has none until it is read
  std::uint32_t place = 0;    ///< the load's, or the register's first read
  Cta* cta = nullptr;         ///< loads: CTA of the thread that loads
  std::uint32_t thread = 0;
  std::uint64_t address = 0;  ///< loads: shared address
};

/// The origins of all undefined values of a cluster, and the origin of each undefined byte of its shared
/// memory.
class Origins {
 public:
  void clear();
  /// Returns the number of an origin. Origins of several threads at one place share a number.
  OriginNumber number(const Origin& origin);
  [[nodiscard]] const Origin& operator[](OriginNumber number) const { return all_[number]; }
  /// Records the origin of bytes of shared memory, whose shadow is `undefined`. `at` is an offset that
  /// Cta::in_cluster() returns.
  void put(std::uint64_t at, std::uint32_t bytes, OriginNumber origin);
  [[nodiscard]] OriginNumber at(std::uint64_t at) const;

 private:
  std::vector<Origin> all_;
  std::map<std::pair<RegisterNumber, std::uint32_t>, OriginNumber> numbers_;
  std::unordered_map<std::uint64_t, OriginNumber> stored_;  ///< by word of shared memory
};

class Undefined {
 public:
  explicit Undefined(const Program& program);

  /// Whether any register, or byte of local memory, is undefined in some lane.
  [[nodiscard]] bool any() const noexcept { return count_ != 0 || !local_.empty(); }
  /// Mask of the lanes in which the register is undefined.
  [[nodiscard]] Mask lanes_of(RegisterNumber number) const noexcept { return lanes_[number]; }
  /// Marks the register undefined in the lanes of `mask` that are in `undefined`, and defined in the other
  /// lanes of `mask`.
  void mark(RegisterNumber number, Mask mask, Mask undefined, OriginNumber origin);
  /// Marks every register and all local memory of these lanes as defined.
  void forget(Mask mask);

  /// Called before the lanes of `mask` execute the micro-operation at warp.pc.
  void before(Warp& warp, Mask mask);
  /// Called after the micro-operation at `pc`; `mask` has the lanes that it has not sent to another place.
  void after(Warp& warp, std::uint32_t pc, Mask mask);
  /// A shuffle of lanes that have met: lane i takes over the state of lane from[i].
  void shuffle(Warp& warp, std::span<const Party> parties, const std::array<std::uint8_t, lanes>& from);
  /// A recursive function returns: the state of its caller's registers is restored.
  void leave(Warp& warp, const Frame& frame, Mask mask);
  /// A call copies an argument or a result in local memory.
  void copy(Warp& warp, const LocalCopy& copied, Mask mask);
  /// Lane `lane` stores `bytes` bytes of an operand of a stmatrix at `offset` of the owner's shared memory.
  void store_piece(Warp& warp, std::uint32_t lane, std::uint32_t operand, Cta& owner, std::uint32_t offset,
                   std::uint32_t bytes);

  /// The lanes in which a value is undefined, and its origin.
  struct Found {
    Mask lanes = 0;
    OriginNumber origin = 0;
  };
  // For handlers that track their own instruction: its operands and results.
  [[nodiscard]] Found operand(Warp& warp, std::uint32_t operand, Mask mask);
  void mark_result(Warp& warp, std::uint32_t result, Mask mask, Found found);
  /// The operand is stored to global memory.
  void operand_matters(Warp& warp, std::uint32_t operand, Mask mask);

 private:
  friend void track_call(Warp& warp, const Frame& frame, Mask mask);
  [[nodiscard]] static const RegisterNumber* registers(const Warp& warp, const Flow& flow);
  [[nodiscard]] Found any_of(Warp& warp, const RegisterNumber* first, std::size_t count, Mask mask);
  [[nodiscard]] Found all_of(Warp& warp, const RegisterNumber* first, std::size_t count, Mask mask);
  [[nodiscard]] Found of(Warp& warp, RegisterNumber number, Mask mask);
  [[nodiscard]] Found chosen(Warp& warp, const Flow& flow, Mask mask);
  [[nodiscard]] Found absorbed(Warp& warp, const Flow& flow, Mask mask);
  void mark_results(Warp& warp, const Flow& flow, Mask mask, Found found);
  void multiply(Warp& warp, const Flow& flow, Mask mask);
  void transpose(Warp& warp, const Flow& flow, Mask mask);
  void store(Warp& warp, const Flow& flow, Mask mask);
  /// An ld: a result is undefined if it comes from local memory of which every byte is undefined.
  void load(Warp& warp, const Flow& flow, Mask mask);
  /// Reports the lanes of `mask` in which the register is undefined; `how` says why the value matters.
  void matters(Warp& warp, RegisterNumber number, Mask mask, std::string_view how);

  std::uint32_t place_ = 0;            ///< the present instruction's
  std::vector<Mask> lanes_;            ///< by register
  std::vector<OriginNumber> origins_;  ///< by register, where it has undefined lanes
  std::size_t count_ = 0;              ///< registers with undefined lanes
  std::unordered_map<std::uint64_t, OriginNumber>
      local_;  ///< undefined bytes of local memory, by local_key()
};

/// A recursive function is called: its registers begin unwritten.
void track_call(Warp& warp, const Frame& frame, Mask mask);

/// A CTA begins: the registers of the warp that may be read before they are written become undefined.
void begin_undefined(Warp& warp);

/// Lane `lane` loads `count` results of `bytes` bytes each from shared memory that may be uninitialised in
/// part.
void track_load(Warp& warp, std::uint32_t lane, const Target& at, std::uint32_t bytes, std::uint32_t count);
/// Marks result `result` of a load undefined in lane `lane` if none of its bytes has been written: `count`
/// pieces of `bytes` bytes each, at the offsets `pieces` of the shared memory of `owner`.
void track_pieces(Warp& warp, std::uint32_t lane, std::uint32_t result, Cta& owner,
                  const std::uint32_t* pieces, std::size_t count, std::uint32_t bytes);

/// Reports a bulk store to global memory of bytes that are `undefined` at `offset` of the owner's shared
/// memory.
void bulk_store_matters(const Warp& warp, std::uint32_t lane, const Cta& owner, std::uint32_t offset);

}  // namespace sim
TMAJIT_END
