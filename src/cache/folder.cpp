#include "cache/folder.hpp"

#include "cache/layout.hpp"
#include "files/files.hpp"

#include <algorithm>
#include <string>

#include <llvm/ADT/StringExtras.h>
#include <sys/stat.h>

TMAJIT_BEGIN
namespace {

constexpr std::size_t entry_file_digits = 2 * sizeof(CacheKey::digest) - entry_folder_digits;
constexpr std::size_t compiler_digits = 16;

bool is_hex(std::string_view name, std::size_t digits) {
  return name.size() == digits && std::ranges::all_of(name, [](char c) { return llvm::isHexDigit(c); });
}

void keep_first(std::error_code& first, std::error_code error) {
  if (!first) first = error;
}

}  // namespace

std::error_code for_each_entry_file(const std::filesystem::path& cache,
                                    const std::function<void(const std::filesystem::path&)>& visit) {
  std::error_code first;
  const auto entries = entries_folder(cache);
  for (const std::string& folder : names_in(entries, first)) {
    if (!is_hex(folder, entry_folder_digits)) continue;
    std::error_code error;
    for (const std::string& file : names_in(entries / folder, error)) {
      if (is_hex(file, entry_file_digits)) visit(entries / folder / file);
    }
    keep_first(first, error);
  }
  return first;
}

std::vector<std::filesystem::path> compiler_files(const std::filesystem::path& cache,
                                                  std::error_code& error) {
  std::vector<std::filesystem::path> files;
  for (const std::string& name : names_in(compilers_folder(cache), error)) {
    if (is_hex(name, compiler_digits)) files.push_back(compilers_folder(cache) / name);
  }
  return files;
}

std::optional<FileState> state_of(const std::filesystem::path& path) {
  struct stat info {};
  if (file_system().lstat(path, info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  return FileState{.bytes = static_cast<std::uint64_t>(info.st_size), .time = modified(info)};
}

FileTime clock_of(const std::filesystem::path& cache) {
  const auto path = size_path(cache);
  const bool touched = file_system().touch(path) == 0 ||
                       (!append_file(path, {}, AppendTo::own_file) && file_system().touch(path) == 0);
  const auto state = touched ? state_of(path) : std::nullopt;
  return state ? state->time : file_system().now();
}

std::error_code remove_abandoned(const std::filesystem::path& cache, FileTime now) {
  std::error_code first;
  for (const auto& folder : {pending_folder(cache), locks_folder(cache)}) {
    std::error_code error;
    for (const std::string& name : names_in(folder, error)) {
      const auto state = state_of(folder / name);
      std::error_code kept;
      if (state && now - state->time > abandoned_age) remove_file(folder / name, kept);
      keep_first(error, kept);
    }
    keep_first(first, error);
  }
  return first;
}

TMAJIT_END
