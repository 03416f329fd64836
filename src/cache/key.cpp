// Defines the inputs of a cache key. The paths of entries are defined in layout.hpp.
#include "cache/bytes.hpp"
#include "cache/plan_key.hpp"
#include "compile/options.hpp"
#include "spec/enum_names.hpp"

#include <tmajit/cache.hpp>
#include <tmajit/codegen.hpp>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA256.h>

TMAJIT_BEGIN

namespace {

/// Increase this when the same inputs give another Artifact: when a field is added to Artifact, when a field
/// is filled differently, or when the order of the fields below changes.
constexpr std::uint64_t key_schema = 1;

constexpr EnumNames<CacheLevel, 5> levels{"cache level", {"memory", "pack", "disk", "fleet", "compiled"}};

/// Writes the fields of a key.
class Fields {
 public:
  explicit Fields(std::string_view kind) {
    writer_.text(kind);
    writer_.u64(key_schema);
  }
  // Each text follows its length, so that two different sequences of fields never give the same bytes.
  void add(std::string_view text) { writer_.text(text); }
  void add(std::uint64_t number) { writer_.u64(number); }
  void add(const std::vector<std::string>& texts) {
    writer_.u64(texts.size());
    for (const auto& each : texts) writer_.text(each);
  }
  // Structured bindings name every field: a field added to one of these types stops the build here until
  // the author of the change decides whether it belongs to the key.
  void add(const CompileOptions& options) {
    const auto& [arch, line_info, extra] = options;
    add(arch);
    add(std::uint64_t{line_info});
    add(extra);
  }
  void add(const CompilerIdentity& compiler) {
    [[maybe_unused]] const auto& [major, minor, build, path, stamp] = compiler;  // NVRTC's file is left out
    add(static_cast<std::uint64_t>(major));
    add(static_cast<std::uint64_t>(minor));
    add(build);
  }
  [[nodiscard]] CacheKey key() const {
    return {llvm::SHA256::hash(llvm::arrayRefFromStringRef(writer_.bytes()))};
  }

 private:
  ByteWriter writer_;
};

}  // namespace

// The options that compile() passes to NVRTC are fields, too. They include its fixed options, so a change to
// those changes the key.

CacheKey cache_key(const Source& source, const CompileOptions& options, const CompilerIdentity& compiler) {
  // The expressions are left out: `text` contains them.
  [[maybe_unused]] const auto& [text, entry, expression, headers, result_expression, steps] = source;
  Fields fields("tmajit kernel");
  fields.add(text);
  fields.add(entry);
  fields.add(options);
  fields.add(compiler);
  fields.add(nvrtc_options(source, options, compiler));
  if (headers) {
    fields.add(headers->size());
    for (const auto& [name, header] : *headers) {
      fields.add(name);
      fields.add(header);
    }
  }
  return fields.key();
}

CacheKey cache_key(const KernelPlan& plan, const CompileOptions& options, const CompilerIdentity& compiler) {
  const std::string_view generator = generator_id();
  return generator.empty() ? cache_key(source(plan), options, compiler)
                           : plan_cache_key(generator, plan.key(), options, compiler);
}

CacheKey plan_cache_key(std::string_view generator, std::string_view plan_key, const CompileOptions& options,
                        const CompilerIdentity& compiler) {
  Fields fields("tmajit plan");
  fields.add(generator);
  fields.add(plan_key);
  fields.add(options);
  fields.add(compiler);
  fields.add(nvrtc_options({}, options, compiler));
  return fields.key();
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
