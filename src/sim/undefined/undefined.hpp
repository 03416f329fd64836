#pragma once

/// Values that nobody has defined, followed through the registers of a warp: of a register that no
/// instruction has written, or loaded from shared memory that nobody has written. What comes of one is
/// reported where it matters: where it decides whether something is done, is an address or another operand of
/// an instruction that acts, or goes to global memory. What is thrown away is not.
///
/// A register is undefined as a whole, lane by lane; one of which a part is defined counts as defined. While
/// a warp has none that is undefined, nothing of this costs anything: Cta::run has a loop for either case.
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

/// What made a value undefined.
struct Origin {
  RegisterNumber number = 0;  ///< the register that nobody has written; 0: a load
  bool read = false;          ///< at `place`; else it has not been read yet
  std::uint32_t place = 0;    ///< of the load, or of the first read of the register
  Cta* cta = nullptr;         ///< a load: by whom …
  std::uint32_t thread = 0;
  std::uint64_t address = 0;  ///< … and where from
};

/// Of a cluster: the origins of all undefined values, and of those that its shared memory holds.
class Origins {
 public:
  void clear();
  /// The number of an origin; one by another thread at the same place is the same.
  OriginNumber number(const Origin& origin);
  [[nodiscard]] const Origin& operator[](OriginNumber number) const { return all_[number]; }
  /// Of bytes of shared memory (Cta::in_cluster) whose shadow is `undefined`.
  void put(std::uint64_t at, std::uint32_t bytes, OriginNumber origin);
  [[nodiscard]] OriginNumber at(std::uint64_t at) const;

 private:
  std::vector<Origin> all_;
  std::map<std::pair<RegisterNumber, std::uint32_t>, OriginNumber> numbers_;
  std::unordered_map<std::uint64_t, OriginNumber> stored_;  ///< by words
};

class Undefined {
 public:
  explicit Undefined(const Program& program);

  /// Whether any register, or byte of local memory, is undefined in some lane.
  [[nodiscard]] bool any() const noexcept { return count_ != 0 || !local_.empty(); }
  /// Of all lanes those that are undefined.
  [[nodiscard]] Mask lanes_of(RegisterNumber number) const noexcept { return lanes_[number]; }
  /// Of the lanes of `mask` those of `undefined` become so, the others are defined.
  void give(RegisterNumber number, Mask mask, Mask undefined, OriginNumber origin);
  /// All that these lanes have is taken for defined.
  void forget(Mask mask);

  /// Before the micro-operation at warp.pc, which lanes of `mask` execute.
  void before(Warp& warp, Mask mask);
  /// After the one at `pc`, by the lanes of `mask` that it has not sent elsewhere.
  void after(Warp& warp, std::uint32_t pc, Mask mask);
  /// Shuffles of lanes that have met: lane i gets what lane from[i] has.
  void shuffle(Warp& warp, std::span<const Party> parties, const std::array<std::uint8_t, lanes>& from);
  /// A recursive function returns: its caller has its registers again.
  void leave(Warp& warp, const Frame& frame, Mask mask);
  /// Arguments and results of calls are copied.
  void copy(Warp& warp, const LocalCopy& copied, Mask mask);
  /// An operand of a stmatrix is stored by lane `lane`: `bytes` of it at `offset` of the owner's shared
  /// memory.
  void store_piece(Warp& warp, std::uint32_t lane, std::uint32_t operand, Cta& owner, std::uint32_t offset,
                   std::uint32_t bytes);

  /// Lanes in which something is undefined, and what made it so.
  struct Found {
    Mask lanes = 0;
    OriginNumber origin = 0;
  };
  // Of the present instruction, whose handler follows it.
  [[nodiscard]] Found operand(Warp& warp, std::uint32_t operand, Mask mask);
  void give_result(Warp& warp, std::uint32_t result, Mask mask, Found found);
  /// It goes to global memory.
  void operand_matters(Warp& warp, std::uint32_t operand, Mask mask);

 private:
  friend void follow_call(Warp& warp, const Frame& frame, Mask mask);
  [[nodiscard]] static const RegisterNumber* registers(const Warp& warp, const Flow& flow);
  [[nodiscard]] Found any_of(Warp& warp, const RegisterNumber* first, std::size_t count, Mask mask);
  [[nodiscard]] Found all_of(Warp& warp, const RegisterNumber* first, std::size_t count, Mask mask);
  [[nodiscard]] Found of(Warp& warp, RegisterNumber number, Mask mask);
  [[nodiscard]] Found chosen(Warp& warp, const Flow& flow, Mask mask);
  [[nodiscard]] Found absorbed(Warp& warp, const Flow& flow, Mask mask);
  void give_all(Warp& warp, const Flow& flow, Mask mask, Found found);
  void multiply(Warp& warp, const Flow& flow, Mask mask);
  void transpose(Warp& warp, const Flow& flow, Mask mask);
  void store(Warp& warp, const Flow& flow, Mask mask);
  /// What `load` takes from local memory.
  void load(Warp& warp, const Flow& flow, Mask mask);
  /// It matters that lanes of `mask` of the register are undefined: `how` says why.
  void matters(Warp& warp, RegisterNumber number, Mask mask, std::string_view how);

  std::uint32_t place_ = 0;            ///< of the instruction that is looked at
  std::vector<Mask> lanes_;            ///< by register
  std::vector<OriginNumber> origins_;  ///< by register, where it has undefined lanes
  std::size_t count_ = 0;              ///< registers with undefined lanes
  std::unordered_map<std::uint64_t, OriginNumber>
      local_;  ///< undefined bytes of local memory, by local_key()
};

/// A recursive function is called: it has registers of its own, of which none may be written.
void follow_call(Warp& warp, const Frame& frame, Mask mask);

/// A CTA begins: the warp's registers that may be read before they are written are undefined.
void begin_undefined(Warp& warp);

/// Lane `lane` executes a load of `count` results of `bytes` bytes each from shared memory, of which somebody
/// may not have written some.
void follow_load(Warp& warp, std::uint32_t lane, const Target& at, std::uint32_t bytes, std::uint32_t count);
/// Result `result` of the load is undefined in lane `lane` if none of the bytes, `count` pieces of `bytes`
/// bytes at `pieces` of the memory of `owner`, has been written.
void follow_pieces(Warp& warp, std::uint32_t lane, std::uint32_t result, Cta& owner,
                   const std::uint32_t* pieces, std::size_t count, std::uint32_t bytes);

/// A bulk store takes bytes to global memory that are `undefined` at `offset` of its owner's shared memory.
void bulk_store_matters(const Warp& warp, std::uint32_t lane, const Cta& owner, std::uint32_t offset);

}  // namespace sim
TMAJIT_END
