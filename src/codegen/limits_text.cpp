#include "codegen/limits_text.hpp"

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::string_view limits = R"(template <class T>
struct numeric_limits {
  static constexpr bool is_specialized = false;
};

template <class T>
struct integer_limits {
  static constexpr bool is_specialized = true, is_integer = true, is_exact = true, is_bounded = true;
  static constexpr bool is_signed = T(-1) < T(0), is_modulo = !is_signed;
  static constexpr bool has_infinity = false, has_quiet_NaN = false, is_iec559 = false;
  static constexpr int radix = 2, digits = int(sizeof(T)) * 8 - is_signed, digits10 = digits * 3010 / 10000;
  __host__ __device__ static constexpr T max() noexcept { return T(~0ull >> (64 - digits)); }
  __host__ __device__ static constexpr T min() noexcept { return is_signed ? T(-max() - 1) : T(0); }
  __host__ __device__ static constexpr T lowest() noexcept { return min(); }
  __host__ __device__ static constexpr T epsilon() noexcept { return T(0); }
};
template <> struct numeric_limits<char> : integer_limits<char> {};
template <> struct numeric_limits<signed char> : integer_limits<signed char> {};
template <> struct numeric_limits<unsigned char> : integer_limits<unsigned char> {};
template <> struct numeric_limits<short> : integer_limits<short> {};
template <> struct numeric_limits<unsigned short> : integer_limits<unsigned short> {};
template <> struct numeric_limits<int> : integer_limits<int> {};
template <> struct numeric_limits<unsigned int> : integer_limits<unsigned int> {};
template <> struct numeric_limits<long> : integer_limits<long> {};
template <> struct numeric_limits<unsigned long> : integer_limits<unsigned long> {};
template <> struct numeric_limits<long long> : integer_limits<long long> {};
template <> struct numeric_limits<unsigned long long> : integer_limits<unsigned long long> {};
template <> struct numeric_limits<bool> : integer_limits<bool> {
  static constexpr bool is_modulo = false;
  static constexpr int digits = 1, digits10 = 0;
  __host__ __device__ static constexpr bool max() noexcept { return true; }
};

struct floating_limits {
  static constexpr bool is_specialized = true, is_integer = false, is_exact = false, is_bounded = true;
  static constexpr bool is_signed = true, is_modulo = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true, is_iec559 = true;
  static constexpr int radix = 2;
};
template <> struct numeric_limits<float> : floating_limits {
  static constexpr int digits = 24, digits10 = 6, max_digits10 = 9;
  static constexpr int min_exponent = -125, max_exponent = 128;
  __host__ __device__ static constexpr float max() noexcept { return 3.40282346638528859811704183484516925e+38f; }
  __host__ __device__ static constexpr float min() noexcept { return 1.17549435082228750796873653722224568e-38f; }
  __host__ __device__ static constexpr float lowest() noexcept { return -max(); }
  __host__ __device__ static constexpr float epsilon() noexcept { return 1.1920928955078125e-7f; }
  __host__ __device__ static constexpr float denorm_min() noexcept { return 1.40129846432481707092e-45f; }
  __host__ __device__ static constexpr float infinity() noexcept { return __builtin_bit_cast(float, 0x7f800000); }
  __host__ __device__ static constexpr float quiet_NaN() noexcept { return __builtin_bit_cast(float, 0x7fc00000); }
};
template <> struct numeric_limits<double> : floating_limits {
  static constexpr int digits = 53, digits10 = 15, max_digits10 = 17;
  static constexpr int min_exponent = -1021, max_exponent = 1024;
  __host__ __device__ static constexpr double max() noexcept { return 1.7976931348623157e+308; }
  __host__ __device__ static constexpr double min() noexcept { return 2.2250738585072014e-308; }
  __host__ __device__ static constexpr double lowest() noexcept { return -max(); }
  __host__ __device__ static constexpr double epsilon() noexcept { return 2.2204460492503131e-16; }
  __host__ __device__ static constexpr double denorm_min() noexcept { return 4.9406564584124654e-324; }
  __host__ __device__ static constexpr double infinity() noexcept { return __builtin_bit_cast(double, 0x7ff0000000000000ll); }
  __host__ __device__ static constexpr double quiet_NaN() noexcept { return __builtin_bit_cast(double, 0x7ff8000000000000ll); }
};
)";

constexpr LimitMacro macros[] = {
    {"math.h", "INFINITY", "__int_as_float(0x7f800000)"},
    {"math.h", "NAN", "__int_as_float(0x7fffffff)"},
    {"math.h", "HUGE_VALF", "__int_as_float(0x7f800000)"},
    {"math.h", "HUGE_VAL", "__longlong_as_double(0x7ff0000000000000ll)"},
    {"math.h", "M_E", "2.7182818284590452354"},
    {"math.h", "M_PI", "3.14159265358979323846"},
    {"math.h", "M_PI_2", "1.57079632679489661923"},
    {"math.h", "M_LN2", "0.69314718055994530942"},
    {"math.h", "M_LN10", "2.30258509299404568402"},
    {"math.h", "M_LOG2E", "1.4426950408889634074"},
    {"math.h", "M_SQRT2", "1.41421356237309504880"},
    {"math.h", "M_SQRT1_2", "0.70710678118654752440"},
    {"float.h", "FLT_MAX", "3.402823466385288598e+38f"},
    {"float.h", "FLT_MIN", "1.175494350822287508e-38f"},
    {"float.h", "FLT_EPSILON", "1.1920928955078125e-7f"},
    {"float.h", "FLT_DIG", "6"},
    {"float.h", "FLT_MANT_DIG", "24"},
    {"float.h", "DBL_MAX", "1.7976931348623157e+308"},
    {"float.h", "DBL_MIN", "2.2250738585072014e-308"},
    {"float.h", "DBL_EPSILON", "2.2204460492503131e-16"},
    {"float.h", "DBL_DIG", "15"},
    {"float.h", "DBL_MANT_DIG", "53"},
    {"limits.h", "CHAR_BIT", "8"},
    {"limits.h", "SCHAR_MIN", "(-128)"},
    {"limits.h", "SCHAR_MAX", "127"},
    {"limits.h", "UCHAR_MAX", "255"},
    {"limits.h", "SHRT_MIN", "(-32768)"},
    {"limits.h", "SHRT_MAX", "32767"},
    {"limits.h", "USHRT_MAX", "65535"},
    {"limits.h", "INT_MIN", "(-2147483647 - 1)"},
    {"limits.h", "INT_MAX", "2147483647"},
    {"limits.h", "UINT_MAX", "4294967295u"},
    {"limits.h", "LLONG_MIN", "(-9223372036854775807ll - 1)"},
    {"limits.h", "LLONG_MAX", "9223372036854775807ll"},
    {"limits.h", "ULLONG_MAX", "18446744073709551615ull"},
};

}  // namespace

std::string_view numeric_limits_text() noexcept {
  return limits;
}

std::span<const LimitMacro> limit_macros() noexcept {
  return macros;
}

std::string definition(const LimitMacro& macro) {
  return fmt::format("\n#ifndef {0}\n#define {0} {1}\n#endif", macro.name, macro.value);
}

std::string macro_header(std::string_view header) {
  std::string text = "#pragma once";
  for (const LimitMacro& macro : macros) {
    if (macro.header == header) text += definition(macro);
  }
  return text + '\n';
}

TMAJIT_END
