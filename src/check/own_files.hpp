#pragma once

/// Which frame of an inlined instruction a finding stands at: the user's own, not a library's.
#include <tmajit/version.hpp>

#include <map>
#include <span>
#include <string>
#include <string_view>

TMAJIT_BEGIN
namespace check {

/// Tells the files of the user's project from those of libraries, by their paths in the PTX. Not thread-safe.
class OwnFiles {
 public:
  /// `project`: the project's root folder; empty: it is unknown.
  explicit OwnFiles(std::string_view project);

  enum class Owner : std::uint8_t {
    project,  ///< below the root, and no library's copy there
    unknown,  ///< outside the root, which may lie elsewhere on the machine that compiled the PTX
    library,  ///< CUDA, CUTLASS, CuTe, CCCL, a Python package, or a third party's folder
  };
  [[nodiscard]] Owner owner_of(std::string_view path);

  /// The frame that a finding stands at, an index into `paths`, which has the innermost frame first: the
  /// innermost of the project; if none is, the outermost that is no library's; if none is, the outermost.
  [[nodiscard]] std::size_t headline(std::span<const std::string_view> paths);

  /// A path below the root as it is from there, with '/' between folders; another as it is.
  [[nodiscard]] std::string shown(std::string_view path) const;

 private:
  [[nodiscard]] Owner find_owner(std::string_view path) const;

  std::string root_;  ///< absolute and without symbolic links; empty: unknown
  std::map<std::string, Owner, std::less<>> owners_;
};

}  // namespace check
TMAJIT_END
