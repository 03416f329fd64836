#include "check/own_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <vector>

TMAJIT_BEGIN
namespace check {
namespace {

namespace fs = std::filesystem;

using Parts = std::vector<std::string>;

Parts parts_of(const fs::path& path) {
  Parts parts;
  for (const fs::path& each : path) {
    if (each != "/" && each != "." && !each.empty()) parts.push_back(each.string());
  }
  return parts;
}

template <std::size_t n>
bool contains(const std::array<std::string_view, n>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// Folders in which projects and package managers keep third-party sources.
constexpr std::array<std::string_view, 15> foreign_folders{
    "third_party",   "third-party",   "thirdparty", "3rdparty",     "extern",
    "external",      "externals",     "vendor",     "_deps",        "submodules",
    "site-packages", "dist-packages", ".venv",      "node_modules", "_skbuild"};

/// Libraries whose headers are included as <NAME/…>.
constexpr std::array<std::string_view, 12> libraries{"cutlass", "cute",       "cub",  "thrust",
                                                     "cuda",    "nv",         "cccl", "libcudacxx",
                                                     "tmajit",  "flashinfer", "ATen", "c10"};

/// Folders of CUTLASS's and CuTe's own headers, to recognise copies outside of a folder `include`.
constexpr std::array<std::string_view, 20> template_folders{
    "algorithm",    "arch",   "atom",   "conv",      "container", "detail",   "epilogue",
    "experimental", "gemm",   "layout", "numeric",   "pipeline",  "platform", "reduction",
    "swizzle",      "tensor", "thread", "transform", "util",      "pointer"};

/// Prefixes of the names of headers that come with the toolkit.
constexpr std::array<std::string_view, 12> toolkit_headers{
    "cuda_",   "cooperative_groups", "mma.h",         "crt",     "sm_",  "device_functions", "math_",
    "vector_", "driver_types",       "texture_types", "curand_", "host_"};

bool is_header(const std::string& name) {
  const auto extension = fs::path(name).extension().string();
  constexpr std::array<std::string_view, 7> sources{".cu", ".c", ".cc", ".cpp", ".cxx", ".py", ".ptx"};
  return !contains(sources, extension);
}

/// Whether a path is a library's file. `parts` are the folders and the file below the project's root if
/// `below_root`, else those of the whole path.
bool is_library(const Parts& parts, bool below_root) {
  if (parts.empty()) return false;
  const auto folders = std::span(parts).first(parts.size() - 1);
  if (std::ranges::any_of(folders, [](const std::string& each) { return contains(foreign_folders, each); }))
    return true;
  if (!is_header(parts.back())) return false;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const std::string& folder = folders[i];
    const bool included = i > 0 && (folders[i - 1] == "include" || folders[i - 1] == "templates");
    if (included && contains(libraries, folder)) return true;
    if (i == 0 && folder == "tmajit") return true;  // NVRTC's name of a device header
    const std::string_view next = i + 1 < folders.size() ? std::string_view(folders[i + 1]) : "";
    if ((folder == "cutlass" || folder == "cute") && (contains(template_folders, next) || next.empty()) &&
        (i == 0 || folders[i - 1] == folder || !below_root))
      return true;
  }
  if (below_root) return false;
  // Files of the toolkit or of the system.
  const auto toolkit = [](const std::string& each) {
    return each == "cuda" || each.starts_with("cuda-") || each == "cccl" || each == "nvcc";
  };
  const bool in_toolkit =
      std::ranges::any_of(folders, toolkit) && std::ranges::find(folders, "include") != folders.end();
  const bool by_name = std::ranges::any_of(
      toolkit_headers, [&](std::string_view each) { return parts.back().starts_with(each); });
  const bool in_system = folders.size() > 1 && folders[0] == "usr" && folders[1] == "include";
  return in_toolkit || in_system || by_name;
}

/// An absolute path without "." and "..", and without symbolic links as far as it exists.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::weakly_canonical(path, error);
  return error ? path.lexically_normal() : real;
}

/// The path relative to the root; nothing if it is not below the root.
std::optional<fs::path> below(const fs::path& path, const std::string& root) {
  if (root.empty()) return std::nullopt;
  const fs::path relative = path.lexically_relative(root);
  if (relative.empty() || relative == "." || *relative.begin() == "..") return std::nullopt;
  return relative;
}

/// The path relative to the root, also if it leads there through symbolic links; nothing if it does not.
std::optional<fs::path> from_root(std::string_view path, const std::string& root) {
  const fs::path named = fs::path(path).lexically_normal();
  // A relative path is taken as relative to the root, in which the compiler probably ran.
  if (named.is_relative()) {
    if (root.empty() || (!named.empty() && *named.begin() == "..")) return std::nullopt;
    return named;
  }
  if (auto found = below(named, root)) return found;
  return below(resolved(named), root);
}

}  // namespace

OwnFiles::OwnFiles(std::string_view project) {
  if (project.empty()) return;
  std::error_code error;
  const fs::path absolute = fs::absolute(fs::path(project), error);
  root_ = resolved(error ? fs::path(project) : absolute).string();
  while (root_.size() > 1 && root_.back() == '/') root_.pop_back();
}

OwnFiles::Owner OwnFiles::find_owner(std::string_view path) const {
  if (path.empty()) return Owner::unknown;
  if (const auto relative = from_root(path, root_))
    return is_library(parts_of(*relative), true) ? Owner::library : Owner::project;
  return is_library(parts_of(fs::path(path).lexically_normal()), false) ? Owner::library : Owner::unknown;
}

OwnFiles::Owner OwnFiles::owner_of(std::string_view path) {
  const auto known = owners_.find(path);
  if (known != owners_.end()) return known->second;
  return owners_.emplace(path, find_owner(path)).first->second;
}

std::size_t OwnFiles::reported_frame(std::span<const std::string_view> paths) {
  std::optional<std::size_t> outermost;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const Owner owner = owner_of(paths[i]);
    if (owner == Owner::project) return i;
    if (owner == Owner::unknown) outermost = i;
  }
  return outermost.value_or(paths.empty() ? 0 : paths.size() - 1);
}

std::string OwnFiles::shown(std::string_view path) const {
  const auto relative = from_root(path, root_);
  return relative && !fs::path(path).is_relative() ? relative->generic_string() : std::string(path);
}

}  // namespace check
TMAJIT_END
