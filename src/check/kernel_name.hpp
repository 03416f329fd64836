#pragma once

/// Kernels' names as reports show them.
#include <tmajit/version.hpp>

#include <string>
#include <string_view>

TMAJIT_BEGIN
namespace check {

/// The name of a symbol as its source has it: "scale<3, float>(float*)". A symbol that is not mangled stays
/// as it is.
[[nodiscard]] std::string full_name(std::string_view symbol);
/// The same without its arguments where they would fill a page: "gemm<…>".
[[nodiscard]] std::string shown_name(std::string_view symbol);

}  // namespace check
TMAJIT_END
