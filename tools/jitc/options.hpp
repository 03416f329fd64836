#pragma once

#include <tmajit/kernel_spec.hpp>
#include <tmajit/runtime.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace jitc {

/// What the options say of a kernel, as they were typed; problem.hpp makes sense of them.
struct KernelOptions {
  std::string family;
  std::vector<std::filesystem::path> in;  ///< .npy files
  std::vector<std::string> dtypes;
  std::string out_dtype;
  std::string shape;
  std::vector<std::string> strides;  ///< one for all inputs, or one an input
  std::string out_strides;
  std::string box;
  std::string element_strides;
  std::string swizzle = "none";
  std::string interleave = "none";
  std::string l2 = "256B";
  std::string oob = "zero";
  std::string expression;
  std::uint32_t inputs = 0;  ///< 0: as many as the files, or as the expression reads
  std::uint32_t stages = 0;
  std::uint32_t output_stages = 0;
  std::uint32_t warps = 0;
  std::uint32_t ctas_per_sm = 0;
  std::optional<std::uint32_t> tiles_per_cta;
};

/// How kernels are compiled and where they are kept.
struct CompilerOptions {
  std::string arch = "sm_90a";
  bool line_info = true;
  std::string cache_directory;
  bool no_cache = false;
};

/// Groups of options in help texts; those of tiles and pipelines are the families' alone.
inline constexpr auto tensors_group = "Tensors";
inline constexpr auto tiles_group = "Tiles";
inline constexpr auto pipeline_group = "Pipeline";

/// Adds FAMILY and the options of KernelOptions to `command`. `values` must outlive the parse.
void add_kernel_options(CLI::App& command, KernelOptions& values);
/// Only those that say what the tensors are and what is computed: the group of tensors.
void add_tensor_options(CLI::App& command, KernelOptions& values);
void add_compiler_options(CLI::App& command, CompilerOptions& values);

/// A runtime that compiles and caches as the options say. Throws Error{io} if no default cache folder can be
/// used.
[[nodiscard]] tmajit::RuntimeOptions runtime_options(const CompilerOptions& options);

}  // namespace jitc
