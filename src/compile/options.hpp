#pragma once

#include <tmajit/compile.hpp>

#include <string>
#include <vector>

TMAJIT_BEGIN

/// The options that compile() passes to NVRTC for a source, in order; part of the cache key.
/// Throws Error{invalid_argument} for an option that would make the result depend on more than the source
/// and the options, or that omits the cubin, and for an architecture that is neither real nor virtual.
[[nodiscard]] std::vector<std::string> nvrtc_options(const Source& source, const CompileOptions& options,
                                                     const CompilerIdentity& compiler);

/// Whether an NVRTC that was loaded before, perhaps by another process, is still the file at its path, and
/// `$TMAJIT_NVRTC` names no other one. Loads nothing.
[[nodiscard]] bool is_installed(const CompilerIdentity& compiler);

/// Whether ptxas makes a cubin. For a virtual architecture, NVRTC makes only PTX.
[[nodiscard]] bool makes_cubin(const CompileOptions& options) noexcept;

TMAJIT_END
