#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

namespace reference {

/// A mathematical function of CUDA and its allowed error: the error in CUDA's guide plus that of the host's
/// own function.
struct Function {
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

inline constexpr std::array functions{Function{"exp", 1, exponential, false, 3},
                                      Function{"expf", 1, exponential, true, 3},
                                      Function{"__expf", 1, exponential, true, 3, 1.2},
                                      Function{"log", 1, logarithm, false, 3},
                                      Function{"logf", 1, logarithm, true, 3},
                                      Function{"__logf", 1, logarithm, true, 4, 0, 0x1p-21},
                                      Function{"sqrt", 1, root},
                                      Function{"sqrtf", 1, root, true},
                                      Function{"rsqrt", 1, reciprocal_root, false, 3},
                                      Function{"rsqrtf", 1, reciprocal_root, true, 3},
                                      Function{"tanh", 1, hyperbolic_tangent, false, 3},
                                      Function{"tanhf", 1, hyperbolic_tangent, true, 3},
                                      Function{"fabs", 1, magnitude},
                                      Function{"fabsf", 1, magnitude, true},
                                      Function{"rint", 1, nearest_whole},
                                      Function{"rintf", 1, nearest_whole, true},
                                      Function{"fmax", 2, greater},
                                      Function{"fmaxf", 2, greater, true},
                                      Function{"fmin", 2, lesser},
                                      Function{"fminf", 2, lesser, true},
                                      Function{"__fdividef", 2, quotient, true, 3}};

}  // namespace reference
