#pragma once

#include "launch_description.hpp"

#include <tmajit/own_kernel.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace jitc {

/// What the options say of a kernel from a file of CUDA C++.
struct OwnOptions {
  std::vector<std::string> include;
  std::vector<std::string> constants;  ///< "stages=4"
  std::string entry;
  std::string launch;  ///< file
};

inline constexpr auto own_group = "Kernel of your own";
/// Adds them, but for --launch, to `command`. `values` must outlive the parse.
void add_own_options(CLI::App& command, OwnOptions& values);
/// --launch FILE
void add_launch_option(CLI::App& command, OwnOptions& values);

/// Whether an OPERATION is a file of CUDA C++: it ends with ".cu".
[[nodiscard]] bool is_own_kernel(std::string_view word);
/// Throws Error{invalid_argument} for an option of operations beside a file, or of files beside an operation.
void check_own_usage(const CLI::App& command, std::string_view word, bool ptx = false);

/// A kernel's file, and its launch if one is described.
struct OwnFile {
  tmajit::OwnKernel kernel;
  std::optional<LaunchDescription> launch;
  std::filesystem::path launch_folder;
};

/// Reads both. Headers are looked for beside the file, in -I, in "include" of the launch, and where CUDA's
/// own are. Throws what the parts throw.
[[nodiscard]] OwnFile read_own_kernel(const std::string& path, const OwnOptions& options);

/// A kernel's name in PTX as its author wrote it: "scale<3, float>(float*)".
[[nodiscard]] std::string shown_entry(const std::string& symbol);

}  // namespace jitc
