#pragma once

#include <tmajit/runtime.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace jitc {

/// Options of an operation, as they were typed; problem.hpp interprets them.
struct ProblemOptions {
  std::string word;  ///< an operation or a family: "permute", "bulk"

  // Tensors.
  std::vector<std::filesystem::path> in = {};  ///< .npy files
  std::vector<std::string> dtypes = {};
  std::string out_dtype = {};
  std::string shape = {};
  std::vector<std::string> numbers = {};
  std::vector<std::string> strides = {};  ///< one for all inputs, or one per input
  std::string out_strides = {};
  std::uint64_t offset = 0;
  std::uint64_t out_offset = 0;
  std::optional<std::uint32_t> inputs = {};   ///< default: as many as the files, or as the expression reads
  std::filesystem::path into = {};            ///< previous content of an output that is read
  std::string index_shape = {};               ///< of made-up index tensors
  std::optional<std::uint64_t> outputs = {};  ///< outputs of a convolution's filter, if no file gives it

  /// Arguments of operations as texts, by option: "--axes" -> "0,2,1,3". Arguments that are not given are
  /// empty.
  std::map<std::string, std::string, std::less<>> arguments = {};
  [[nodiscard]] const std::string& argument(std::string_view option) const;
};

/// The names of all element types.
[[nodiscard]] std::vector<std::string_view> element_types();

/// Options of compiling and caching kernels.
struct CompilerOptions {
  std::string arch = "sm_90a";
  bool line_info = true;
  std::string cache_directory;
  bool no_cache = false;
};

/// Groups of options in help texts that commands add to.
inline constexpr auto tensors_group = "Tensors";
inline constexpr auto views_group = "Views";
inline constexpr auto arguments_group = "Arguments of operations";
inline constexpr auto chain_group = "Chains";
inline constexpr auto tiles_group = "Tiles of your choice";

/// Adds OPERATION and the options of ProblemOptions to `command`. `values` must outlive the parse.
void add_problem_options(CLI::App& command, ProblemOptions& values);
void add_compiler_options(CLI::App& command, CompilerOptions& values);

/// The folder that an option names, or the default one where it is empty. Throws Error{io} if there is none.
[[nodiscard]] std::filesystem::path cache_folder(const std::string& directory);
/// A runtime that compiles and caches as the options say. Throws Error{io} if no default cache folder can be
/// used.
[[nodiscard]] tmajit::RuntimeOptions runtime_options(const CompilerOptions& options);

}  // namespace jitc
