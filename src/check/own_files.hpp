#pragma once

/// Chooses the frame at which a finding in inlined code is reported: the user's own, not a library's.
#include <tmajit/version.hpp>

#include <map>
#include <span>
#include <string>
#include <string_view>

TMAJIT_BEGIN
namespace check {

/// Distinguishes files of the user's project and of libraries by their paths in the PTX. Not thread-safe.
class OwnFiles {
 public:
  /// `project`: the project's root folder; empty: unknown.
  explicit OwnFiles(std::string_view project);

  enum class Owner : std::uint8_t {
    project,  ///< below the root, and no copy of a library
    unknown,  ///< outside the root, or below another root on the machine that compiled the PTX
    library,  ///< CUDA, CUTLASS, CuTe, CCCL, a Python package, or a third party's folder
  };
  [[nodiscard]] Owner owner_of(std::string_view path);

  /// The frame at which a finding is reported, as an index into `paths`, the frames' files, innermost first.
  /// It is the innermost frame of the project. Without one, it is the outermost frame whose owner is unknown.
  /// If all frames are of libraries, it is the outermost frame.
  [[nodiscard]] std::size_t reported_frame(std::span<const std::string_view> paths);

  /// The path relative to the root, with '/' between folders, if it is below the root; else the path itself.
  [[nodiscard]] std::string shown(std::string_view path) const;

 private:
  [[nodiscard]] Owner find_owner(std::string_view path) const;

  std::string root_;  ///< absolute and without symbolic links; empty: unknown
  std::map<std::string, Owner, std::less<>> owners_;
};

}  // namespace check
TMAJIT_END
