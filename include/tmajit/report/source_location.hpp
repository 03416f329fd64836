#pragma once

#include <tmajit/compile.hpp>
#include <tmajit/finding.hpp>

#include <cstdint>
#include <string>
#include <vector>

TMAJIT_BEGIN

/// A line of CUDA source.
struct SourceLocation {
  std::string file;
  std::uint64_t line = 0;
  std::string text;  ///< the line itself, trimmed; empty where the source is not at hand
  std::string path;  ///< the file as the PTX names it, with its folders
  bool own = false;  ///< the location at which a finding is reported: the innermost frame in the user's code
  friend bool operator==(const SourceLocation&, const SourceLocation&) = default;
};

/// The source lines of the instruction at line `ptx_line` of an artifact's PTX, by the `.loc` before it: the
/// innermost function first, then the calls into which it was inlined. Empty without line information.
[[nodiscard]] TMAJIT_API std::vector<SourceLocation> source_locations(const Artifact& artifact,
                                                                      std::uint32_t ptx_line);

/// The same for the instruction that a finding names, in the artifact of the finding's kernel. If several
/// artifacts have that name, the one whose PTX line holds the instruction is used. The location at which the
/// finding is reported is marked as `own`.
[[nodiscard]] TMAJIT_API std::vector<SourceLocation> source_locations(
    const std::vector<const Artifact*>& artifacts, const Finding& finding);

/// Marks the location at which the finding is reported as `own`.
TMAJIT_API void mark_own(std::vector<SourceLocation>& locations, const Finding& finding);

/// The locations with the one marked `own` first; the others keep their order, the innermost first.
[[nodiscard]] TMAJIT_API std::vector<SourceLocation> own_first(std::vector<SourceLocation> locations);

/// "copy.cu:861: mbarrier::wait(full[stage], parity)"
[[nodiscard]] TMAJIT_API std::string describe(const SourceLocation& location);

TMAJIT_END
