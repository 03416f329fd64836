#include "reference/expression.hpp"

#include "reference/expression_functions.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace reference {
namespace {

/// The first relations, == and !=.
constexpr std::size_t equalities = 2;

struct Cast {
  std::string_view name;
  tmajit::ElementType type;
};
constexpr std::array casts{
    Cast{"float", tmajit::ElementType::f32},    Cast{"double", tmajit::ElementType::f64},
    Cast{"int", tmajit::ElementType::i32},      Cast{"unsigned", tmajit::ElementType::u32},
    Cast{"as_u8", tmajit::ElementType::u8},     Cast{"as_i8", tmajit::ElementType::i8},
    Cast{"as_u16", tmajit::ElementType::u16},   Cast{"as_i16", tmajit::ElementType::i16},
    Cast{"as_u32", tmajit::ElementType::u32},   Cast{"as_i32", tmajit::ElementType::i32},
    Cast{"as_u64", tmajit::ElementType::u64},   Cast{"as_i64", tmajit::ElementType::i64},
    Cast{"as_f16", tmajit::ElementType::f16},   Cast{"as_bf16", tmajit::ElementType::bf16},
    Cast{"as_f32", tmajit::ElementType::f32},   Cast{"as_f64", tmajit::ElementType::f64},
    Cast{"as_tf32", tmajit::ElementType::tf32}, Cast{"as_e4m3", tmajit::ElementType::e4m3},
    Cast{"as_e5m2", tmajit::ElementType::e5m2}};
/// Whether a cast to the type may leave a value unchanged, so that a kernel may contract a product through
/// it.
bool keeps_products(tmajit::ElementType type) {
  return type == tmajit::ElementType::f32 || type == tmajit::ElementType::f64;
}

}  // namespace

/// A recursive-descent parser that emits the steps of a stack machine. Its functions return false for text
/// that is not supported.
class ExpressionParser {
 public:
  using Kind = Expression::Step::Kind;

  ExpressionParser(std::string_view text, std::span<const std::string_view> names)
      : text_(text), names_(names) {}

  bool parse(Expression& expression) {
    if (!conditional(0) || next() != '\0') return false;
    expression.steps_ = std::move(steps_);
    expression.offsets_ = offsets_;
    return true;
  }

 private:
  static constexpr int max_depth = 100;

