#include "cache/disk_state.hpp"

#include "cache/compiler_record.hpp"
#include "cache/folder.hpp"
#include "cache/layout.hpp"
#include "files/files.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <sys/stat.h>

TMAJIT_BEGIN
namespace {

std::vector<CompilerIdentity> read_compilers(const std::filesystem::path& cache) {
  std::vector<std::pair<FileTime, CompilerIdentity>> found;
  std::error_code error;
  for (const auto& path : compiler_files(cache, error)) {
    FileTime time;
    const auto bytes = read_file(path, max_compiler_bytes, error, Writer::trusted, &time);
    if (error) continue;
    if (auto compiler = decode_compiler(bytes)) found.emplace_back(time, *std::move(compiler));
  }
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<CompilerIdentity> compilers;
  compilers.reserve(found.size());
  for (auto& [time, compiler] : found) compilers.push_back(std::move(compiler));
  return compilers;
}

}  // namespace

std::vector<CompilerIdentity> KnownCompilers::in(const std::filesystem::path& cache) {
  // Times of files are multiples of some milliseconds, on some file systems of two seconds: a folder that has
  // just changed may change again without another time.
  constexpr std::chrono::seconds coarsest_time{2};
  struct stat folder {};
  const bool exists = file_system().stat(compilers_folder(cache), folder) == 0;
  if (!exists) return {};
  const FileTime time = modified(folder);
  {
    // A child that was forked while another thread had the mutex never gets it, and reads the folder.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock && time_ == time) return compilers_;
  }
  std::vector<CompilerIdentity> compilers = read_compilers(cache);
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock && std::chrono::abs(file_system().now() - time) > coarsest_time) {
    time_ = time;
    compilers_ = compilers;
  }
  return compilers;
}

TMAJIT_END
