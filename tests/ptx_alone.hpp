#pragma once

#include <tmajit/compile.hpp>

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace tests {

/// How kernels for the simulated device are compiled: it reads PTX alone, and ptxas takes two fifths of a
/// compile. The PTX is that of the real architecture (tests/compile/compile_test.cpp).
inline const tmajit::CompileOptions ptx_alone{.arch = "compute_90a"};

/// Where the cases of one ctest run share kernels: a quarter of those that test_ops compiles another case has
/// compiled. ctest names the folder and empties it first (tests/CMakeLists.txt); a program that is run by
/// itself keeps nothing.
[[nodiscard]] inline std::optional<std::filesystem::path> shared_kernels() {
  const char* const folder = std::getenv("TMAJIT_TEST_KERNELS");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  return folder;
}

}  // namespace tests
