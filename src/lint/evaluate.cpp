/// Evaluates instructions to values and formulas. An unknown operation gives a symbol of its own. An
/// operation that depends only on its operands gives the same symbol at every place.
#include "lint/propagation.hpp"

#include <algorithm>
#include <bit>

#include <llvm/ADT/STLExtras.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using ptx::Opcode;
using ptx::Operand;
using ptx::ScalarType;

bool is_number(ScalarType type) {
  return value_width(type) != 0 && !is_float(type);
}

/// Evaluates one result of one instruction.
class Evaluator {
 public:
  Evaluator(Propagation& state, const ptx::FlatInstruction& flat, ScalarType type, std::uint32_t element)
      : state_(state), flat_(flat), type_(type), element_(element) {}

  Content run() {
    Content content;
    if (type_ == ScalarType::pred) content.formula = formula();
    if (width_ != 0) {
      const Value& result = content.value.emplace(value());
      if (result.width != width_) content.value = values_.convert(result, width_, operation_is_signed());
    }
    return content;
  }

 private:
  [[nodiscard]] ScalarType operation_type() const {
    const auto types = in_.types();
    return types.empty() ? ScalarType::b32 : types.front();
  }
  [[nodiscard]] bool operation_is_signed() const {
    return in_.opcode != Opcode::cvt && is_signed_integer(operation_type());
  }
  [[nodiscard]] Value read(std::size_t index, std::uint32_t width) {
    return index < operands().size() ? state_.read(flat_, operands()[index], width) : Values::unknown(width);
  }
  [[nodiscard]] Formula predicate(std::size_t index) {
    return index < operands().size() ? state_.predicate(flat_, operands()[index]) : state_.opaque(2);
  }

  /// Found on first use: most loads and matrix products give unknown values whatever their operands.
  [[nodiscard]] llvm::ArrayRef<ptx::BoundOperand> operands() {
    if (operands_.empty()) operands_ = bound_operands(flat_);
    return operands_;
  }

  /// An unknown number that this instruction makes.
  Value opaque() {
    const SymbolId id = values_.named({key_place, state_.place(), element_},
                                      [&] { return Symbol{.home = state_.home(), .per_thread = true}; });
    return Values::of(id, width_);
  }
  /// The symbol of a result that depends only on these values. If they are not exact, the symbol belongs to
  /// this instruction. `symbol` has properties besides those inherited from the values.
  SymbolId pure(std::uint64_t kind, std::uint64_t detail, std::initializer_list<const Value*> from,
                Symbol symbol = {}) {
    bool exact = true;
    Key key{kind, detail};
    for (const Value* value : from) {
      exact &= value->exact();
      Values::append(key, *value);
    }
    if (!exact) {
      key.push_back(state_.place());
      key.push_back(element_);
    }
    return values_.named(key, [&] {
      if (!exact) symbol.home = state_.home();
      for (const Value* value : from) values_.inherit(symbol, *value);
      symbol.per_thread |= !exact;
      return symbol;
    });
  }

  /// The symbol of this operation's result from these values.
  SymbolId pure(std::initializer_list<const Value*> from) { return pure(key_pure, detail(), from); }

  Value value() {
    if (type_ == ScalarType::f32 || type_ == ScalarType::f64) return opaque();
    const ScalarType type = operation_type();
    switch (in_.opcode) {
      case Opcode::mov:
        // The source may be a register, a literal, an address or a special register. Packed and unpacked
        // vectors are unknown.
        return operands().size() == 2 && operands()[0].operand->kind == Operand::Kind::symbol &&
                       operands()[1].operand->kind != Operand::Kind::vector
                   ? read(1, width_)
                   : opaque();
      case Opcode::cvta:
      case Opcode::cvta_to: return read(1, width_);
      case Opcode::cvt: return convert();
      case Opcode::ld: return load();
      case Opcode::selp: return select(read(1, width_), read(2, width_), predicate(3));
      default: break;
    }
    return is_number(type) ? arithmetic(type, value_width(type)) : opaque();
  }

