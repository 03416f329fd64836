#include "cache/entry_format.hpp"

#include "cache/bytes.hpp"
#include "cache/samples.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using tests::same;
using tests::sample_artifact;
using tests::sample_key;

TEST_CASE("a decoded entry equals the encoded artifact") {
  for (const std::size_t bytes : {0U, 1U, 40U, 100000U}) {
    const auto artifact = sample_artifact(bytes);
    const auto decoded = decode_entry(encode_entry(sample_key(), artifact), sample_key());
    REQUIRE(decoded.artifact);
    CHECK(decoded.fault.empty());
    CHECK(same(*decoded.artifact, artifact));
  }
}

TEST_CASE("text may hold any byte, zero included") {
  Artifact artifact;
  for (int i = 0; i < 256; ++i) artifact.source += static_cast<char>(i);
  const auto decoded = decode_entry(encode_entry(sample_key(), artifact), sample_key());
  REQUIRE(decoded.artifact);
  CHECK(same(*decoded.artifact, artifact));
}

TEST_CASE("an entry truncated at any byte is refused") {
  const auto whole = encode_entry(sample_key(), sample_artifact());
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    INFO(bytes << " of " << whole.size());
    const auto decoded = decode_entry(std::string_view(whole).substr(0, bytes), sample_key());
    REQUIRE_FALSE(decoded.artifact);
    REQUIRE_FALSE(decoded.fault.empty());
    REQUIRE_FALSE(read_entry_info(std::string_view(whole).substr(0, bytes), bytes));
  }
}

TEST_CASE("an entry with any bit changed is refused") {
  const auto whole = encode_entry(sample_key(), sample_artifact());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      auto damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      INFO("byte " << i << ", bit " << bit);
      REQUIRE_FALSE(decode_entry(damaged, sample_key()).artifact);
    }
  }
}

TEST_CASE("an entry with trailing bytes is refused") {
  CHECK_FALSE(decode_entry(encode_entry(sample_key(), sample_artifact()) + '\0', sample_key()).artifact);
}

TEST_CASE("an entry of another version's format is recognised as such") {
  for (const std::uint32_t other : {0U, 2U, 4U, 1000U}) {
    ByteWriter version;
    version.u32(other);
    auto bytes = encode_entry(sample_key(), sample_artifact());
    bytes.replace(8, 4, version.bytes());
    const auto decoded = decode_entry(bytes, sample_key());
    CHECK_FALSE(decoded.artifact);
    CHECK(decoded.other_version);
    CHECK(decoded.fault == "its format is another version's");
    CHECK_FALSE(read_entry_info(bytes, bytes.size()));
  }
  CHECK_FALSE(decode_entry("", sample_key()).other_version);
  CHECK_FALSE(decode_entry(std::string(100, 'x'), sample_key()).other_version);
}

TEST_CASE("an entry stored for another key is refused") {
  const auto bytes = encode_entry(sample_key(1), sample_artifact());
  CHECK(decode_entry(bytes, sample_key(2)).fault == "it is another kernel's");
}

TEST_CASE("wrong lengths under a valid checksum cannot make the decoder read out of bounds") {
  const auto whole = encode_entry(sample_key(), sample_artifact());
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 20,
                                     std::uint64_t{1} << 40, ~std::uint64_t{0}, ~std::uint64_t{0} - 7}) {
    for (std::size_t at = entry_header_bytes; at + 8 <= whole.size(); ++at) {
      auto payload = whole.substr(entry_header_bytes);
      ByteWriter number;
      number.u64(length);
      payload.replace(at - entry_header_bytes, 8, number.bytes());
      ByteWriter file;
      file.raw(std::string_view(whole).substr(0, 24));
      file.u64(checksum(payload));
      file.raw(std::string_view(whole).substr(32, 32));
      file.raw(payload);
      const auto decoded = decode_entry(file.bytes(), sample_key());
      REQUIRE((decoded.artifact || decoded.fault == "its fields do not add up"));
    }
  }
}

TEST_CASE("the first bytes of a file give an entry's key, name and purpose") {
  const auto bytes = encode_entry(sample_key(), sample_artifact(10000));
  const auto info = read_entry_info(std::string_view(bytes).substr(0, entry_info_bytes), bytes.size());
  REQUIRE(info);
  CHECK(info->key == sample_key());
  CHECK(info->entry == "tmajit_sample");
  CHECK(info->made_for == sample_artifact().made_for);
  CHECK(info->key_fields == sample_artifact().key_fields);
  CHECK_FALSE(read_entry_info(bytes, bytes.size() - 1));
  CHECK_FALSE(read_entry_info("", 0));
}
