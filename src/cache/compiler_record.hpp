#pragma once

#include <tmajit/compile.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

TMAJIT_BEGIN

// Each NVRTC build that has stored kernels in a cache has a small file there, named by a hash of its content.
// The file's time says when the build was last used.

inline constexpr std::uint64_t max_compiler_bytes = 4096;

[[nodiscard]] std::string encode_compiler(const CompilerIdentity& compiler);
/// Accepts any bytes.
[[nodiscard]] std::optional<CompilerIdentity> decode_compiler(std::string_view bytes);

TMAJIT_END
