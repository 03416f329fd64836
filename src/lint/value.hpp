#pragma once

/// Known value of a register: an affine form over symbols, modulo a power of two.
///
/// A value is `constant + Σ factor · symbol` modulo 2^known. The power of two that divides every factor is an
/// alignment. Equal forms mean equal values; forms with a constant difference mean different values. So one
/// domain does the work of congruences and value numbering.
#include "lint/key_table.hpp"
#include "ptx/ast.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include <llvm/ADT/SmallVector.h>

TMAJIT_BEGIN
namespace lint {

using SymbolId = std::uint32_t;

/// An unknown number. It changes only when the block that defines it runs again.
struct Symbol {
  /// Rank of the block that redefines it, see ptx::ControlFlow; `invariant` if none does.
  std::int32_t home = -1;
  static constexpr std::int32_t invariant = -1;
  std::uint8_t alignment = 0;  ///< it is a multiple of 2^alignment
  bool per_thread = false;     ///< may differ between threads of a CTA
  bool thread_index = false;   ///< %tid itself, which differs in all threads
  /// Only if per_thread: in the n-th run of the home block all lanes of a warp have the same value. A loop's
  /// counter is an example.
  bool same_each_time = false;
  const ptx::Variable* variable = nullptr;  ///< the variable whose address the symbol is or is computed from
  /// If set, the symbol is 1 where this formula (see Conditions) holds, and 0 elsewhere.
  std::optional<std::uint32_t> indicates = std::nullopt;
  bool several_variables = false;  ///< computed from the addresses of several variables
  std::uint64_t most = ~0ULL;      ///< upper bound on all paths
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

/// The first number of a symbol's key: the cause for which the symbol was made.
enum SymbolKey : std::uint64_t {
  key_merge,      ///< a register whose values differ between paths that meet
  key_guarded,    ///< a register after a guarded write: the previous or the new value
  key_special,    ///< a special register
  key_indicator,  ///< 1 where a formula holds, else 0
  key_place,      ///< an instruction whose result is unknown
  key_floor,      ///< rounding down
  key_bits,       ///< and, or, xor
  key_either,     ///< one of two values, by a predicate (selp)
  key_pure,       ///< any other operation that depends only on its operands
  key_param,      ///< a load of a parameter
  key_elect,      ///< elect.sync
};

struct Term {
  SymbolId symbol = 0;
  std::uint64_t factor = 0;
  friend bool operator==(const Term&, const Term&) = default;
};

struct Value {
  std::uint8_t width = 32;           ///< bits of the register: 16, 32 or 64
  std::uint8_t known = 0;            ///< the form holds modulo 2^known; 0: nothing is known
  std::uint64_t constant = 0;        ///< below 2^known
  std::uint64_t most = ~0ULL;        ///< upper bound, unsigned
  llvm::SmallVector<Term, 3> terms;  ///< sorted by symbol; factors are at least 1 and below 2^known

  /// Whether the form gives all bits of the register.
  [[nodiscard]] bool exact() const noexcept { return known >= width; }
  /// The value if it is a constant.
  [[nodiscard]] std::optional<std::uint64_t> number() const {
    return exact() && terms.empty() ? std::optional(constant) : std::nullopt;
  }
  friend bool operator==(const Value&, const Value&) = default;
};

/// How a symbol is computed from other values. Only symbols that conditions can use have a definition.
struct Definition {
  enum class Kind : std::uint8_t {
    quotient,   ///< a / b, unsigned
    remainder,  ///< a mod b, unsigned
    bit_and,    ///< a & b
    bit_or,     ///< a | b
    bit_xor,    ///< a ^ b
    shuffled,   ///< a, which shfl reads from one lane; all lanes of the warp get the same number
  };
  Kind kind = Kind::shuffled;
  Value a;
  Value b = {};
};

/// A residue: value ≡ remainder modulo 2^bits.
struct Residue {
  std::uint8_t bits = 0;
  std::uint64_t remainder = 0;
};

/// The mask of the low `bits` bits.
[[nodiscard]] constexpr std::uint64_t low_bits(std::uint32_t bits) noexcept {
  return bits >= 64 ? ~0ULL : (1ULL << bits) - 1;
}

/// The symbols of one function and the arithmetic on values over them.
class Values {
 public:
  [[nodiscard]] const Symbol& symbol(SymbolId id) const { return symbols_[id]; }
  /// The symbol for the address of `variable`.
  [[nodiscard]] SymbolId address_of(const ptx::Variable& variable);
  /// The symbol that `key` names; `make` creates it if there is none.
  template <class Make>
  SymbolId named(llvm::ArrayRef<std::uint64_t> key, const Make& make) {
    const auto [symbol, fresh] = names_.insert(key, static_cast<SymbolId>(symbols_.size()));
    if (fresh) symbols_.push_back(make());
    return symbol;
  }

