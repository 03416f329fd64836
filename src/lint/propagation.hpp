#pragma once

/// Values and conditions of a function's registers, by forward data flow to a fixpoint.
///
/// A register has a single value if one instruction writes it and dominates its reads. Other registers have a
/// slot, whose value differs from point to point. At a block's entry, this value is the part on which all
/// paths to the block agree, plus a multiple of a symbol for the rest. On a back edge, symbols that the loop
/// redefines are dropped.
#include "lint/condition.hpp"
#include "ptx/control_flow.hpp"
#include "ptx/liveness.hpp"
#include "ptx/operands.hpp"

#include <array>

TMAJIT_BEGIN
namespace lint {

/// A register's content: a value, or a formula if it is a predicate; nothing if no path has set it.
struct Content {
  std::optional<Value> value;
  std::optional<Formula> formula;
  friend bool operator==(const Content&, const Content&) = default;
};

class Propagation {
 public:
  Propagation(const ptx::FlatFunction& function, const ptx::ControlFlow& flow, Values& values,
              Conditions& conditions);

  /// Calls `each` for every reachable instruction, block by block in the order of their ranks. The registers
  /// then have their contents before that instruction.
  void visit(llvm::function_ref<void(std::uint32_t instruction)> each);

  using VisitArrival =
      llvm::function_ref<void(std::uint32_t block, std::uint32_t from, SubjectId subject, Content content)>;
  /// Considers each register that has different contents on the edges into a block and that a comparison
  /// needs. Calls `visit` for it and every such edge. `content` is the new value of the subject: the
  /// register's formula at the end of `from`, or its number minus the constant of the merged form.
  void for_each_arrival(VisitArrival visit);

  /// Registers that some path reads before it writes them; the list is complete only if `unwritten_known()`.
  [[nodiscard]] std::vector<std::uint32_t> unwritten() const;
  [[nodiscard]] bool unwritten_known() const noexcept { return live_known_; }

  [[nodiscard]] const ptx::FlatFunction& function() const noexcept { return function_; }
  [[nodiscard]] Values& values() const noexcept { return values_; }
  [[nodiscard]] Conditions& conditions() const noexcept { return conditions_; }

  // Operands and guard of the visited instruction.
  [[nodiscard]] Value read(const ptx::FlatInstruction& flat, ptx::BoundOperand operand, std::uint32_t width);
  /// [register + offset], [variable + offset] or [offset].
  [[nodiscard]] Value address(const ptx::FlatInstruction& flat, ptx::BoundOperand operand);
  [[nodiscard]] Formula predicate(const ptx::FlatInstruction& flat, ptx::BoundOperand operand);
  /// The guard; always true without one.
  [[nodiscard]] Formula guard(const ptx::FlatInstruction& flat);

  /// Index of the visited instruction.
  [[nodiscard]] std::uint32_t place() const noexcept { return place_; }
  /// An unknown flag that the visited instruction makes. `n`, below 8, distinguishes several: 0 is for its
  /// guard, 1 for operands, 2 and above for results.
  [[nodiscard]] Formula opaque(std::uint32_t n) { return conditions_.opaque(place_ * 8 + n, home_); }
  /// Rank of the visited block.
  [[nodiscard]] std::int32_t home() const noexcept { return home_; }

 private:
  static constexpr std::uint32_t single = ~0U;
  /// The key of the symbol of a join: a SymbolKey, the block or instruction, the slot or element.
  using JoinKey = std::array<std::uint64_t, 3>;

