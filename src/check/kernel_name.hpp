#pragma once

/// Kernels' names as reports show them.
#include <tmajit/version.hpp>

#include <string>
#include <string_view>

TMAJIT_BEGIN
namespace check {

/// The name of a symbol as its source has it: "scale<3, float>(float*)". Of one that would fill a page the
/// arguments are left out: "gemm<…>". A symbol that is not mangled stays as it is.
[[nodiscard]] std::string shown_name(std::string_view symbol);

}  // namespace check
TMAJIT_END
