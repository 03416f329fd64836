#pragma once

#include <tmajit/compile.hpp>

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace tests {

/// Compile options for the simulated device, which reads only PTX. They skip ptxas, which takes two fifths of
/// a compile. The PTX equals that of the real architecture, as tests/compile/compile_test.cpp checks.
inline const tmajit::CompileOptions ptx_alone{.arch = "compute_90a"};
/// The same without the lines of the source, for tests that compare results and no reports. Compiling a large
/// kernel and parsing its PTX takes a fifth less time.
inline const tmajit::CompileOptions ptx_without_lines{.arch = "compute_90a", .line_info = false};

/// The folder in which the test cases of one ctest run share compiled kernels. It saves test_ops a quarter of
/// its compiles. ctest sets the folder and empties it first (tests/CMakeLists.txt); without ctest there is
/// none.
[[nodiscard]] inline std::optional<std::filesystem::path> shared_kernels() {
  const char* const folder = std::getenv("TMAJIT_TEST_KERNELS");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  return folder;
}

}  // namespace tests
