#pragma once

#include <tmajit/version.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

TMAJIT_BEGIN

/// The path of nvdisasm. If $TMAJIT_NVDISASM is set, only that path counts. Otherwise: the first of the path
/// found when tmajit was built, $PATH, $CUDA_HOME/bin and /usr/local/cuda/bin.
[[nodiscard]] TMAJIT_API std::optional<std::filesystem::path> find_nvdisasm();

/// The advice for a user when find_nvdisasm() finds nothing.
[[nodiscard]] TMAJIT_API std::string nvdisasm_remedy();

/// The SASS of a cubin's code. Throws Error{unavailable} without nvdisasm, Error{io} if it fails.
[[nodiscard]] TMAJIT_API std::string disassemble(std::span<const std::byte> cubin);

TMAJIT_END
