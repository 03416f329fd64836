#pragma once

#include "launch_description.hpp"

#include <array>
#include <cstdint>
#include <optional>
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
  using Extent = std::array<std::uint64_t, 3>;
  std::string name;
  std::vector<PtxParameter> parameters;
  std::optional<Extent> block;       ///< .reqntid
  std::optional<Extent> most_block;  ///< .maxntid: as many threads at most
  std::optional<Extent> cluster;     ///< .reqnctapercluster
  bool needs_cluster = false;        ///< .explicitcluster without it
};

/// Every kernel that the module defines, in order. Throws Error{invalid_argument} that shows the lines that
/// do not parse, named `file`.
[[nodiscard]] std::vector<PtxKernel> kernels_of(std::string_view ptx, std::string_view file);

/// The kernel that `words` mean: its symbol, its name as its author wrote it, or any part of that which no
/// other kernel's has; empty words mean the only one. Throws Error{invalid_argument} with the candidates and
/// `path`, of the launch that names it.
[[nodiscard]] const PtxKernel& choose_kernel(const std::vector<PtxKernel>& kernels, const std::string& words,
                                             const std::string& path = "$");

/// The kernel of `kernels` that a launch means, with parameters that fit it one by one, and a block,
/// grid and cluster that it can be launched with. Throws Error{invalid_argument} that names every place in
/// the description that does not fit, and what the PTX declares.
[[nodiscard]] const PtxKernel& match_kernel(const KernelLaunch& launch,
                                            const std::vector<PtxKernel>& kernels);

}  // namespace jitc
