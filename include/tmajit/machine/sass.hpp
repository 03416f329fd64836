#pragma once

#include <tmajit/version.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

TMAJIT_BEGIN

/// Where nvdisasm is: $TMAJIT_NVDISASM alone if that is set; else the one found when tmajit was built, in
/// $PATH, in $CUDA_HOME/bin or in /usr/local/cuda/bin, whichever comes first.
[[nodiscard]] TMAJIT_API std::optional<std::filesystem::path> find_nvdisasm();

/// The advice for a user when find_nvdisasm() finds nothing.
[[nodiscard]] TMAJIT_API std::string nvdisasm_remedy();

/// The SASS of a cubin's code. Throws Error{unavailable} without nvdisasm, Error{io} if it fails.
[[nodiscard]] TMAJIT_API std::string disassemble(std::span<const std::byte> cubin);

TMAJIT_END
