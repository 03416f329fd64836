#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace reference {

/// A mathematical function of CUDA and its allowed error: the error in CUDA's guide plus that of the host's
/// own function.
struct MathFunction {
  std::string_view name;
  std::size_t arguments;
  double (*compute)(double a, double b);
  bool in_f32 = false;  ///< returns float for any argument; otherwise float only if all arguments are float
  double units = 0;     ///< error in units in the last place of the result
  double per_argument = 0;  ///< further units, times the argument's magnitude
  double absolute = 0;      ///< absolute error
};

inline double exponential(double a, double /*b*/) {
  return std::exp(a);
}
inline double logarithm(double a, double /*b*/) {
  return std::log(a);
}
inline double root(double a, double /*b*/) {
  return std::sqrt(a);
}
inline double reciprocal_root(double a, double /*b*/) {
  return 1 / std::sqrt(a);
}
inline double hyperbolic_tangent(double a, double /*b*/) {
  return std::tanh(a);
}
inline double magnitude(double a, double /*b*/) {
  return std::fabs(a);
}
inline double nearest_whole(double a, double /*b*/) {
  return std::nearbyint(a);
}
inline double greater(double a, double b) {
  return std::fmax(a, b);
}
inline double lesser(double a, double b) {
  return std::fmin(a, b);
}
inline double quotient(double a, double b) {
  return a / b;
}

inline constexpr std::array functions{MathFunction{"exp", 1, exponential, false, 3},
                                      MathFunction{"expf", 1, exponential, true, 3},
                                      MathFunction{"__expf", 1, exponential, true, 3, 1.2},
                                      MathFunction{"fast_exp", 1, exponential, true, 3, 1.2, 0x1p-126},
                                      MathFunction{"log", 1, logarithm, false, 3},
                                      MathFunction{"logf", 1, logarithm, true, 3},
                                      MathFunction{"__logf", 1, logarithm, true, 4, 0, 0x1p-21},
                                      MathFunction{"sqrt", 1, root},
                                      MathFunction{"sqrtf", 1, root, true},
                                      MathFunction{"rsqrt", 1, reciprocal_root, false, 3},
                                      MathFunction{"rsqrtf", 1, reciprocal_root, true, 3},
                                      MathFunction{"tanh", 1, hyperbolic_tangent, false, 3},
                                      MathFunction{"tanhf", 1, hyperbolic_tangent, true, 3},
                                      MathFunction{"fabs", 1, magnitude},
                                      MathFunction{"fabsf", 1, magnitude, true},
                                      MathFunction{"rint", 1, nearest_whole},
                                      MathFunction{"rintf", 1, nearest_whole, true},
                                      MathFunction{"fmax", 2, greater},
                                      MathFunction{"fmaxf", 2, greater, true},
                                      MathFunction{"fmin", 2, lesser},
                                      MathFunction{"fminf", 2, lesser, true},
                                      MathFunction{"__fdividef", 2, quotient, true, 3}};

}  // namespace reference
