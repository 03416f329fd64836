#pragma once

#include "report.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/finding.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace jitc {

/// A line of CUDA source.
struct SourcePlace {
  std::string file;
  std::uint64_t line = 0;
  std::string text;  ///< what stands there; empty where the source is not at hand
};

/// Where the instruction at line `ptx_line` of an artifact's PTX comes from: the innermost function first,
/// then where that was inlined, by the `.loc` before it. Empty without line information. Of a wrapper's one
/// line of inline assembly the caller says more.
[[nodiscard]] std::vector<SourcePlace> source_places(const tmajit::Artifact& artifact,
                                                     std::uint32_t ptx_line);

/// The same for the instruction that a finding names, in the kernel of that name. Several kernels of a run
/// can have one name: then it is the one whose line reads so.
[[nodiscard]] std::vector<SourcePlace> source_places(const std::vector<const tmajit::Artifact*>& artifacts,
                                                     const tmajit::Finding& finding);

/// A list of objects: file, line, text.
[[nodiscard]] Json to_json(const std::vector<SourcePlace>& places);
/// "copy.cu:861: mbarrier::wait(full[stage], parity)"
[[nodiscard]] std::string describe(const SourcePlace& place);

}  // namespace jitc
