// Packs hold the kernels of a cache folder in one file. A damaged pack is noticed before a kernel of it is
// used.
#include "cache/pack_format.hpp"
#include "cache/pack_samples.hpp"
#include "error_of.hpp"
#include "measurable.hpp"
#include "seed.hpp"

#include <tmajit/codegen.hpp>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using tests::error_of;
using tests::PackSamples;
using tests::same;
using tests::sample_key;

namespace {

/// The fault of the pack `file`, or of one of its kernels; empty if there is none.
std::string fault_of(const std::filesystem::path& file, const PackSamples& samples) {
  try {
    const Pack pack(file);
    for (std::size_t i = 0; i < samples.keys.size(); ++i) {
      const std::optional<Artifact> artifact = pack.fetch(samples.keys[i]);
      if (artifact) CHECK(same(*artifact, samples.artifacts[i]));
    }
    pack.verify();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("a pack of random kernels holds each of them without source and log, and no other") {
  const std::uint64_t seed = tests::seed(20261128);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  for (const std::size_t count : {0, 1, 2, 3, 20, 120}) {
    const PackSamples samples(count, seed + count, count < 100 ? 10'000 : 500);
    const PackSummary summary = samples.write();
    const Pack pack(samples.file);
    CHECK(pack.kernels() == count);
    CHECK(summary.kernels == count);
    CHECK(summary.left_out.empty());
    CHECK(summary.bytes == pack.bytes());
    CHECK(pack.bytes() == std::filesystem::file_size(samples.file));
    CHECK(pack.generator() == generator_id());
    REQUIRE(pack.compilers().size() == 1);
    CHECK(pack.compilers()[0].build == tests::sample_compiler.build);
    std::uint64_t entry_bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      INFO("seed " << seed << ", kernel " << i << " of " << count);
      const std::optional<Artifact> artifact = pack.fetch(samples.keys[i]);
      REQUIRE(artifact);
      CHECK(same(*artifact, samples.artifacts[i]));
      CHECK(pack.has(samples.keys[i]));
      entry_bytes += pack.bytes_of(samples.keys[i]);
    }
    CHECK(entry_bytes < pack.bytes());
    CHECK_FALSE(pack.has(sample_key(100'000)));
    CHECK_FALSE(pack.fetch(sample_key(100'000)));
    CHECK(pack.bytes_of(sample_key(100'000)) == 0);
    const std::vector<CacheKey> keys = pack.keys();
    CHECK(keys.size() == count);
    CHECK(std::ranges::is_sorted(keys, {}, &CacheKey::digest));
  }
}

TEST_CASE("a pack keeps PTX beside cubins if it is asked to") {
  const PackSamples samples(12, 9, 500);
  (void)write_pack(samples.file, samples.keys, samples.cache, {}, {.keep_ptx = true});
  const Pack pack(samples.file);
  for (const CacheKey& key : samples.keys) {
    const Artifact kept = pack.fetch(key).value();
    const Artifact stored = samples.cache.fetch(key).value();
    CHECK(kept.ptx == stored.ptx);
    CHECK(kept.cubin == stored.cubin);
  }
}

TEST_CASE("kernels that the folder does not have are left out of a pack and named") {
  const PackSamples samples(3, 1, 100);
  const std::vector<CacheKey> keys{samples.keys[0], sample_key(77), samples.keys[0]};
  const PackSummary summary = write_pack(samples.file, keys, samples.cache, {});
  CHECK(summary.kernels == 1);
  CHECK(summary.left_out == std::vector<CacheKey>{sample_key(77)});
  CHECK(Pack(samples.file).compilers().empty());
}

TEST_CASE("every flipped bit and every truncation of a pack is noticed before a kernel is used") {
  const std::uint64_t seed = tests::seed(20261128);
  const PackSamples samples(3, seed, 60);
  (void)samples.write();
  std::string bytes = tests::read_file(samples.file);
  CHECK(fault_of(samples.file, samples).empty());
  std::size_t noticed = 0;
  const std::size_t bits = 8 * bytes.size();
  std::fstream file(samples.file, std::ios::binary | std::ios::in | std::ios::out);
  const auto write_byte = [&](std::size_t at, char byte) {
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte);
    file.flush();
  };
  for (std::size_t bit = 0; bit < bits; ++bit) {
    write_byte(bit / 8, static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8)));
    const std::string fault = fault_of(samples.file, samples);
    noticed += fault.empty() ? 0 : 1;
    if (fault.find("some.pack is damaged") == std::string::npos)
      FAIL_CHECK("TMAJIT_SEED=" << seed << ", bit " << bit << " of " << bits << ": " << fault);
    write_byte(bit / 8, bytes[bit / 8]);
  }
  CHECK(fault_of(samples.file, samples).empty());
  const auto resized_is_noticed = [&](std::size_t length) {
    std::filesystem::resize_file(samples.file, length);
    const std::string fault = fault_of(samples.file, samples);
    if (fault.find("is damaged: it") == std::string::npos)
      FAIL_CHECK("TMAJIT_SEED=" << seed << ", " << length << " of " << bytes.size() << " bytes: " << fault);
  };
  resized_is_noticed(bytes.size() + 1);
  for (std::size_t length = bytes.size(); length-- > 0;) resized_is_noticed(length);
  std::cout << noticed << " of " << bits << " flipped bits noticed\n";
}

TEST_CASE("with a damaged dictionary a kernel of a pack is right or an error, and verify() notices it") {
  const std::uint64_t seed = tests::seed(20261128);
  const PackSamples samples(120, seed, 2000);
  (void)samples.write();
  const std::string bytes = tests::read_file(samples.file);
  const std::string_view dictionary = decode_pack(bytes).view.value().dictionary;
  REQUIRE(dictionary.size() > 100);
  std::mt19937_64 random(seed);
  int right = 0;
  int errors = 0;
  for (int i = 0; i < 60; ++i) {
    INFO("TMAJIT_SEED=" << seed << ", damage " << i);
    std::string damaged = bytes;
    const std::size_t at =
        static_cast<std::size_t>(dictionary.data() - bytes.data()) + random() % dictionary.size();
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    tests::write_file(samples.file, damaged);
    const Pack pack(samples.file);
    for (std::size_t k = 0; k < samples.keys.size(); ++k) {
      try {
        const Artifact fetched = pack.fetch(samples.keys[k]).value();
        CHECK(same(fetched, samples.artifacts[k]));
        ++right;
      } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::invalid_argument);
        ++errors;
      }
    }
    CHECK_THAT(error_of([&] { pack.verify(); }).what(),
               ContainsSubstring("the checksum of its dictionary is wrong"));
  }
  CHECK(right > 0);
  CHECK(errors > 0);
}

TEST_CASE("a pack that is truncated while it is open gives an error, and no signal") {
  const PackSamples samples(20, 3, 20'000);
  (void)samples.write();
  const Pack pack(samples.file);
  std::filesystem::resize_file(samples.file, 0);
  CHECK_FALSE(pack.has(samples.keys[0]));
  CHECK(pack.bytes_of(samples.keys[0]) == 0);
  const Error error = error_of([&] { return pack.fetch(samples.keys[0]); });
  CHECK(error.code() == ErrorCode::io);
  CHECK_THAT(error.what(), ContainsSubstring("was truncated while it was open"));
}

TEST_CASE("a pack that is replaced stays usable where it is open") {
  const PackSamples samples(5, 4, 1000);
  (void)samples.write();
  const Pack pack(samples.file);
  (void)write_pack(samples.file, {}, samples.cache, {});
  CHECK(pack.fetch(samples.keys[4]));
  CHECK(Pack(samples.file).kernels() == 0);
}

TEST_CASE("what is no pack is named by its error") {
  const TemporaryFolder folder;
  tests::write_file(folder / "text.pack", "text");
  CHECK(error_of([&] { return Pack(folder / "none.pack"); }).code() == ErrorCode::io);
  CHECK(error_of([&] { return Pack(folder.path()); }).code() == ErrorCode::io);
  const Error error = error_of([&] { return Pack(folder / "text.pack"); });
  CHECK(error.code() == ErrorCode::invalid_argument);
  CHECK_THAT(error.what(), ContainsSubstring("it does not start like a pack"));
  const auto unwritable = [&] {
    return write_pack(folder / "none/x.pack", {}, DiskCache(folder.path()), {});
  };
  CHECK(error_of(unwritable).code() == ErrorCode::io);
}

TEST_CASE("a pack of 3,000 kernels opens in less than a millisecond") {
  const TemporaryFolder folder;
  std::mt19937_64 random(5);
  std::vector<PackedEntry> entries;
  for (int i = 0; i < 3000; ++i) {
    PackedEntry& entry = entries.emplace_back();
    for (auto& byte : entry.key.digest) byte = static_cast<std::uint8_t>(random());
    for (int k = 0; k < 5500; ++k) entry.bytes += static_cast<char>(random());
    entry.whole_bytes = 38'000;
  }
  const CacheKey some = entries[1234].key;
  tests::write_file(folder / "large.pack",
                    encode_pack({.generator = std::string(64, 'g'), .compilers = {tests::sample_compiler}},
                                std::string(512 << 10, 'd'), std::move(entries)));
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < 50; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const Pack pack(folder / "large.pack");
    least = std::min(
        least, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    REQUIRE(pack.has(some));
  }
  std::printf("a pack of 3000 kernels opens in %.3f ms\n", least);
  if (TMAJIT_MEASURABLE) CHECK(least < 1);
}