  void find_slots();
  void solve();
  bool pass();
  /// Stores the state at the end of a block, and marks its successors as stale if the state has changed.
  void leave(std::uint32_t block);
  /// Computes the slots at the entry of a block from its predecessors.
  void enter(std::uint32_t block);
  /// The contents that a predecessor of a block leaves. of() must be called for slots in ascending order.
  struct Incoming {
    std::uint32_t from = 0;  ///< the predecessor
    bool is_loop = false;    ///< whether the edge retreats
    llvm::ArrayRef<std::uint32_t> slots;
    const Content* contents = nullptr;
    const Content& of(std::uint32_t slot) {
      while (slots.front() != slot) {
        slots = slots.drop_front();
        ++contents;
      }
      return *contents;
    }
  };
  using AllIncoming = llvm::SmallVector<Incoming, 4>;
  /// The contents at the ends of those predecessors that a pass has executed.
  [[nodiscard]] AllIncoming incoming(std::uint32_t block) const;
  /// The content of a slot at the start of a block. `before` is the result of the previous pass, if there was
  /// one.
  Content merge(std::uint32_t block, std::uint32_t slot, AllIncoming& incoming, const Content* before);
  /// Content of a slot after slots were given up: unknown.
  Content forgotten(std::uint32_t block, std::uint32_t slot);
  Content join(const Content& a, const Content& b, const JoinKey& key);
  Value join(const Value& a, const Value& b, const JoinKey& key);
  void execute(std::uint32_t instruction);
  void write(std::uint32_t reg, std::uint32_t element, Formula guard, Content&& content);
  /// Whether the instruction writes a register with a slot.
  [[nodiscard]] bool writes_slot(std::uint32_t instruction) const;
  /// `a` where the formula holds, else `b`.
  Content chosen(Formula formula, const Content& a, const Content& b, const JoinKey& key);
  /// An unknown flag for formulas that differ between paths.
  Formula joined_flag(const JoinKey& key);
  /// If both values are indicators of formulas: the indicator of a new flag.
  std::optional<Value> joined_indicators(const Value& a, const Value& b, const JoinKey& key);
  [[nodiscard]] const Content& content(std::uint32_t reg) const {
    return slot_of_[reg] == single ? single_[reg] : current_[slot_of_[reg]];
  }

  const ptx::FlatFunction& function_;
  const ptx::ControlFlow& flow_;
  Values& values_;
  Conditions& conditions_;

  std::vector<std::uint32_t> slot_of_;      ///< slot of each register that needs one, else `single`
  std::vector<std::uint32_t> register_of_;  ///< register of each slot
  std::vector<Content> single_;
  /// Blocks that read a register without a slot, except the block that writes it.
  std::vector<llvm::SmallVector<std::uint32_t, 2>> readers_;
  std::vector<Content> current_;
  std::vector<std::uint32_t> never_written_;    ///< registers without a slot that are read before any write
  ptx::Liveness live_;                          ///< liveness of slots
  bool live_known_ = true;                      ///< false: there are too many slots and blocks to compute it
  std::vector<std::vector<Content>> leaving_;   ///< content of live_.out() at each block's end
  std::vector<std::vector<Content>> entering_;  ///< content of live_.in() at the start of each loop
  std::vector<bool> executed_;                  ///< blocks that a pass has executed
  std::vector<bool> begins_loop_;
  std::vector<bool> stale_;     ///< blocks whose entry has changed since a pass executed them
  bool give_up_slots_ = false;  ///< there are too many, or the passes do not end: their registers are unknown
  bool changed_ = false;
  bool counters_changed_ = false;  ///< a loop counter's same_each_time changed: all loops are merged again
  bool symbols_changed_ = false;   ///< whether symbols changed in the last pass, which may change any result
  bool is_stable_ = false;         ///< another pass would change nothing
  bool widen_ = false;             ///< differing values become unknown, so that the passes end
  bool knows_loops_ = false;       ///< loops were followed often enough to know their values at the back edge
  std::uint32_t place_ = 0;
  std::int32_t home_ = 0;
};

/// Content that the visited instruction writes to its result number `element`, a register of `type`.
[[nodiscard]] Content evaluate(Propagation& state, const ptx::FlatInstruction& flat, ptx::ScalarType type,
                               std::uint32_t element);

/// Bits of a register of `type` whose values are tracked: 16, 32 or 64; else 0.
[[nodiscard]] std::uint32_t value_width(ptx::ScalarType type);

}  // namespace lint
TMAJIT_END
