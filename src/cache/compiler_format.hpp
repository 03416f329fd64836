#pragma once

#include <tmajit/compile.hpp>

#include <optional>
#include <string>
#include <string_view>

TMAJIT_BEGIN

/// A longer record is that of no compiler.
inline constexpr std::size_t max_compiler_bytes = 4096;

/// The record of an NVRTC build that has made kernels of a cache: magic, fields, checksum.
[[nodiscard]] std::string encode_compiler(const CompilerIdentity& compiler);
/// Accepts any bytes.
[[nodiscard]] std::optional<CompilerIdentity> decode_compiler(std::string_view bytes);

TMAJIT_END
