#pragma once

#include <tmajit/version.hpp>

#include <string_view>

TMAJIT_BEGIN
namespace cudart {

/// Whether the simulated device has no such function: a program that is linked with it gets
/// cudaErrorNotSupported.
[[nodiscard]] bool is_missing(std::string_view name) noexcept;

}  // namespace cudart
TMAJIT_END
