#pragma once

#include <tmajit/launch/description.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace jitc {

/// Options of a kernel from a file of CUDA C++.
struct OwnOptions {
  std::vector<std::string> include;
  std::vector<std::string> constants;  ///< "stages=4"
  std::string entry;
  std::string launch;  ///< file
};

inline constexpr auto own_group = "Kernel of your own";
/// Adds these options to `command`, except --launch. `values` must outlive the parse.
void add_own_options(CLI::App& command, OwnOptions& values);
/// Adds --launch.
void add_launch_option(CLI::App& command, OwnOptions& values);

/// Whether an OPERATION is a file of CUDA C++: it ends with ".cu".
[[nodiscard]] bool is_own_kernel(std::string_view word);
/// Throws Error{invalid_argument} for an option of operations given with a file, or of files given with an
/// operation. With `may_be_ptx`, `word` may also be a file of PTX, for which --entry is legal.
void check_own_usage(const CLI::App& command, std::string_view word, bool may_be_ptx = false);

/// Calls tmajit::read_kernel_file() with the options.
[[nodiscard]] tmajit::KernelFile read_own_kernel(const std::string& path, const OwnOptions& options);

}  // namespace jitc
