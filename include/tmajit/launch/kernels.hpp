#pragma once

#include <tmajit/launch/description.hpp>
#include <tmajit/runtime.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

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
  std::optional<Extent> block;      ///< .reqntid
  std::optional<Extent> max_block;  ///< .maxntid, whose product is the largest number of threads
  std::optional<Extent> cluster;    ///< .reqnctapercluster
  bool needs_cluster = false;       ///< .explicitcluster without .reqnctapercluster
};

/// Every kernel that the module defines, in order. Throws Error{invalid_argument} that shows the lines that
/// do not parse, under the name `file`.
[[nodiscard]] TMAJIT_API std::vector<PtxKernel> kernels_of(std::string_view ptx, std::string_view file);

/// The kernel that `words` name: by its symbol, by its name as its author wrote it, or by any part of that
/// name that no other kernel's name has. Empty words name the only kernel. Throws Error{invalid_argument}
/// with the candidates; the message begins with `path`, the place of the launch.
[[nodiscard]] TMAJIT_API const PtxKernel& choose_kernel(const std::vector<PtxKernel>& kernels,
                                                        const std::string& words,
                                                        const std::string& path = "$");

/// Finds the kernel that a launch names, and checks the launch's parameters, block, grid and cluster against
/// it. Throws Error{invalid_argument} that names each place in the description that does not fit, and what
/// the PTX declares.
[[nodiscard]] TMAJIT_API const PtxKernel& match_kernel(const KernelLaunch& launch,
                                                       const std::vector<PtxKernel>& kernels);

/// Compiles the kernel of a file, for its launch if it has one. Throws what source() and Runtime::kernel()
/// throw. Where NVRTC cannot compile a file because of its host code or host headers, the CompileError says
/// how to make its PTX by nvcc.
[[nodiscard]] TMAJIT_API Kernel compile_kernel_file(const Runtime& runtime, const KernelFile& file);

/// A draft of a launch file, as JSON, for a kernel of a PTX module. It follows from the kernel's declarations
/// and from its use of the parameters. A value that the PTX does not determine is a string that begins with a
/// question mark, which parse_launch() refuses; notes say what the PTX shows. Throws as choose_kernel() does.
[[nodiscard]] TMAJIT_API std::string first_launch(std::string_view ptx, std::string_view file,
                                                  const std::string& entry);

TMAJIT_END
