#pragma once

#include <tmajit/version.hpp>

#include <span>
#include <string>
#include <string_view>

TMAJIT_BEGIN

// NVRTC has no headers of the C and C++ libraries. Here is what kernels and expressions use of <limits>,
// <climits>, <cfloat> and of <cmath>'s constants.

/// `numeric_limits` of the arithmetic types, to stand in a namespace `std`.
[[nodiscard]] std::string_view numeric_limits_text() noexcept;

/// A constant of the C library.
struct LimitMacro {
  std::string_view header;  ///< "float.h"
  std::string_view name;    ///< "FLT_MAX"
  std::string_view value;
};
[[nodiscard]] std::span<const LimitMacro> limit_macros() noexcept;
/// Its definition, where it has none yet, in lines of their own.
[[nodiscard]] std::string definition(const LimitMacro& macro);
/// The definitions of all of a header's, as the header.
[[nodiscard]] std::string macro_header(std::string_view header);

TMAJIT_END
