#include "compile/nvrtc_places.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>

#include <dlfcn.h>

TMAJIT_BEGIN

namespace {

/// Newest first. The plain name is there in toolkits and development packages only.
constexpr std::array file_names{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// The folder of the file that this code was loaded from: libtmajit's, or the program's if linked statically.
std::filesystem::path own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&nvrtc_places), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code ignored;  // an unresolvable name only means one place less
  return std::filesystem::canonical(info.dli_fname, ignored).parent_path();
}

}  // namespace

std::vector<std::string> nvrtc_places() {
  if (auto file = environment("TMAJIT_NVRTC"); !file.empty()) return {file};

  std::vector<std::string> places;
  const auto add_folder = [&](const std::filesystem::path& folder) {
    if (folder.empty()) return;
    for (const char* file : file_names) places.push_back((folder / file).string());
  };
#ifdef TMAJIT_NVRTC_HINT
  add_folder(TMAJIT_NVRTC_HINT);
#endif
  places.insert(places.end(), file_names.begin(), file_names.end());
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto root = environment(variable); !root.empty()) {
      add_folder(std::filesystem::path(root) / "lib64");
      add_folder(std::filesystem::path(root) / "lib");
    }
  }
  add_folder("/usr/local/cuda/lib64");
  add_folder(own_folder());
  return places;
}

TMAJIT_END
