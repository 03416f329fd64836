#pragma once

#include <tmajit/version.hpp>

#include <string_view>

TMAJIT_BEGIN
namespace cudart {

/// Whether this function of CUDA is not supported: it returns cudaErrorNotSupported.
[[nodiscard]] bool is_missing(std::string_view name) noexcept;

}  // namespace cudart
TMAJIT_END