  char next() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool takes(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  void negate() {
    steps_.push_back({.kind = Kind::number, .number = -1});
    steps_.push_back({.kind = Kind::multiply});
  }

  bool conditional(int depth) {
    if (depth > max_depth || !comparison(depth, equalities)) return false;
    if (!takes('?')) return true;
    if (!conditional(depth + 1) || !takes(':') || !conditional(depth + 1)) return false;
    steps_.push_back({.kind = Kind::select});
    return true;
  }
  /// A comparison by an equality if `count` is `equalities`, else by one of the other relations.
  bool comparison(int depth, std::size_t count) {
    const std::size_t first = count == equalities ? 0 : equalities;
    const auto operand = [&] { return first == 0 ? comparison(depth, relations.size()) : sum(depth); };
    if (!operand()) return false;
    for (;;) {
      static_cast<void>(next());
      std::size_t relation = first;
      while (relation < count && !text_.substr(at_).starts_with(relations[relation])) ++relation;
      if (relation == count) return true;
      at_ += relations[relation].size();
      if (!operand()) return false;
      steps_.push_back({.kind = Kind::compare, .function = relation});
    }
  }
  bool sum(int depth) {
    if (depth > max_depth || !product(depth)) return false;
    for (;;) {
      const bool minus = next() == '-';
      if (!takes('+') && !takes('-')) return true;
      if (!product(depth)) return false;
      steps_.push_back({.kind = minus ? Kind::subtract : Kind::add});
    }
  }
  bool product(int depth) {
    if (!unary(depth)) return false;
    for (;;) {
      const Kind kind = next() == '*' ? Kind::multiply : Kind::divide;
      if (!takes('*') && !takes('/')) return true;
      if (!unary(depth)) return false;
      steps_.push_back({.kind = kind});
    }
  }
  bool unary(int depth) {
    if (depth > max_depth) return false;
    if (takes('-')) {
      if (!unary(depth + 1)) return false;
      negate();
      return true;
    }
    if (takes('+')) return unary(depth + 1);
    if (takes('(')) {
      const std::size_t open = at_;
      const std::size_t type = cast_of(word());
      at_ += word().size();
      if (type != casts.size() && takes(')')) return converted(depth, type, false);
      at_ = open;  // "(float(x) + 1)" begins with a cast, but is none
      return conditional(depth + 1) && takes(')');
    }
    const std::string_view name = word();
    if (name.empty()) return number();
    if (const auto named = std::ranges::find(names_, name); named != names_.end()) {
      at_ += name.size();
      steps_.push_back(
          {.kind = Kind::neighbour, .source = static_cast<std::uint32_t>(named - names_.begin())});
      return true;
    }
    if (name.front() == 'x') return neighbour();
    if (name == "INFINITY" || name == "NAN") {
      using Limits = std::numeric_limits<float>;
      at_ += name.size();
      steps_.push_back(
          {.kind = Kind::number, .number = name == "NAN" ? Limits::quiet_NaN() : Limits::infinity()});
      return true;
    }
    if (const std::size_t type = cast_of(name); type < casts.size()) {
      at_ += name.size();
      return takes('(') && converted(depth, type, true) && takes(')');
    }
    return call(depth);
  }
  /// The operand of a cast: a coordinate, an expression if it is in brackets, or else a unary expression.
  bool converted(int depth, std::size_t type, bool in_brackets) {
    const std::string_view rest = text_.substr(at_);
    if (rest.size() >= 4 && rest.starts_with("g[") && rest[2] >= '0' && rest[2] <= '7' && rest[3] == ']') {
      at_ += 4;
      steps_.push_back({.kind = Kind::coordinate, .source = static_cast<std::uint32_t>(rest[2] - '0')});
    } else if (!(in_brackets ? conditional(depth + 1) : unary(depth + 1))) {
      return false;
    }
    steps_.push_back({.kind = Kind::cast, .function = type});
    return true;
  }
  /// The identifier at the current position, or an empty text.
  std::string_view word() {
    static_cast<void>(next());
    std::size_t end = at_;
    const auto is_letter = [&](std::size_t i) {
      const auto c = static_cast<unsigned char>(text_[i]);
      return c == '_' || (i == at_ ? std::isalpha(c) : std::isalnum(c)) != 0;
    };
    while (end < text_.size() && is_letter(end)) ++end;
    return text_.substr(at_, end - at_);
  }
  static std::size_t cast_of(std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(casts, name, &Cast::name) - casts.begin());
  }
  bool number() {
    const std::string rest(text_.substr(at_));
    const char first = next();
    if (std::isdigit(static_cast<unsigned char>(first)) == 0 && first != '.') return false;
    std::size_t length = rest.find_first_not_of("0123456789.");
    length = std::min(length, rest.size());
    if (length < rest.size() && (rest[length] == 'e' || rest[length] == 'E')) {
      length = rest.find_first_not_of(
          "0123456789",
          length +
              (length + 1 < rest.size() && (rest[length + 1] == '-' || rest[length + 1] == '+') ? 2 : 1));
      length = std::min(length, rest.size());
    }
    const std::string digits = rest.substr(0, length);
    at_ += length;
    const bool whole = digits.find_first_of(".eE") == std::string::npos;
    const double value = std::strtod(digits.c_str(), nullptr);
    Scalar number = value;
    if (at_ < text_.size() && (text_[at_] == 'f' || text_[at_] == 'F') && !whole) {
      ++at_;
      number = std::strtof(digits.c_str(), nullptr);
    } else if (whole) {
      if (value > 2147483647.0) return false;
      number = static_cast<std::int32_t>(value);
    }
    if (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_])) != 0) return false;
    steps_.push_back({.kind = Kind::number, .number = number});
    return true;
  }
  bool call(int depth) {
    const std::string_view name = word();
    const auto* const found = std::ranges::find(functions, name, &MathFunction::name);
    if (found == functions.end()) return false;
    at_ += name.size();
    for (std::size_t i = 0; i < found->arguments; ++i) {
      if (!takes(i == 0 ? '(' : ',') || !conditional(depth + 1)) return false;
    }
    steps_.push_back({.kind = Kind::call, .function = static_cast<std::size_t>(found - functions.begin())});
    return takes(')');
  }
  bool neighbour() {
    ++at_;
    Expression::Step step{.kind = Kind::neighbour};
    if (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '7')
      step.source = static_cast<std::uint32_t>(text_[at_++] - '0');
    if (at_ < text_.size() &&
        (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      return false;
    if (takes('(')) {
      do {
        const bool minus = takes('-');
        if (!minus) static_cast<void>(takes('+'));
        if (std::isdigit(static_cast<unsigned char>(next())) == 0) return false;
        std::int64_t value = 0;
        while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0 &&
               value < 1'000'000)
          value = 10 * value + (text_[at_++] - '0');
        step.offsets.push_back(minus ? -value : value);
      } while (takes(','));
      if (!takes(')')) return false;
      offsets_ = std::max(offsets_, step.offsets.size());
    }
    steps_.push_back(std::move(step));
    return true;
  }

  std::string_view text_;
  std::span<const std::string_view> names_;
  std::size_t at_ = 0;
  std::vector<Expression::Step> steps_;
  std::size_t offsets_ = 0;
};