  [[nodiscard]] static Value unknown(std::uint32_t width);
  [[nodiscard]] static Value constant(std::uint64_t bits, std::uint32_t width);
  /// factor · symbol, no more than `most`.
  [[nodiscard]] static Value of(SymbolId symbol, std::uint32_t width, std::uint64_t factor = 1,
                                std::uint64_t most = ~0ULL);

  [[nodiscard]] Value add(const Value& a, const Value& b) const;
  [[nodiscard]] Value subtract(const Value& a, const Value& b) const;
  [[nodiscard]] Value multiply(const Value& a, std::uint64_t factor) const;
  /// Truncates to `width` bits, or extends with zeros (`sign`: with copies of the sign).
  [[nodiscard]] Value convert(const Value& a, std::uint32_t width, bool sign) const;

  /// Stores the definition of a symbol, unless definitions nest too deeply.
  void define(SymbolId symbol, Definition definition);
  /// Null if the symbol has no definition.
  [[nodiscard]] const Definition* definition(SymbolId symbol) const;
  /// Whether the value may differ between lanes of a warp that have computed it equally often.
  [[nodiscard]] bool varies(const Value& a) const;
  /// Sets Symbol::same_each_time; once false, it stays false. Returns whether it changed.
  bool note_same_each_time(SymbolId symbol, bool same);
  /// The largest number that the form can be within its symbols' bounds; nullopt if it may wrap.
  [[nodiscard]] std::optional<std::uint64_t> largest(const Value& a) const;
  /// The symbol that alone determines the value, if that symbol has at most 1024 possible numbers.
  [[nodiscard]] std::optional<SymbolId> base(const Value& a) const;
  /// The number of the value if its base has the number `number`.
  [[nodiscard]] std::uint64_t at(const Value& a, std::uint64_t number) const;

  /// The low bits as far as they are certain; uses the symbols' own alignment.
  [[nodiscard]] Residue residue(const Value& a) const;
  /// The exponent of the largest power of two that surely divides the value.
  [[nodiscard]] std::uint32_t alignment(const Value& a) const;
  /// Whether the value surely is no multiple of 2^bits.
  [[nodiscard]] bool misaligned(const Value& a, std::uint32_t bits) const;
  /// a − b modulo 2^32 if that is a constant. Shared addresses are compared in this way, whatever the width
  /// of their registers.
  [[nodiscard]] static std::optional<std::int32_t> difference32(const Value& a, const Value& b);
  /// Whether both surely are the same number of the same width.
  [[nodiscard]] static bool same(const Value& a, const Value& b) {
    return a.exact() && b.exact() && a.width == b.width && a.constant == b.constant && a.terms == b.terms;
  }
  /// Common part of a and b: equal low bits. Its `known` says how many.
  [[nodiscard]] Value common(const Value& a, const Value& b) const;
  /// The known low bits of `value`, plus a multiple of `rest` for the unknown bits; at most `most`.
  [[nodiscard]] Value completed(Value value, SymbolId rest, std::uint64_t most) const;
  /// The part of `a` that is known before the block of rank `rank`: symbols whose home is this block or a
  /// later one become unknown.
  [[nodiscard]] Value before(const Value& a, std::int32_t rank) const;

  /// Copies home, per_thread and variable from the symbols of `a` to `symbol`, which is computed from `a`.
  void inherit(Symbol& symbol, const Value& a) const;
  /// The same for an existing symbol.
  void inherit(SymbolId id, const Value& a) {
    const Symbol before = symbols_[id];
    inherit(symbols_[id], a);
    changes_ += id < settled_ && symbols_[id] != before ? 1 : 0;
  }
  /// Marks all present symbols as used by values.
  void settle() noexcept { settled_ = static_cast<SymbolId>(symbols_.size()); }
  /// Number of changes of symbols after a value first used them.
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }
  /// The only variable that the value can point into, or null.
  [[nodiscard]] const ptx::Variable* variable_of(const Value& a) const;
  /// Appends a value to a key for named().
  static void append(Key& key, const Value& a);

 private:
  /// Masks constant and factors, drops terms beyond the limit, and bounds `most`.
  static void reduce(Value& value);
  [[nodiscard]] bool is_warp_number(const Definition& definition) const;

  /// A definition, the base of the defined symbol, and the depth to which definitions nest.
  struct Defined {
    Definition definition;
    std::optional<SymbolId> base;
    std::uint32_t depth = 0;
  };
  [[nodiscard]] std::optional<SymbolId> base(SymbolId symbol) const;

  std::vector<Symbol> symbols_;
  KeyTable names_;
  std::unordered_map<SymbolId, Defined> definitions_;
  SymbolId settled_ = 0;  ///< the first symbol that no value uses yet
  std::uint64_t changes_ = 0;
  std::unordered_map<SymbolId, bool> noted_;  ///< false: note_same_each_time() was called with false
  std::map<const ptx::Variable*, SymbolId> variables_;
};

}  // namespace lint
TMAJIT_END
