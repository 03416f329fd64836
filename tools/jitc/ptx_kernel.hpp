#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitc {

/// A parameter as a PTX entry declares it.
struct PtxParameter {
  std::string declaration;  ///< ".param .u64 out"
  std::uint64_t bytes = 0;
};

/// A kernel of a PTX module.
struct PtxKernel {
  std::string name;
  std::vector<PtxParameter> parameters;
};

/// Every kernel that the module defines, in order. Throws Error{invalid_argument} that shows the lines that
/// do not parse, named `file`.
[[nodiscard]] std::vector<PtxKernel> kernels_of(std::string_view ptx, std::string_view file);

}  // namespace jitc
