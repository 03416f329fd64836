// The one place that says what a key is. Where entries live is disk_cache.cpp's business.
#include "compile/options.hpp"

#include <tmajit/cache.hpp>

#include <algorithm>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA256.h>

TMAJIT_BEGIN

namespace {

/// To be raised when the same inputs come to mean another Artifact: a field added to it, another way to
/// fill one, another order of the fields below.
constexpr std::uint64_t key_schema = 1;

/// Hashes a sequence of fields. Each goes in behind its length, so that no two sequences are the same bytes.
class FieldHash {
 public:
  void add(std::uint64_t value) {
    std::array<std::uint8_t, sizeof value> bytes{};
    for (auto& byte : bytes) {
      byte = static_cast<std::uint8_t>(value);
      value >>= 8;
    }
    hash_.update(bytes);
  }
  void add(std::string_view text) {
    add(std::uint64_t{text.size()});
    hash_.update(llvm::StringRef(text.data(), text.size()));
  }
  [[nodiscard]] CacheKey finish() {
    CacheKey key;
    const auto digest = hash_.final();
    std::transform(digest.begin(), digest.end(), key.digest.begin(),
                   [](auto byte) { return static_cast<std::uint8_t>(byte); });
    return key;
  }

 private:
  llvm::SHA256 hash_;
};

}  // namespace

CacheKey cache_key(const Source& source, const CompileOptions& options, const CompilerIdentity& compiler) {
  // Structured bindings name every field: a field added to one of these types stops the build here until
  // somebody decides whether it belongs to the key.
  [[maybe_unused]] const auto& [text, entry, expression] = source;  // the expression is in the text
  const auto& [arch, line_info, extra] = options;
  [[maybe_unused]] const auto& [major, minor, build, path] = compiler;  // where it lies changes nothing

  FieldHash hash;
  hash.add("tmajit kernel");
  hash.add(key_schema);
  hash.add(text);
  hash.add(entry);
  hash.add(arch);
  hash.add(std::uint64_t{line_info});
  hash.add(std::uint64_t{extra.size()});
  for (const auto& option : extra) hash.add(option);
  hash.add(static_cast<std::uint64_t>(major));
  hash.add(static_cast<std::uint64_t>(minor));
  hash.add(build);
  // What compile() makes of all that, so that a change to its fixed options needs no thought here.
  const auto arguments = nvrtc_options(options, compiler);
  hash.add(std::uint64_t{arguments.size()});
  for (const auto& argument : arguments) hash.add(argument);
  return hash.finish();
}

std::string CacheKey::hex() const {
  return llvm::toHex(digest, /*LowerCase=*/true);
}

const char* name(CacheLevel level) noexcept {
  switch (level) {
    case CacheLevel::memory: return "memory";
    case CacheLevel::disk: return "disk";
    case CacheLevel::compiled: return "compiled";
  }
  return "unknown";
}

TMAJIT_END
