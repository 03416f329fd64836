#include "fleet/seal.hpp"

#include <algorithm>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA256.h>

TMAJIT_BEGIN
namespace {

constexpr std::size_t block_bytes = 64;  // of SHA-256
constexpr std::string_view seal_magic{"\x89tmaseal", 8};

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view first, std::string_view second) {
  llvm::SHA256 hash;
  hash.update(llvm::StringRef(first.data(), first.size()));
  hash.update(llvm::StringRef(second.data(), second.size()));
  const auto result = hash.final();  // a StringRef in LLVM 14, an array in later versions
  Digest digest{};
  std::transform(result.begin(), result.end(), digest.begin(),
                 [](auto byte) { return static_cast<std::uint8_t>(byte); });
  return digest;
}

std::string_view as_text(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

Digest signature(std::string_view secret, std::string_view kind, std::string_view bytes) {
  // The digest of the bytes has a fixed length, so that the kind cannot be extended into them.
  std::string message(as_text(sha256(bytes, {})));
  message += kind;
  return hmac_sha256(secret, message);
}

/// Takes the same time wherever the digests differ.
bool same(const Digest& a, std::string_view b) {
  unsigned difference = a.size() != b.size();
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    difference |= a[i] ^ static_cast<std::uint8_t>(b[i]);
  return difference == 0;
}

}  // namespace

std::array<std::uint8_t, 32> hmac_sha256(std::string_view secret, std::string_view message) {
  std::string key(secret);
  if (key.size() > block_bytes) key = as_text(sha256(secret, {}));
  key.resize(block_bytes, '\0');
  std::string inner = key;
  std::string outer = key;
  for (char& byte : inner) byte = static_cast<char>(byte ^ 0x36);
  for (char& byte : outer) byte = static_cast<char>(byte ^ 0x5c);
  return sha256(outer, as_text(sha256(inner, message)));
}

std::string Seal::close(std::string_view kind, std::string_view bytes) const {
  if (secret_.empty()) return std::string(bytes);
  std::string sealed;
  sealed.reserve(overhead + bytes.size());
  sealed += seal_magic;
  sealed += as_text(signature(secret_, kind, bytes));
  sealed += bytes;
  return sealed;
}

Seal::Opened Seal::open(std::string_view kind, std::string_view stored) const {
  const bool is_sealed = stored.starts_with(seal_magic);
  if (secret_.empty()) {
    if (is_sealed) return {.bytes = {}, .fault = "it is signed, and this process has no secret"};
    return {.bytes = stored, .fault = {}};
  }
  if (!is_sealed) return {.bytes = {}, .fault = "it is not signed"};
  stored.remove_prefix(seal_magic.size());
  const std::string_view signed_as = stored.substr(0, sizeof(Digest));
  stored.remove_prefix(signed_as.size());
  if (!same(signature(secret_, kind, stored), signed_as))
    return {.bytes = {}, .fault = "its signature is not that of this process's secret"};
  return {.bytes = stored, .fault = {}};
}

TMAJIT_END
