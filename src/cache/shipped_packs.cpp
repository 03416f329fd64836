#include "cache/pack_files.hpp"
#include "compile/nvrtc.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

TMAJIT_BEGIN

std::vector<std::filesystem::path> shipped_packs() {
  const char* const named = std::getenv("TMAJIT_PACKS");
  if (named == nullptr) {
    // TMAJIT_PACK_FOLDER is relative to the library's folder, so that an installation can be moved. It does
    // not exist if the library was built without packs.
    const std::filesystem::path folder = own_folder() / TMAJIT_PACK_FOLDER;
    std::error_code error;
    return std::filesystem::is_directory(folder, error) ? pack_files({folder})
                                                        : std::vector<std::filesystem::path>();
  }
  std::vector<std::filesystem::path> paths;
  std::string_view rest = named;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) paths.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return pack_files(paths);
}

TMAJIT_END
