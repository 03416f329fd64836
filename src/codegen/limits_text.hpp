#pragma once

#include <tmajit/version.hpp>

#include <span>
#include <string>
#include <string_view>

TMAJIT_BEGIN

// NVRTC has no headers of the C and C++ libraries. These texts replace the parts of <limits>, <climits>,
// <cfloat> and <cmath>'s constants that kernels and expressions use.

/// Definitions of `numeric_limits` for the arithmetic types, which the caller puts into a namespace `std`.
[[nodiscard]] std::string_view numeric_limits_text() noexcept;

/// A constant of the C library.
struct LimitMacro {
  std::string_view header;  ///< "float.h"
  std::string_view name;    ///< "FLT_MAX"
  std::string_view value;
};
[[nodiscard]] std::span<const LimitMacro> limit_macros() noexcept;
/// The lines that define the macro unless it is defined already.
[[nodiscard]] std::string definition(const LimitMacro& macro);
/// The text of a header: the definitions of all its macros.
[[nodiscard]] std::string macro_header(std::string_view header);

TMAJIT_END
