// Defines the inputs of a cache key. The paths of entries are defined in layout.hpp.
#include "cache/bytes.hpp"
#include "compile/options.hpp"
#include "spec/enum_names.hpp"

#include <tmajit/cache.hpp>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA256.h>

TMAJIT_BEGIN

namespace {

/// Increase this when the same inputs give another Artifact: when a field is added to Artifact, when a field
/// is filled differently, or when the order of the fields below changes.
constexpr std::uint64_t key_schema = 1;

constexpr EnumNames<CacheLevel, 3> levels{"cache level", {"memory", "disk", "compiled"}};

}  // namespace

CacheKey cache_key(const Source& source, const CompileOptions& options, const CompilerIdentity& compiler) {
  // Structured bindings name every field: a field added to one of these types stops the build here until
  // the author of the change decides whether it belongs to the key.
  // The expressions are left out: `text` contains them.
  [[maybe_unused]] const auto& [text, entry, expression, headers, result_expression, steps] = source;
  const auto& [arch, line_info, extra] = options;
  [[maybe_unused]] const auto& [major, minor, build, path] = compiler;  // NVRTC's path is left out

  // Each text follows its length, so that two different sequences of fields never give the same bytes.
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
  // The options that compile() passes to NVRTC. They include its fixed options, so a change to those changes
  // the key, too.
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
