#pragma once

#include <tmajit/runtime.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace jitc {

/// What the options say of an operation, as they were typed; problem.hpp makes sense of them.
struct ProblemOptions {
  std::string word;  ///< an operation or a family: "permute", "bulk"

  // Tensors.
  std::vector<std::filesystem::path> in = {};  ///< .npy files
  std::vector<std::string> dtypes = {};
  std::string out_dtype = {};
  std::string shape = {};
  std::vector<std::string> strides = {};  ///< one for all inputs, or one an input
  std::string out_strides = {};
  std::uint64_t offset = 0;
  std::uint64_t out_offset = 0;
  std::optional<std::uint32_t> inputs = {};  ///< default: as many as the files, or as the expression reads
  std::string expression = {};
  std::filesystem::path into = {};  ///< of reduce_into: what the output holds before
  std::string op = {};              ///< of reduce and reduce_into
  std::string then = {};            ///< likewise

  // Views.
  std::string slice = {};
  std::string flip = {};
  std::string axes = {};
  std::string broadcast = {};
  std::string pad = {};
  double pad_value = 0;
  std::string axis = {};
  std::string parts = {};

  // Stencils.
  std::string boundary = {};
  double boundary_value = 0;
  std::string dims = {};

  // Windows.
  std::string filter = {};
  std::string step = {};
  std::string dilation = {};
  std::optional<std::uint64_t> outputs = {};

  // Tiles and pipeline; empty where nothing was said.
  std::string box = {};
  std::string element_strides = {};
  std::string swizzle = {};
  std::string interleave = {};
  std::string l2 = {};
  std::string oob = {};
  std::optional<std::uint32_t> stages = {};
  std::optional<std::uint32_t> output_stages = {};
  std::optional<std::uint32_t> warps = {};
  std::optional<std::uint32_t> ctas_per_sm = {};
  std::optional<std::uint32_t> tiles_per_cta = {};

  /// The first option that was given and chooses a tile ("--box"), or that asks for a view ("--axes"); or
  /// empty.
  [[nodiscard]] std::string_view tile_option() const;
  [[nodiscard]] std::string_view view_option() const;
};

/// How kernels are compiled and where they are kept.
struct CompilerOptions {
  std::string arch = "sm_90a";
  bool line_info = true;
  std::string cache_directory;
  bool no_cache = false;
};

/// Groups of options in help texts that commands add to.
inline constexpr auto tensors_group = "Tensors";
inline constexpr auto views_group = "Views";

/// Adds OPERATION and the options of ProblemOptions to `command`. `values` must outlive the parse.
void add_problem_options(CLI::App& command, ProblemOptions& values);
void add_compiler_options(CLI::App& command, CompilerOptions& values);

/// The folder that an option names, or the default one where it is empty. Throws Error{io} if there is none.
[[nodiscard]] std::filesystem::path cache_folder(const std::string& directory);
/// A runtime that compiles and caches as the options say. Throws Error{io} if no default cache folder can be
/// used.
[[nodiscard]] tmajit::RuntimeOptions runtime_options(const CompilerOptions& options);

}  // namespace jitc
