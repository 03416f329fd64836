#include "cache/pack_files.hpp"

#include <algorithm>
#include <system_error>

TMAJIT_BEGIN

std::vector<std::filesystem::path> pack_files(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& path : paths) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    const auto first = static_cast<std::ptrdiff_t>(files.size());
    std::filesystem::directory_iterator file(path, error);
    for (; !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
      if (file->path().extension() == Pack::extension) files.push_back(file->path());
    }
    std::sort(files.begin() + first, files.end());
  }
  return files;
}

TMAJIT_END
