#pragma once

#include <tmajit/compile.hpp>

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace tests {

/// Compile options for the simulated device, without ptxas: the device reads PTX alone, and ptxas takes two
/// fifths of a compile. The PTX is that of the real architecture (tests/compile/compile_test.cpp).
inline const tmajit::CompileOptions ptx_alone{.arch = "compute_90a"};

/// The folder in which the cases of one ctest run share kernels: other cases have compiled a quarter of those
/// of test_ops. ctest names the folder and empties it first (tests/CMakeLists.txt). A program that runs by
/// itself keeps nothing.
[[nodiscard]] inline std::optional<std::filesystem::path> shared_kernels() {
  const char* const folder = std::getenv("TMAJIT_TEST_KERNELS");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  return folder;
}

}  // namespace tests
