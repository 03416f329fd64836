#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace jitc {

/// Where nvdisasm is: $TMAJIT_NVDISASM alone if that is set; else the one found when jitc was built, in
/// $PATH, in $CUDA_HOME/bin or in /usr/local/cuda/bin, whichever comes first.
[[nodiscard]] std::optional<std::filesystem::path> find_nvdisasm();

/// What to do where find_nvdisasm() finds nothing.
[[nodiscard]] std::string nvdisasm_remedy();

/// The SASS of a cubin's code. Throws Error{unavailable} without nvdisasm, Error{io} if it fails.
[[nodiscard]] std::string disassemble(std::span<const std::byte> cubin);

}  // namespace jitc