  Value arithmetic(ScalarType type, std::uint32_t bits) {
    if (in_.has("cc") || in_.has("sat") || in_.has("hi")) return opaque();
    const Value a = read(1, bits);
    const Value b = read(2, bits);
    const bool is_unsigned = !is_signed_integer(type);
    switch (in_.opcode) {
      case Opcode::add: return values_.add(a, b);
      case Opcode::sub: return values_.subtract(a, b);
      case Opcode::neg: return values_.subtract(Values::constant(0, bits), a);
      case Opcode::not_: return values_.subtract(Values::constant(~0ULL, bits), a);
      case Opcode::mul: return product(a, b, is_unsigned);
      case Opcode::mad: {
        const Value first = product(a, b, is_unsigned);
        return values_.add(first, read(3, first.width));
      }
      case Opcode::shl: return shift_left(a, read(2, 32));
      case Opcode::shr: return shift_right(a, read(2, 32), is_unsigned);
      case Opcode::and_:
      case Opcode::or_:
      case Opcode::xor_: return bitwise(in_.opcode, a, b);
      case Opcode::bfi: return insert_bits(a, b);
      case Opcode::min:
      case Opcode::max: {
        Value result = either_of(a, b, pure({&a, &b}));
        if (in_.opcode == Opcode::min && is_unsigned) result.most = std::min(a.most, b.most);
        return result;
      }
      case Opcode::div:
      case Opcode::rem: {
        const bool is_div = in_.opcode == Opcode::div;
        const auto x = a.number();
        const auto y = b.number();
        const bool is_known = y && *y != 0 && is_unsigned;
        if (x && is_known) return Values::constant(is_div ? *x / *y : *x % *y, bits);
        const SymbolId symbol = pure({&a, &b});
        if (is_known) define(symbol, is_div ? Definition::Kind::quotient : Definition::Kind::remainder, a, b);
        Value result = Values::of(symbol, bits);
        if (is_known) result.most = is_div ? a.most / *y : std::min(a.most, *y - 1);
        return result;
      }
      case Opcode::shfl: {
        // The result depends only on the operands of all lanes: the same operands give the same result again.
        if (element_ != 0) return opaque();
        const Value lane = read(2, 32);
        const Value clamp = read(3, 32);
        const Value mask = read(4, 32);
        const std::uint64_t mode = in_.has("idx") ? 0 : in_.has("bfly") ? 1 : in_.has("up") ? 2 : 3;
        const SymbolId symbol = pure(key_pure, detail() << 8 | mode, {&a, &lane, &clamp, &mask});
        // The warp's number is equal in all its lanes: these have 32 consecutive %tid.x.
        if (is_warp_number(a)) define(symbol, Definition::Kind::shuffled, a);
        return Values::of(symbol, bits, 1, a.most);
      }
      case Opcode::bfe: {
        const Value position = read(2, 32);
        const Value length = read(3, 32);
        return Values::of(pure({&a, &position, &length}), width_);
      }
      case Opcode::popc:
      case Opcode::clz:
      case Opcode::abs: return Values::of(pure({&a}), width_);
      default: return opaque();
    }
  }

  void define(SymbolId symbol, Definition::Kind kind, const Value& a,
              const Value& b = Values::constant(1, 32)) {
    values_.define(symbol, {kind, a, b});
  }
  /// Whether the value depends only on %tid.x / 32.
  [[nodiscard]] bool is_warp_number(const Value& a) const {
    return a.exact() && !a.terms.empty() && llvm::all_of(a.terms, [&](const Term& term) {
             const Definition* const definition = values_.definition(term.symbol);
             if (definition == nullptr || definition->kind != Definition::Kind::quotient ||
                 definition->b.number().value_or(0) % 32 != 0)
               return false;
             const Value& from = definition->a;
             return from.constant == 0 && from.terms.size() == 1 && from.terms[0].factor == 1 &&
                    values_.symbol(from.terms[0].symbol).thread_index;
           });
  }

  /// Distinguishes operations with the same SymbolKey.
  [[nodiscard]] std::uint64_t detail() const {
    return static_cast<std::uint64_t>(in_.opcode) << 8 | static_cast<std::uint64_t>(operation_type());
  }

  Value product(Value a, Value b, bool is_unsigned) {
    if (in_.has("wide")) {
      if (a.width == 64) return opaque();
      const std::uint32_t wide = 2U * a.width;
      a = values_.convert(a, wide, !is_unsigned);
      b = values_.convert(b, wide, !is_unsigned);
    }
    if (const auto factor = b.number()) return values_.multiply(a, *factor);
    if (const auto factor = a.number()) return values_.multiply(b, *factor);
    return aligned(values_.alignment(a) + values_.alignment(b), pure({&a, &b}), a.width);
  }

  /// An unknown multiple of 2^alignment.
  Value aligned(std::uint32_t alignment, SymbolId symbol, std::uint32_t bits) {
    return alignment >= bits ? Values::constant(0, bits) : Values::of(symbol, bits, 1ULL << alignment);
  }

