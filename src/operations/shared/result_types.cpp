#include "operations/shared/result_types.hpp"

#include <algorithm>
#include <optional>

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Regex.h>

TMAJIT_BEGIN
namespace {

using enum ElementType;

bool is_signed(ElementType type) noexcept {
  return type == i8 || type == i16 || type == i32 || type == i64;
}

ElementType signed_of(std::uint32_t bytes) noexcept {
  switch (bytes) {
    case 1: return i8;
    case 2: return i16;
    case 4: return i32;
    default: return i64;
  }
}

ElementType promoted_integers(ElementType a, ElementType b) noexcept {
  if (is_signed(a) == is_signed(b)) return size_of(a) >= size_of(b) ? a : b;
  const std::uint32_t signed_bytes = size_of(is_signed(a) ? a : b);
  const std::uint32_t unsigned_bytes = size_of(is_signed(a) ? b : a);
  if (signed_bytes > unsigned_bytes) return signed_of(signed_bytes);
  return unsigned_bytes == 8 ? f64 : signed_of(2 * unsigned_bytes);
}

/// The promoted type of two different floating-point types.
ElementType promoted_floats(ElementType a, ElementType b) noexcept {
  if (size_of(a) == size_of(b)) return size_of(a) == 8 ? f64 : f32;
  return size_of(a) > size_of(b) ? a : b;
}

ElementType promoted_float_and_integer(ElementType floating, ElementType integer) noexcept {
  if (size_of(integer) >= 4) return f64;
  if (size_of(floating) > size_of(integer)) return floating;
  return f32;
}

/// The promoted type of an expression's floating-point numbers, functions and casts; nullopt if it has none.
std::optional<ElementType> floating_part(std::string_view expression) {
  static constexpr const char* number =
      "(^|[^A-Za-z0-9_.])([0-9]+\\.[0-9]*([eE][-+]?[0-9]+)?|\\.[0-9]+([eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+"
      ")([fF]?)";
  // The CUDA Math API's functions of floating point that return floating point.
  static constexpr const char* function =
      "(^|[^A-Za-z0-9_])(__)?(exp|exp2|exp10|expm1|log|log2|log10|log1p|logb|sqrt|rsqrt|cbrt|rcbrt|"
      "sin|cos|tan|asin|acos|atan|atan2|sinpi|cospi|sinh|cosh|tanh|asinh|acosh|atanh|"
      "erf|erfc|erfcx|erfinv|erfcinv|normcdf|normcdfinv|lgamma|tgamma|j0|j1|jn|y0|y1|yn|cyl_bessel_i[01]|"
      "pow|fdivide|fabs|fmax|fmin|fdim|fma|fmod|remainder|hypot|rhypot|norm3d|norm4d|rnorm3d|rnorm4d|"
      "floor|ceil|round|rint|nearbyint|trunc|copysign|nextafter|ldexp|scalbn|scalbln|saturate)"
      "(f?) *\\(";
  static constexpr const char* cast =
      "(^|[^A-Za-z0-9_])(float|double|as_(f64|f32|tf32|f16|bf16|e4m3|e5m2))([^A-Za-z0-9_]|$)";
  std::optional<ElementType> found;
  const auto search = [&](const char* pattern, auto is_f32) {
    const llvm::Regex regex(pattern);
    llvm::SmallVector<llvm::StringRef> parts;
    for (llvm::StringRef rest(expression); regex.match(rest, &parts);) {
      const ElementType type = is_f32(parts) ? f32 : f64;
      found = found ? promoted(*found, type) : type;
      rest = rest.drop_front(static_cast<std::size_t>(parts[0].end() - rest.begin()));
    }
  };
  search(number, [](const auto& parts) { return !parts.back().empty(); });
  search(function, [](const auto& parts) { return !parts.back().empty(); });
  search(cast, [](const auto& parts) { return parts[2] != "double" && parts[2] != "as_f64"; });
  return found;
}

}  // namespace

ElementType promoted(ElementType a, ElementType b) noexcept {
  if (a == b) return a;
  if (is_float(a) && is_float(b)) return promoted_floats(a, b);
  if (is_float(a)) return promoted_float_and_integer(a, b);
  if (is_float(b)) return promoted_float_and_integer(b, a);
  return promoted_integers(a, b);
}

ElementType value_type(std::string_view expression, std::span<const TensorView> sources) {
  // As in PyTorch, a number changes no floating-point type, and gives its own type to integers if it is
  // floating.
  std::optional<ElementType> tensors;
  std::optional<ElementType> numbers;
  for (const TensorView& source : sources) {
    std::optional<ElementType>& type = source.is_number ? numbers : tensors;
    type = type ? promoted(*type, source.type) : source.type;
  }
  if (!tensors) return numbers.value_or(f32);
  ElementType type = *tensors;
  if (is_float(type)) return type;
  if (numbers) type = is_float(*numbers) ? *numbers : promoted(type, *numbers);
  if (is_float(type)) return type;
  const std::optional<ElementType> floating = floating_part(expression);
  return floating ? promoted(*floating, type) : type;
}

ElementType sum_type(ElementType type) noexcept {
  if (!is_float(type)) return is_signed(type) ? i64 : u64;
  return size_of(type) == 1 ? f32 : type;
}

ElementType mean_type(ElementType type) noexcept {
  return is_float(type) ? sum_type(type) : f64;
}

ElementType reduced_type(ReductionOp op, ElementType value) noexcept {
  switch (op) {
    case ReductionOp::sum: return sum_type(value);
    case ReductionOp::mean: return mean_type(value);
    case ReductionOp::arg_min:
    case ReductionOp::arg_max: return i64;
    case ReductionOp::any:
    case ReductionOp::all: return u8;
    default: return value;
  }
}

TMAJIT_END
