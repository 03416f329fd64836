#include "cache/entry_format.hpp"
#include "cache/pack_format.hpp"
#include "cache/zstandard.hpp"
#include "files/files.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>
#include <tmajit/pack.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string_view>
#include <thread>
#include <tuple>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// The largest dictionary. Measured with 897 kernels of 33.8 MB: 512 KiB of kernels save 27 % of the pack,
/// and a dictionary that Zstandard trains saves 3 % more, for which Debian's archive cannot be linked into a
/// shared library.
constexpr std::size_t max_dictionary_bytes = std::size_t{512} << 10;
/// A dictionary pays if it is much smaller than the kernels that share it.
constexpr std::size_t dictionary_fraction = 32;

/// An entry as packs hold it, before it is compressed.
struct WholeEntry {
  CacheKey key;
  std::string name;  ///< of the kernel
  std::string bytes;
};

/// The bytes that a pack keeps of a kernel: its cubin or, if it has none or if PTX is kept, its PTX.
std::string packed_bytes(const CacheKey& key, Artifact artifact, bool keep_ptx) {
  artifact.source.clear();
  artifact.log.clear();
  if (!artifact.cubin.empty() && !keep_ptx) artifact.ptx.clear();
  return encode_entry(key, artifact);
}

/// Kernels of all sorts, whole: at equal distances in the list that is sorted by entry and size.
std::string dictionary_of(const std::vector<WholeEntry>& entries) {
  std::vector<const WholeEntry*> sorted;
  std::size_t all_bytes = 0;
  for (const WholeEntry& entry : entries) {
    sorted.push_back(&entry);
    all_bytes += entry.bytes.size();
  }
  std::ranges::sort(sorted, {}, [](const WholeEntry* entry) {
    return std::tuple(std::string_view(entry->name), entry->bytes.size());
  });
  const std::size_t wanted = std::min(max_dictionary_bytes, all_bytes / dictionary_fraction);
  std::string dictionary;
  std::size_t passed = 0;
  for (const WholeEntry* const entry : sorted) {
    // The dictionary keeps pace with the kernels that were passed.
    passed += entry->bytes.size();
    if ((dictionary.size() + entry->bytes.size()) * all_bytes <= passed * wanted) dictionary += entry->bytes;
  }
  return dictionary;
}

std::vector<PackedEntry> compressed(const std::vector<WholeEntry>& entries, const Compressor& compressor,
                                    const KernelProgress& progress) {
  std::vector<PackedEntry> packed(entries.size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::size_t done = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < entries.size(); i = next++) {
      packed[i] = {.key = entries[i].key,
                   .bytes = compressor.compress(entries[i].bytes),
                   .whole_bytes = static_cast<std::uint32_t>(entries[i].bytes.size())};
      const std::lock_guard lock(mutex);
      if (progress) progress(++done, entries.size());
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) threads.emplace_back(work);
  work();
  threads.clear();
  return packed;
}

}  // namespace

PackSummary write_pack(const std::filesystem::path& file, std::span<const CacheKey> keys,
                       const DiskCache& from, std::span<const CompilerIdentity> compilers,
                       const PackOptions& options) {
  PackSummary summary;
  std::vector<WholeEntry> entries;
  std::vector<CacheKey> distinct(keys.begin(), keys.end());
  std::ranges::sort(distinct, {}, &CacheKey::digest);
  distinct.erase(std::ranges::unique(distinct).begin(), distinct.end());
  for (const CacheKey& key : distinct) {
    std::optional<Artifact> artifact = from.fetch(key);
    std::string name = artifact ? artifact->entry : std::string();
    std::string bytes = artifact ? packed_bytes(key, *std::move(artifact), options.keep_ptx) : std::string();
    if (bytes.empty() || bytes.size() > max_packed_bytes) {
      summary.left_out.push_back(key);
      continue;
    }
    summary.whole_bytes += bytes.size();
    entries.push_back({key, std::move(name), std::move(bytes)});
  }
  const std::string dictionary = dictionary_of(entries);
  const std::string bytes = encode_pack(
      {.generator = std::string(generator_id()), .compilers = {compilers.begin(), compilers.end()}},
      dictionary, compressed(entries, Compressor(dictionary), options.progress));
  summary.kernels = entries.size();
  summary.bytes = bytes.size();
  const std::filesystem::path folder = file.parent_path().empty() ? "." : file.parent_path();
  constexpr unsigned mode = 0644;  // whatever the umask, packs that others may write are refused
  if (const std::error_code error = replace_file(folder, file, bytes, mode)) {
    throw Error(ErrorCode::io,
                fmt::format("the pack {} cannot be written: {}", file.string(), error.message()));
  }
  return summary;
}

TMAJIT_END