  Value shift_left(const Value& a, const Value& amount) {
    const auto by = amount.number();
    if (!by) return aligned(values_.alignment(a), pure({&a, &amount}), a.width);
    return *by >= a.width ? Values::constant(0, a.width) : values_.multiply(a, 1ULL << *by);
  }

  Value shift_right(const Value& a, const Value& amount, bool is_unsigned) {
    const std::uint32_t bits = a.width;
    const auto by = amount.number();
    const auto number = a.number();
    if (by && *by == 0) return a;
    // Signed and unsigned shifts of a non-negative number agree.
    is_unsigned = is_unsigned || (a.most >> (bits - 1)) == 0;
    if (by && number && is_unsigned) return Values::constant(*by >= bits ? 0 : *number >> *by, bits);
    if (by && is_unsigned && *by < bits && a.most >> *by == 0) return Values::constant(0, bits);
    if (!by || *by >= bits) return Values::of(pure({&a, &amount}), bits);
    // Low bits that are surely zero, beyond those shifted out, remain an alignment of the result.
    const std::uint32_t alignment = values_.alignment(a);
    Value result;
    if (alignment > *by && alignment < bits) {
      result = Values::of(pure({&a, &amount}), bits, 1ULL << (alignment - *by));
    } else {
      result = is_unsigned ? Values::of(quotient(a, static_cast<std::uint32_t>(*by)), bits)
                           : Values::of(pure({&a, &amount}), bits);
    }
    if (is_unsigned) result.most = a.most >> *by;
    return result;
  }

  /// `a` rounded down to a multiple of 2^n. bitwise() computes a mod 2^n as a − floor(a, n): both use the
  /// symbol of the quotient, so that floor(a, n) + a mod 2^n is `a` again.
  Value floor(const Value& a, std::uint32_t n) {
    const Residue residue = values_.residue(a);
    if (residue.bits >= n)
      return values_.subtract(a, Values::constant(residue.remainder & low_bits(n), a.width));
    return Values::of(quotient(a, n), a.width, 1ULL << n, a.most);
  }

  /// The symbol of a / 2^n, unsigned.
  SymbolId quotient(const Value& a, std::uint32_t n) {
    const SymbolId symbol =
        pure(key_floor, n, {&a}, {.most = values_.largest(a).value_or(low_bits(a.width)) >> n});
    define(symbol, Definition::Kind::quotient, a, Values::constant(1ULL << n, a.width));
    return symbol;
  }

  Value bitwise(Opcode opcode, const Value& a, const Value& b) {
    const std::uint32_t bits = a.width;
    const std::uint64_t all = low_bits(bits);
    const auto number_a = a.number();
    const auto number_b = b.number();
    const auto apply = [opcode](std::uint64_t p, std::uint64_t q) {
      return opcode == Opcode::and_ ? p & q : opcode == Opcode::or_ ? p | q : p ^ q;
    };
    if (number_a && number_b) return Values::constant(apply(*number_a, *number_b), bits);
    if (number_a) return bitwise(opcode, b, a);
    if (opcode == Opcode::and_ && number_b) {
      const std::uint64_t mask = *number_b;
      if (mask == 0) return Values::constant(0, bits);
      if (mask == all) return a;
      if (std::has_single_bit(mask + 1)) {
        const auto n = static_cast<std::uint32_t>(std::countr_zero(mask + 1));
        if (a.most <= mask) return a;
        Value low = values_.subtract(a, floor(a, n));
        low.most = mask;
        return low;
      }
      const auto n = static_cast<std::uint32_t>(std::countr_zero(mask));
      if (mask == (all & ~low_bits(n))) return floor(a, n);
    }
    if (opcode != Opcode::and_) {
      // If no bit is set in both operands, or and xor are additions.
      const auto fits = [&](const Value& high, const Value& low) {
        const Residue residue = values_.residue(high);
        return residue.remainder == 0 && low.most <= low_bits(residue.bits);
      };
      if (fits(a, b) || fits(b, a)) return values_.add(a, b);
      if (opcode == Opcode::xor_ && number_b == all) return values_.subtract(Values::constant(all, bits), a);
    }
    const Residue residue_a = values_.residue(a);
    const Residue residue_b = values_.residue(b);
    std::uint32_t known_bits = std::min<std::uint32_t>(residue_a.bits, residue_b.bits);
    if (opcode == Opcode::and_) {
      // Bits that are 0 in one operand are 0 in the result.
      if (residue_a.remainder == 0) known_bits = std::max<std::uint32_t>(known_bits, residue_a.bits);
      if (residue_b.remainder == 0) known_bits = std::max<std::uint32_t>(known_bits, residue_b.bits);
    }
    const std::uint64_t low = apply(residue_a.remainder, residue_b.remainder) & low_bits(known_bits);
    if (known_bits >= bits) return Values::constant(low, bits);
    if (const auto formula = of_flags(opcode, a, b)) return state_.conditions().indicator(*formula, bits);
    const SymbolId symbol = pure(key_bits, detail(), {&a, &b});
    if (known_bits == 0) {
      define(symbol,
             opcode == Opcode::and_  ? Definition::Kind::bit_and
             : opcode == Opcode::or_ ? Definition::Kind::bit_or
                                     : Definition::Kind::bit_xor,
             a, b);
    }
    Value result = Values::of(symbol, bits, 1ULL << known_bits);
    result = values_.add(result, Values::constant(known_bits == 0 ? 0 : low, bits));
    if (opcode == Opcode::and_) result.most = std::min(a.most, b.most);
    return result;
  }

