#pragma once

#include "ptx_kernels.hpp"

#include <string>
#include <string_view>

namespace jitc {

/// A first description of a launch of a kernel of a PTX module, from what the kernel declares and does with
/// its parameters. What that does not say are strings that begin with a question mark, which parse_launch()
/// refuses; notes say what was seen. Throws as choose_kernel() does.
[[nodiscard]] Json first_launch(std::string_view ptx, std::string_view file, const std::string& entry);

}  // namespace jitc
