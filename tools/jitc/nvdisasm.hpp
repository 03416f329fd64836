#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace jitc {

/// Where nvdisasm is looked for, in this order: $TMAJIT_NVDISASM, the one found when jitc was built, $PATH,
/// $CUDA_HOME/bin, /usr/local/cuda/bin.
[[nodiscard]] std::vector<std::filesystem::path> nvdisasm_candidates();
[[nodiscard]] std::optional<std::filesystem::path> find_nvdisasm();

/// What to do where find_nvdisasm() finds nothing.
[[nodiscard]] std::string nvdisasm_remedy();

/// The SASS of a cubin's code. Throws Error{unavailable} without nvdisasm, Error{io} if it fails.
[[nodiscard]] std::string disassemble(std::span<const std::byte> cubin);

}  // namespace jitc
