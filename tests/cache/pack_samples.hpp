#pragma once

#include "cache/samples.hpp"

#include <tmajit/pack.hpp>

#include <random>
#include <string>
#include <vector>

namespace tests {

inline const tmajit::CompilerIdentity sample_compiler{
    .major = 13, .minor = 0, .build = "build-a", .path = {}};

/// The part of an artifact that packs keep.
inline tmajit::Artifact packed(tmajit::Artifact artifact) {
  artifact.source.clear();
  artifact.log.clear();
  if (!artifact.cubin.empty()) artifact.ptx.clear();
  return artifact;
}

/// A random kernel. Some have no cubin.
inline tmajit::Artifact random_artifact(std::mt19937_64& random, std::size_t max_bytes) {
  tmajit::Artifact artifact =
      sample_artifact(1 + random() % max_bytes, static_cast<char>('a' + random() % 20));
  artifact.entry += std::to_string(random() % 5);
  if (random() % 3 == 0) artifact.cubin.clear();
  for (std::byte& byte : artifact.cubin)
    if (random() % 4 == 0) byte = static_cast<std::byte>(random());
  return artifact;
}

/// A cache folder of `count` random kernels, with keys sample_key(0) …, and the kernels as packs keep them.
struct PackSamples {
  PackSamples(std::size_t count, std::uint64_t seed, std::size_t max_bytes) : random(seed) {
    for (std::size_t i = 0; i < count; ++i) {
      tmajit::Artifact artifact = random_artifact(random, max_bytes);
      keys.push_back(sample_key(static_cast<unsigned>(i)));
      cache.store(keys.back(), artifact);
      artifacts.push_back(packed(std::move(artifact)));
    }
  }
  /// Writes `file`.
  [[nodiscard]] tmajit::PackSummary write() const {
    return tmajit::write_pack(file, keys, cache, {&sample_compiler, 1});
  }

  TemporaryFolder folder;
  tmajit::DiskCache cache{folder.path() / "cache"};
  std::filesystem::path file = folder.path() / "some.pack";
  std::mt19937_64 random;
  std::vector<tmajit::CacheKey> keys;
  std::vector<tmajit::Artifact> artifacts;
};

}  // namespace tests