std::optional<Expression> Expression::parse(std::string_view text, std::span<const std::string_view> names) {
  Expression expression;
  if (!ExpressionParser(text, names).parse(expression)) return std::nullopt;
  return expression;
}

std::vector<std::uint32_t> Expression::sources() const {
  std::vector<std::uint32_t> found;
  for (const Step& step : steps_) {
    if (step.kind == Step::Kind::neighbour) found.push_back(step.source);
  }
  return found;
}

Computed Expression::evaluate(const Neighbour& neighbour, std::span<const std::uint64_t> g) const {
  std::vector<Computed> stack;
  const auto pop = [&] {
    const Computed top = stack.back();
    stack.pop_back();
    return top;
  };
  for (const Step& step : steps_) {
    switch (step.kind) {
      case Step::Kind::number: stack.emplace_back(step.number); break;
      case Step::Kind::neighbour: stack.push_back(neighbour(step.source, step.offsets)); break;
      case Step::Kind::coordinate: stack.emplace_back(g[step.source]); break;
      case Step::Kind::cast: {
        const tmajit::ElementType type = casts.at(step.function).type;
        const Computed& top = stack.back();
        const Scalar value = stored(type, top.value);
        const bool is_kept = keeps_products(type) && value.index() == top.value.index();
        stack.back() = {value, stored_error(type, top), is_kept ? top.rounding : 0};
        break;
      }
      case Step::Kind::call: {
        const MathFunction& function = functions.at(step.function);
        const Computed result = call(function, std::span(stack).last(function.arguments));
        stack.erase(stack.end() - static_cast<std::ptrdiff_t>(function.arguments), stack.end());
        stack.push_back(result);
        break;
      }
      case Step::Kind::select: {
        const Computed other = pop();
        const Computed chosen = pop();
        stack.back() = selected(stack.back(), chosen, other);
        break;
      }
      default: {
        const Computed right = pop();
        Computed& left = stack.back();
        left = step.kind == Step::Kind::add        ? sum_of(left, right)
               : step.kind == Step::Kind::subtract ? difference_of(left, right)
               : step.kind == Step::Kind::multiply ? product_of(left, right)
               : step.kind == Step::Kind::compare  ? comparison_of(step.function, left, right)
                                                   : quotient_of(left, right);
      }
    }
  }
  return stack.back();
}

Computed Expression::evaluate(std::span<const Computed> x, std::span<const std::uint64_t> g) const {
  return evaluate([x](std::uint32_t source, std::span<const std::int64_t>) { return x[source]; }, g);
}

bool Expression::is_exact() const {
  // A value on the stack: its number, if it is a constant, and whether it is a product that may round.
  struct Part {
    double number = 0;
    bool rounds = false;
  };
  // Multiplications by powers of two are exact. So are those by −1, into which the parser turns signs.
  const auto is_exact_factor = [](double number) {
    return std::fabs(number) >= 1 && std::exp2(std::round(std::log2(std::fabs(number)))) == std::fabs(number);
  };
  std::vector<Part> stack;
  for (const Step& step : steps_) {
    using Kind = Step::Kind;
    std::size_t operand_count = step.kind == Kind::cast ? 1 : step.kind == Kind::select ? 3 : 2;
    if (step.kind == Kind::number || step.kind == Kind::neighbour || step.kind == Kind::coordinate)
      operand_count = 0;
    if (step.kind == Kind::call) {
      const MathFunction& function = functions.at(step.function);
      if (function.units > 0 || function.absolute > 0) return false;
      operand_count = function.arguments;
    }
    const std::vector<Part> operands(stack.end() - static_cast<std::ptrdiff_t>(operand_count), stack.end());
    stack.resize(stack.size() - operand_count);
    Part result{.number = step.kind == Kind::number ? as_double(step.number) : 0};
    const bool has_product = std::ranges::any_of(operands, &Part::rounds);
    if (step.kind == Kind::cast) result.rounds = has_product && keeps_products(casts.at(step.function).type);
    if ((step.kind == Kind::add || step.kind == Kind::subtract) && has_product) return false;
    if (step.kind == Kind::multiply)
      result.rounds = has_product || !std::ranges::any_of(operands, is_exact_factor, &Part::number);
    stack.push_back(result);
  }
  return true;
}

}  // namespace reference
