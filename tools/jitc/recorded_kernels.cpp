#include "recorded_kernels.hpp"

#include "files.hpp"
#include "terminal.hpp"
#include "text.hpp"

namespace jitc {
namespace {

/// Moves a progress line as far as the library's work.
tmajit::KernelProgress shown_by(Progress& progress) {
  return [&progress, last = std::size_t{0}](std::size_t done, std::size_t /*count*/) mutable {
    progress.advance(done - last);
    last = done;
  };
}

}  // namespace

tmajit::Manifest read_manifest_file(const std::string& file) {
  tmajit::Manifest manifest = tmajit::read_manifest(InputFile(file).text());
  const auto skip = [](std::size_t lines, std::string_view why) {
    if (lines > 0) say("skipped", "{} {}", counted(lines, "line"), why);
  };
  skip(manifest.of_other_versions, "of another version of tmajit");
  skip(manifest.damaged, "that hold no kernel: damaged, or not of a manifest");
  return manifest;
}

tmajit::MadeKernels make_recorded_kernels(std::span<const tmajit::KernelRecipe> records,
                                          const tmajit::DiskCache& cache, std::uint32_t jobs) {
  tmajit::MadeKernels made;
  {
    Progress progress("compiling", records.size());
    made = tmajit::make_kernels(records, cache, {.threads = jobs, .progress = shown_by(progress)});
  }
  for (const auto& [key, why] : made.failures) say("refused", "{}: {}", key.hex(), why);
  return made;
}

tmajit::PackSummary write_pack_file(const std::filesystem::path& file, std::span<const tmajit::CacheKey> keys,
                                    const tmajit::DiskCache& from,
                                    std::span<const tmajit::CompilerIdentity> compilers, bool keep_ptx) {
  Progress progress("compressing", keys.size());
  return tmajit::write_pack(file, keys, from, compilers,
                            {.keep_ptx = keep_ptx, .progress = shown_by(progress)});
}

}  // namespace jitc
