// The one place that says what a key is. Where entries live is disk_cache.cpp's business.
#include "cache/bytes.hpp"
#include "compile/options.hpp"
#include "spec/enum_names.hpp"

#include <tmajit/cache.hpp>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA256.h>

TMAJIT_BEGIN

namespace {

/// To be raised when the same inputs come to mean another Artifact: a field added to it, another way to
/// fill one, another order of the fields below.
constexpr std::uint64_t key_schema = 1;

constexpr EnumNames<CacheLevel, 3> levels{"cache level", {"memory", "disk", "compiled"}};

}  // namespace

CacheKey cache_key(const Source& source, const CompileOptions& options, const CompilerIdentity& compiler) {
  // Structured bindings name every field: a field added to one of these types stops the build here until
  // the author of the change decides whether it belongs to the key.
  // Expressions are in the text.
  [[maybe_unused]] const auto& [text, entry, expression, headers, then] = source;
  const auto& [arch, line_info, extra] = options;
  [[maybe_unused]] const auto& [major, minor, build, path] = compiler;  // where it lies changes nothing

  // Every text behind its length, so that no two sequences of fields are the same bytes.
  ByteWriter fields;
  const auto add_all = [&](const std::vector<std::string>& texts) {
    fields.u64(texts.size());
    for (const auto& each : texts) fields.text(each);
  };
  fields.text("tmajit kernel");
  fields.u64(key_schema);
  fields.text(text);
  fields.text(entry);
  fields.text(arch);
  fields.u64(line_info ? 1 : 0);
  add_all(extra);
  fields.u64(static_cast<std::uint64_t>(major));
  fields.u64(static_cast<std::uint64_t>(minor));
  fields.text(build);
  // The options that compile() derives from all that, so that a change to its fixed options needs no thought
  // here.
  add_all(nvrtc_options(source, options, compiler));
  if (headers) {
    fields.u64(headers->size());
    for (const auto& [name, header] : *headers) {
      fields.text(name);
      fields.text(header);
    }
  }
  return {llvm::SHA256::hash(llvm::arrayRefFromStringRef(fields.bytes()))};
}

std::string CacheKey::hex() const {
  return llvm::toHex(digest, /*LowerCase=*/true);
}

std::string_view name(CacheLevel level) noexcept {
  return levels.of(level);
}
template <>
CacheLevel parse<CacheLevel>(std::string_view text) {
  return levels.parse(text);
}

TMAJIT_END