  /// The formula for and, or, xor of two indicators.
  std::optional<Formula> of_flags(Opcode opcode, const Value& a, const Value& b) {
    Conditions& conditions = state_.conditions();
    const auto x = conditions.indicated(a);
    const auto y = conditions.indicated(b);
    if (!x || !y) return std::nullopt;
    return opcode == Opcode::and_  ? conditions.conjunction(*x, *y)
           : opcode == Opcode::or_ ? conditions.disjunction(*x, *y)
                                   : conditions.exclusive(*x, *y);
  }

  /// bfi inserts bits of `a` into `b`. If all set bits of `b` are below the inserted bits, and these reach
  /// the highest bit, the result is b + (a << position).
  Value insert_bits(const Value& a, const Value& b) {
    const auto position = read(3, 32).number();
    const auto length = read(4, 32).number();
    if (!position || !length || *position >= a.width) return opaque();
    if (*position + *length >= a.width && b.most <= low_bits(static_cast<std::uint32_t>(*position)))
      return values_.add(b, values_.multiply(a, 1ULL << *position));
    const Value place = Values::constant(*position << 8 | *length, 32);
    return Values::of(pure({&a, &b, &place}), a.width);
  }

  /// A value that is `a` or `b`.
  Value either_of(const Value& a, const Value& b, SymbolId rest) {
    if (Values::same(a, b)) return a;
    return values_.completed(values_.common(a, b), rest, std::max(a.most, b.most));
  }

  Value select(const Value& a, const Value& b, Formula condition) {
    // b, plus a − b where the condition holds. This form is exact, so later comparisons of it are understood.
    if (auto exact = state_.conditions().chosen(condition, a, b)) return *exact;
    const SymbolId rest = pure(key_either, condition, {&a, &b},
                               {.home = state_.conditions().home(condition), .per_thread = true});
    return either_of(a, b, rest);
  }

  Value convert() {
    const auto types = in_.types();
    if (types.size() != 2) return opaque();
    const bool to_number = is_number(types[0]);
    const bool from_number = is_number(types[1]);
    if (to_number && from_number && !in_.has("sat"))
      return values_.convert(read(1, bits_of(types[1])), bits_of(types[0]), is_signed_integer(types[1]));
    // Conversions from or to bytes keep the low 8 bits.
    if ((to_number && types[1] == ScalarType::u8) || (from_number && types[0] == ScalarType::u8))
      return bitwise(Opcode::and_, read(1, width_), Values::constant(255, width_));
    return opaque();
  }

  /// Parameters of a kernel never change: the same address gives the same number.
  Value load() {
    const auto spaces = in_.spaces();
    if (in_.vector_width() != 1 || operands().size() < 2 || spaces.empty()) return opaque();
    if (spaces[0] != ptx::StateSpace::param && spaces[0] != ptx::StateSpace::param_entry) return opaque();
    const Value address = values_.convert(state_.address(flat_, operands()[1]), 64, false);
    const ptx::Variable* parameter = values_.variable_of(address);
    const ptx::Function& function = *state_.function().function;
    const bool reads_kernel_parameter =
        function.is_entry &&
        llvm::any_of(function.parameters, [&](const ptx::Variable& each) { return &each == parameter; });
    if (!reads_kernel_parameter || !address.exact()) return opaque();
    Key key{key_param, detail()};
    Values::append(key, address);
    const SymbolId id = values_.named(key, [&] {
      Symbol symbol;
      values_.inherit(symbol, address);
      symbol.variable = nullptr;
      symbol.several_variables = false;
      if (parameter->pointer && parameter->pointer->alignment && address.terms.size() == 1 &&
          address.constant == 0) {
        symbol.alignment = static_cast<std::uint8_t>(
            std::min(16, std::countr_zero(std::max<std::uint64_t>(*parameter->pointer->alignment, 1))));
      }
      return symbol;
    });
    Value result = Values::of(id, width_);
    const std::uint32_t loaded = bits_of(operation_type());
    if (loaded < width_ && !is_signed_integer(operation_type())) result.most = low_bits(loaded);
    return result;
  }

