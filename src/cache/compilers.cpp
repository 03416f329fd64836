// The NVRTC builds that have stored in a cache: a small file each, named by its content, newest by its time.
#include "cache/bytes.hpp"
#include "cache/files.hpp"
#include "cache/layout.hpp"
#include "spec/log.hpp"

#include <tmajit/cache.hpp>

#include <algorithm>
#include <chrono>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

namespace {

constexpr std::string_view magic{"\x89tmanvr\n", 8};
constexpr std::uint64_t max_bytes = 4096;
/// How old a file may be before it is touched again.
constexpr std::chrono::minutes fresh{10};

std::string encode(const CompilerIdentity& compiler) {
  ByteWriter writer;
  writer.raw(magic);
  writer.u32(static_cast<std::uint32_t>(compiler.major));
  writer.u32(static_cast<std::uint32_t>(compiler.minor));
  writer.text(compiler.build);
  writer.u64(checksum(writer.bytes()));
  return writer.take();
}

std::optional<CompilerIdentity> decode(std::string_view bytes) {
  ByteReader reader(bytes);
  CompilerIdentity compiler;
  const bool right_magic = reader.raw(magic.size()) == magic;
  compiler.major = static_cast<int>(reader.u32());
  compiler.minor = static_cast<int>(reader.u32());
  compiler.build = reader.text();
  const auto summed = bytes.substr(0, bytes.size() - reader.rest().size());
  const bool right_sum = reader.u64() == checksum(summed);
  if (!reader.ok() || !reader.rest().empty() || !right_magic || !right_sum) return std::nullopt;
  return compiler;
}

}  // namespace

std::vector<CompilerIdentity> DiskCache::known_compilers() const try {
  std::vector<std::pair<std::filesystem::file_time_type, CompilerIdentity>> found;
  std::error_code ended;
  std::filesystem::directory_iterator file(compilers_folder(directory_), ended);
  for (; !ended && file != std::filesystem::directory_iterator(); file.increment(ended)) {
    std::error_code unreadable;
    const auto time = file->last_write_time(unreadable);
    const auto bytes = read_file(file->path(), max_bytes, unreadable);
    if (unreadable) continue;
    if (auto compiler = decode(bytes)) found.emplace_back(time, *std::move(compiler));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<CompilerIdentity> result;
  result.reserve(found.size());
  for (auto& [time, compiler] : found) result.push_back(std::move(compiler));
  return result;
} catch (const std::exception& failure) {
  log().debug("compilers known to {} were not read: {}", directory_.string(), failure.what());
  return {};
}

void DiskCache::remember(const CompilerIdentity& compiler) const try {
  const auto bytes = encode(compiler);
  const auto path = compilers_folder(directory_) / fmt::format("{:016x}", checksum(bytes));
  std::error_code error;
  const auto now = std::filesystem::file_time_type::clock::now();
  if (const auto time = std::filesystem::last_write_time(path, error); !error) {
    if (now - time > fresh) std::filesystem::last_write_time(path, now, error);
    if (!error) return;
  }
  error = publish_file(directory_, path, bytes);
  if (error) log().debug("{} was not written: {}", path.string(), error.message());
} catch (const std::exception& failure) {
  log().debug("a compiler was not noted in {}: {}", directory_.string(), failure.what());
}

TMAJIT_END
