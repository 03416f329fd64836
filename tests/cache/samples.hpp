#pragma once

#include "temporary_folder.hpp"

#include <tmajit/cache.hpp>

#include <cstddef>
#include <string>

namespace tests {

/// A fictitious kernel; each of its parts has about `bytes` bytes.
inline tmajit::Artifact sample_artifact(std::size_t bytes = 40, char seed = 'a') {
  tmajit::Artifact artifact;
  artifact.entry = "tmajit_sample";
  artifact.source = std::string(bytes, seed);
  artifact.ptx = std::string(bytes, static_cast<char>(seed + 1));
  for (std::size_t i = 0; i < bytes; ++i) artifact.cubin.push_back(static_cast<std::byte>(i * 7));
  artifact.log = "ptxas info";
  artifact.made_for = {.operation = "copy", .types = "f32 <- bf16", .shape = "4x8"};
  artifact.key_fields = {{"arch", "sm_90a"}, {"options", R"(["-DA=1"])"}};
  artifact.resources = {.registers = 1,
                        .spill_store_bytes = 2,
                        .spill_load_bytes = 3,
                        .stack_bytes = 4,
                        .static_shared_bytes = 5,
                        .barriers = 6};
  return artifact;
}

/// A key that differs for each number.
inline tmajit::CacheKey sample_key(unsigned number = 0) {
  tmajit::CacheKey key;
  const unsigned high = number / 256;  // the bytes below repeat after 256 numbers
  for (auto& byte : key.digest) byte = static_cast<std::uint8_t>(number += 37);
  for (std::size_t i = 0; i < sizeof high; ++i)
    key.digest[i] = static_cast<std::uint8_t>(key.digest[i] + (high >> 8 * i));
  return key;
}

inline bool same(const tmajit::Artifact& a, const tmajit::Artifact& b) {
  const auto& [entry, source, ptx, cubin, log, resources, made_for, key_fields] = a;
  const auto& [registers, stores, loads, stack, shared, barriers] = resources;
  return entry == b.entry && made_for == b.made_for && key_fields == b.key_fields && source == b.source &&
         ptx == b.ptx && cubin == b.cubin && log == b.log && registers == b.resources.registers &&
         stores == b.resources.spill_store_bytes && loads == b.resources.spill_load_bytes &&
         stack == b.resources.stack_bytes && shared == b.resources.static_shared_bytes &&
         barriers == b.resources.barriers;
}

/// Regular files anywhere below `folder`.
inline std::size_t count_files(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder))
    count += file.is_regular_file();
  return count;
}

}  // namespace tests