  Formula formula() {
    const bool first = element_ == 0;
    switch (in_.opcode) {
      case Opcode::setp: return first ? compare() : state_.opaque(3);
      case Opcode::mov: return predicate(1);
      case Opcode::not_: return negation(predicate(1));
      case Opcode::and_: return state_.conditions().conjunction(predicate(1), predicate(2));
      case Opcode::or_: return state_.conditions().disjunction(predicate(1), predicate(2));
      case Opcode::xor_: return state_.conditions().exclusive(predicate(1), predicate(2));
      case Opcode::elect: return elected();
      case Opcode::mbarrier_test_wait:
      case Opcode::mbarrier_try_wait:
        return state_.conditions().opaque(state_.place() * 8 + 2, state_.home(), true);
      default: return state_.opaque(2 + std::min(element_, 5U));
    }
  }

  Formula compare() {
    const auto words = in_.words();
    if (words.size() < 2) return state_.opaque(2);
    const auto types = in_.types();
    const Formula plain = types.empty() || !is_number(types.back())
                              ? state_.opaque(4)
                              : compare_integers(types.back(), words[1]);
    if (operands().size() < 4) return plain;
    const Formula other = predicate(3);
    if (in_.has("and")) return state_.conditions().conjunction(plain, other);
    if (in_.has("or")) return state_.conditions().disjunction(plain, other);
    if (in_.has("xor")) return state_.conditions().exclusive(plain, other);
    return state_.opaque(2);
  }

  Formula compare_integers(ScalarType type, llvm::StringRef relation) {
    const std::uint32_t bits = bits_of(type);
    const Value a = read(1, bits);
    const Value b = read(2, bits);
    const bool is_signed = is_signed_integer(type);
    const std::uint32_t place = state_.place() * 8 + 4;
    Conditions& conditions = state_.conditions();
    const auto less = [&](const Value& x, const Value& y) {
      return conditions.less(x, y, is_signed, place, state_.home());
    };
    if (relation == "eq") return conditions.equal(a, b, place, state_.home());
    if (relation == "ne") return negation(conditions.equal(a, b, place, state_.home()));
    if (relation == "lt" || relation == "lo") return less(a, b);
    if (relation == "ge" || relation == "hs") return negation(less(a, b));
    if (relation == "gt" || relation == "hi") return less(b, a);
    if (relation == "le" || relation == "ls") return negation(less(b, a));
    return state_.opaque(4);
  }

  /// elect.sync elects the same lane of a mask every time.
  Formula elected() {
    const Value mask = read(1, 32);
    if (element_ != 1) return state_.opaque(2);
    if (!mask.exact()) return state_.opaque(3);
    Key key{~0ULL, key_elect};
    Values::append(key, mask);
    return state_.conditions().flag(key, [&] {
      Symbol symbol;
      values_.inherit(symbol, mask);
      return Subject{.home = symbol.home, .per_thread = true, .one_thread = true};
    });
  }

  Propagation& state_;
  const ptx::FlatInstruction& flat_;
  ScalarType type_;
  std::uint32_t element_;
  Values& values_ = state_.values();
  const ptx::Instruction& in_ = *flat_.instruction;
  llvm::SmallVector<ptx::BoundOperand, 6> operands_;
  std::uint32_t width_ = value_width(type_);
};

}  // namespace

Content evaluate(Propagation& state, const ptx::FlatInstruction& flat, ScalarType type,
                 std::uint32_t element) {
  return Evaluator(state, flat, type, element).run();
}

std::uint32_t value_width(ScalarType type) {
  const std::uint32_t bits = bits_of(type);
  return bits == 16 || bits == 32 || bits == 64 ? bits : 0;
}

}  // namespace lint
TMAJIT_END
