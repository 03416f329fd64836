#pragma once

#include <tmajit/compile.hpp>

#include <string>
#include <vector>

TMAJIT_BEGIN

/// Exactly what NVRTC is told of a source, in order; part of the cache key.
/// Throws Error{invalid_argument} for an option that would make the result depend on more than the source
/// and the options, or that leaves no cubin.
[[nodiscard]] std::vector<std::string> nvrtc_options(const Source& source, const CompileOptions& options,
                                                     const CompilerIdentity& compiler);

TMAJIT_END
