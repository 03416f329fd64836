#pragma once

#include <tmajit/compile.hpp>
#include <tmajit/finding.hpp>

#include <cstdint>
#include <string>
#include <vector>

TMAJIT_BEGIN

/// A line of CUDA source.
struct SourcePlace {
  std::string file;
  std::uint64_t line = 0;
  std::string text;  ///< the line itself, trimmed; empty where the source is not at hand
  std::string path;  ///< the file as the PTX names it, with its folders
  bool own = false;  ///< the place at which a finding is reported: the innermost frame in the user's code
  friend bool operator==(const SourcePlace&, const SourcePlace&) = default;
};

/// The source lines of the instruction at line `ptx_line` of an artifact's PTX, by the `.loc` before it: the
/// innermost function first, then the calls into which it was inlined. Empty without line information.
[[nodiscard]] TMAJIT_API std::vector<SourcePlace> source_places(const Artifact& artifact,
                                                                std::uint32_t ptx_line);

/// The same for the instruction that a finding names, in the artifact of the finding's kernel. If several
/// artifacts have that name, the one whose PTX line holds the instruction is used. The place at which the
/// finding is reported is marked as `own`.
[[nodiscard]] TMAJIT_API std::vector<SourcePlace> source_places(const std::vector<const Artifact*>& artifacts,
                                                                const Finding& finding);

/// Marks the place at which the finding is reported as `own`.
TMAJIT_API void mark_own(std::vector<SourcePlace>& places, const Finding& finding);

/// The places with the one marked `own` first; the others keep their order, the innermost first.
[[nodiscard]] TMAJIT_API std::vector<SourcePlace> own_first(std::vector<SourcePlace> places);

/// "copy.cu:861: mbarrier::wait(full[stage], parity)"
[[nodiscard]] TMAJIT_API std::string describe(const SourcePlace& place);

TMAJIT_END
