#pragma once

/// Kernels' names as reports show them.
#include <tmajit/version.hpp>

#include <string>
#include <string_view>

TMAJIT_BEGIN
namespace check {

/// The demangled name of a symbol: "scale<3, float>(float*)". A symbol that is not mangled is returned
/// unchanged.
[[nodiscard]] std::string full_name(std::string_view symbol);
/// The same, without template and function arguments if it is long: "gemm<…>".
[[nodiscard]] std::string shown_name(std::string_view symbol);

}  // namespace check
TMAJIT_END
