#include "reference/expression.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace reference {
namespace {

/// One of CUDA's mathematical functions of floating point.
struct Function {
  std::string_view name;
  std::size_t arguments;
  double (*compute)(double a, double b);
  bool in_f32 = false;  ///< returns float for any argument; otherwise float only if all arguments are float
};

double exponential(double a, double /*b*/) {
  return std::exp(a);
}
double logarithm(double a, double /*b*/) {
  return std::log(a);
}
double root(double a, double /*b*/) {
  return std::sqrt(a);
}
double reciprocal_root(double a, double /*b*/) {
  return 1 / std::sqrt(a);
}
double hyperbolic_tangent(double a, double /*b*/) {
  return std::tanh(a);
}
double magnitude(double a, double /*b*/) {
  return std::fabs(a);
}
double greater(double a, double b) {
  return std::fmax(a, b);
}
double lesser(double a, double b) {
  return std::fmin(a, b);
}
double quotient(double a, double b) {
  return a / b;
}

constexpr std::array functions{Function{"exp", 1, exponential},
                               Function{"expf", 1, exponential, true},
                               Function{"__expf", 1, exponential, true},
                               Function{"log", 1, logarithm},
                               Function{"logf", 1, logarithm, true},
                               Function{"__logf", 1, logarithm, true},
                               Function{"sqrt", 1, root},
                               Function{"sqrtf", 1, root, true},
                               Function{"rsqrt", 1, reciprocal_root},
                               Function{"rsqrtf", 1, reciprocal_root, true},
                               Function{"tanh", 1, hyperbolic_tangent},
                               Function{"tanhf", 1, hyperbolic_tangent, true},
                               Function{"fabs", 1, magnitude},
                               Function{"fabsf", 1, magnitude, true},
                               Function{"fmax", 2, greater},
                               Function{"fmaxf", 2, greater, true},
                               Function{"fmin", 2, lesser},
                               Function{"fminf", 2, lesser, true},
                               Function{"__fdividef", 2, quotient, true}};

}  // namespace

/// Recursive descent; false where something is not understood.
class ExpressionParser {
 public:
  using Kind = Expression::Step::Kind;

  explicit ExpressionParser(std::string_view text) : text_(text) {}

  bool parse(Expression& expression) {
    if (!sum(0) || next() != '\0') return false;
    expression.steps_ = std::move(steps_);
    expression.offsets_ = offsets_;
    return true;
  }

 private:
  static constexpr int deepest = 100;

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

  bool sum(int depth) {
    if (depth > deepest || !product(depth)) return false;
    for (;;) {
      const bool minus = next() == '-';
      if (!takes('+') && !takes('-')) return true;
      if (!product(depth)) return false;
      if (minus) negate();
      steps_.push_back({.kind = Kind::add});
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
    if (depth > deepest) return false;
    if (takes('-')) {
      if (!unary(depth + 1)) return false;
      negate();
      return true;
    }
    if (takes('+')) return unary(depth + 1);
    if (takes('(')) return sum(depth + 1) && takes(')');
    const char first = next();
    if (first == 'x') return neighbour();
    return std::isalpha(static_cast<unsigned char>(first)) != 0 || first == '_' ? call(depth) : number();
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
    std::size_t end = at_;
    while (end < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[end])) != 0 || text_[end] == '_'))
      ++end;
    const auto found = std::ranges::find(functions, text_.substr(at_, end - at_), &Function::name);
    if (found == functions.end()) return false;
    at_ = end;
    for (std::size_t i = 0; i < found->arguments; ++i) {
      if (!takes(i == 0 ? '(' : ',') || !sum(depth + 1)) return false;
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
  std::size_t at_ = 0;
  std::vector<Expression::Step> steps_;
  std::size_t offsets_ = 0;
};

namespace {

Scalar divide(const Scalar& a, const Scalar& b) {
  return std::visit(
      [](auto x, auto y) -> Scalar {
        using C = decltype(x + y);
        if constexpr (std::is_integral_v<C>) {
          // What no division gives is anything; here 0, and what wraps.
          const auto divisor = static_cast<C>(y);
          if (divisor == 0) return scalar(C{0});
          if (std::is_signed_v<C> && divisor == static_cast<C>(-1)) return multiply(x, -1);
          return scalar(static_cast<C>(static_cast<C>(x) / divisor));
        } else {
          return scalar(static_cast<C>(x) / static_cast<C>(y));
        }
      },
      a, b);
}

/// Calls a function of one or two arguments.
Scalar call(const Function& function, std::span<const Scalar> arguments) {
  const bool in_f32 = function.in_f32 || std::ranges::all_of(arguments, [](const Scalar& value) {
                        return std::holds_alternative<float>(value);
                      });
  // A function of floats rounds its arguments to float first.
  const auto argument = [&](std::size_t i) {
    const double value = i < arguments.size() ? as_double(arguments[i]) : 0;
    return in_f32 ? static_cast<double>(static_cast<float>(value)) : value;
  };
  const double result = function.compute(argument(0), argument(1));
  return in_f32 ? Scalar(static_cast<float>(result)) : Scalar(result);
}

}  // namespace

std::optional<Expression> Expression::parse(std::string_view text) {
  Expression expression;
  if (!ExpressionParser(text).parse(expression)) return std::nullopt;
  return expression;
}

Scalar Expression::evaluate(const Neighbour& neighbour) const {
  std::vector<Scalar> stack;
  const auto pop = [&] {
    const Scalar top = stack.back();
    stack.pop_back();
    return top;
  };
  for (const Step& step : steps_) {
    switch (step.kind) {
      case Step::Kind::number: stack.push_back(step.number); break;
      case Step::Kind::neighbour: stack.push_back(neighbour(step.source, step.offsets)); break;
      case Step::Kind::call: {
        const Function& function = functions.at(step.function);
        const Scalar result = call(function, std::span(stack).last(function.arguments));
        stack.resize(stack.size() - function.arguments);
        stack.push_back(result);
        break;
      }
      default: {
        const Scalar right = pop();
        Scalar& left = stack.back();
        left = step.kind == Step::Kind::add        ? add(left, right)
               : step.kind == Step::Kind::multiply ? multiply(left, right)
                                                   : divide(left, right);
      }
    }
  }
  return stack.back();
}

Scalar Expression::evaluate(std::span<const Scalar> x) const {
  return evaluate([x](std::uint32_t source, std::span<const std::int64_t>) { return x[source]; });
}

bool Expression::rounds_once() const noexcept {
  std::size_t operations = 0;
  for (const Step& step : steps_) {
    if (step.kind == Step::Kind::call) return false;
    operations += step.kind == Step::Kind::number || step.kind == Step::Kind::neighbour ? 0 : 1;
  }
  return operations <= 1;
}

}  // namespace reference
