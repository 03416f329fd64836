#include "operations/stencil/reference.hpp"

#include "operations/references.hpp"
#include "reference/walk.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

namespace reference {

using tmajit::Boundary, tmajit::ElementType, tmajit::Tensor;

/// Recursive descent; false where something is not understood.
class StencilParser {
 public:
  using Kind = StencilExpression::Step::Kind;

  explicit StencilParser(std::string_view text) : text_(text) {}

  bool parse(StencilExpression& expression) {
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
    return next() == 'x' ? neighbour() : number();
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
  bool neighbour() {
    ++at_;
    StencilExpression::Step step{.kind = Kind::neighbour};
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
  std::vector<StencilExpression::Step> steps_;
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

std::byte* element(const Tensor& tensor, std::span<const std::int64_t> index) {
  std::int64_t offset = 0;
  for (std::uint32_t d = 0; d < tensor.view.rank; ++d) offset += index[d] * tensor.view.strides[d];
  // NOLINTNEXTLINE(performance-no-int-to-ptr): host memory by contract
  return reinterpret_cast<std::byte*>(tensor.address) + offset * tmajit::size_of(tensor.view.type);
}

}  // namespace

std::optional<StencilExpression> StencilExpression::parse(std::string_view text) {
  StencilExpression expression;
  if (!StencilParser(text).parse(expression)) return std::nullopt;
  return expression;
}

Scalar StencilExpression::evaluate(const Neighbour& neighbour) const {
  std::vector<Scalar> stack;
  for (const Step& step : steps_) {
    if (step.kind == Step::Kind::number) {
      stack.push_back(step.number);
    } else if (step.kind == Step::Kind::neighbour) {
      stack.push_back(neighbour(step.source, step.offsets));
    } else {
      const Scalar right = stack.back();
      stack.pop_back();
      Scalar& left = stack.back();
      left = step.kind == Step::Kind::add        ? add(left, right)
             : step.kind == Step::Kind::multiply ? multiply(left, right)
                                                 : divide(left, right);
    }
  }
  return stack.back();
}

std::optional<std::int64_t> neighbour_index(std::int64_t at, std::int64_t extent, Boundary boundary) {
  if (at >= 0 && at < extent) return at;
  switch (boundary) {
    case Boundary::clamp: return std::clamp<std::int64_t>(at, 0, extent - 1);
    case Boundary::wrap: return (at % extent + extent) % extent;
    case Boundary::reflect: {
      if (extent == 1) return 0;
      // Step by step from edge to edge.
      while (at < 0 || at >= extent) at = at < 0 ? -at : 2 * (extent - 1) - at;
      return at;
    }
    default: return std::nullopt;
  }
}

void stencil(const Tensor& destination, const StencilExpression& expression, std::span<const Tensor> sources,
             const tmajit::Stencil& stencil) {
  const std::uint32_t rank = destination.view.rank;
  if (element_count(destination.view) == 0) return;
  std::vector<std::int64_t> dims;
  for (const std::int64_t d : stencil.dims) dims.push_back(d < 0 ? d + rank : d);
  for (std::size_t k = dims.size(); stencil.dims.empty() && k < expression.offsets(); ++k)
    dims.push_back(static_cast<std::int64_t>(rank - expression.offsets() + k));

  std::array<std::int64_t, tmajit::max_view_rank> index{};
  const auto neighbour = [&](std::uint32_t i, std::span<const std::int64_t> offsets) {
    const Tensor& source = sources[i];
    auto at = index;
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      const auto d = static_cast<std::size_t>(dims[k]);
      const auto extent = static_cast<std::int64_t>(destination.view.shape[d]);
      const auto found = neighbour_index(index[d] + offsets[k], extent, stencil.boundary);
      if (found) {
        at[d] = *found;
        continue;
      }
      std::array<std::byte, 8> beyond{};
      if (stencil.boundary == Boundary::constant)
        encode(source.view.type, scalar(stencil.value), beyond.data());
      return decode(source.view.type, beyond.data());
    }
    return decode(source.view.type, element(source, at));
  };
  for (;;) {
    encode(destination.view.type, expression.evaluate(neighbour), element(destination, index));
    std::uint32_t d = rank;
    while (d-- > 0 && ++index[d] == static_cast<std::int64_t>(destination.view.shape[d])) index[d] = 0;
    if (d == UINT32_MAX) return;
  }
}

bool computes_in_f32(std::span<const Tensor> sources) {
  return std::ranges::any_of(sources,
                             [](const Tensor& source) { return source.view.type != ElementType::f64; });
}

double sum_tolerance(ElementType type, bool in_f32) {
  constexpr double of_f32 = 1e-5;
  if (!tmajit::is_float(type)) return 0;
  switch (type) {
    case ElementType::f64: return in_f32 ? of_f32 : 1e-13;
    case ElementType::f32:
    case ElementType::f32_ftz: return of_f32;
    case ElementType::tf32:
    case ElementType::tf32_ftz:
    case ElementType::f16: return 1.0 / 512;
    case ElementType::bf16: return 1.0 / 64;
    default: return 1.0 / 4;
  }
}

bool is_close(ElementType type, bool in_f32, const std::byte* a, const std::byte* b) {
  if (same_value(type, a, b)) return true;
  if (!tmajit::is_float(type)) return false;
  const auto value = [type](const std::byte* bytes) {
    return std::visit([](auto v) { return static_cast<double>(v); }, decode(type, bytes));
  };
  const double x = value(a);
  const double y = value(b);
  return std::abs(x - y) <= sum_tolerance(type, in_f32) * std::max({1.0, std::abs(x), std::abs(y)});
}

namespace {

std::optional<StencilExpression> expression_of(const tmajit::Move& move) {
  return StencilExpression::parse(std::get<tmajit::Stencil>(move.body).expression);
}

constexpr OperationReference stencil_reference{
    .compute =
        [](const tmajit::Move& move) {
          stencil(move.destination, expression_of(move).value(), move.sources,
                  std::get<tmajit::Stencil>(move.body));
        },
    .understands = [](const tmajit::Move& move) { return expression_of(move).has_value(); },
    .rounding =
        [](const tmajit::Move& move) {
          return computes_in_f32(move.sources) ? Rounding::in_f32 : Rounding::in_f64;
        }};

}  // namespace

const OperationReference& reference_of(const tmajit::Stencil& /*stencil*/) noexcept {
  return stencil_reference;
}

}  // namespace reference
