// Defines the inputs of a cache key. The paths of entries are defined in layout.hpp.
#include "cache/bytes.hpp"
#include "cache/plan_key.hpp"
#include "compile/options.hpp"
#include "spec/enum_names.hpp"

#include <tmajit/cache.hpp>
#include <tmajit/codegen.hpp>

#include <algorithm>
#include <utility>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA256.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN

namespace {

/// Increase this when the same inputs give another Artifact: when a field is added to Artifact, when a field
/// is filled differently, when the order of the fields below changes, or when the format of entries changes:
/// versions of tmajit that share a folder must not replace each other's entries.
constexpr std::uint64_t key_schema = 2;

constexpr EnumNames<CacheLevel, 5> levels{"cache level", {"memory", "pack", "disk", "fleet", "compiled"}};

/// A value as text: the text itself if it is short and can be printed, else its length and hash.
std::string shown(std::string_view text) {
  constexpr std::size_t longest = 200;
  const bool prints = std::ranges::all_of(text, [](char c) { return llvm::isPrint(c); });
  if (prints && text.size() <= longest) return std::string(text);
  const auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return fmt::format("{} bytes, SHA-256 {}…", text.size(),
                     llvm::toHex(llvm::ArrayRef(hash).take_front(8), /*LowerCase=*/true));
}

/// Writes the fields of a key and, on request, describes them.
class Fields {
 public:
  explicit Fields(std::string_view kind, std::vector<KeyField>* descriptions = nullptr)
      : descriptions_(descriptions) {
    add("kind", kind);
    add("schema", key_schema);
  }
  // Each text follows its length, so that two different sequences of fields never give the same bytes.
  void add(std::string_view name, std::string_view text) {
    writer_.text(text);
    if (descriptions_ != nullptr) describe(name, shown(text));
  }
  void add(std::string_view name, std::uint64_t number) {
    writer_.u64(number);
    if (descriptions_ != nullptr) describe(name, fmt::to_string(number));
  }
  void add(std::string_view name, const std::vector<std::string>& texts) {
    writer_.u64(texts.size());
    for (const auto& each : texts) writer_.text(each);
    if (descriptions_ != nullptr) describe(name, shown(fmt::format("{}", texts)));
  }
  // Structured bindings name every field: a field added to one of these types stops the build here until
  // the author of the change decides whether it belongs to the key.
  void add(const CompileOptions& options) {
    const auto& [arch, line_info, extra] = options;
    add("arch", arch);
    add("line info", std::uint64_t{line_info});
    add("options", extra);
  }
  void add(const CompilerIdentity& compiler) {
    [[maybe_unused]] const auto& [major, minor, build, path, stamp] = compiler;  // NVRTC's file is left out
    add("NVRTC major", static_cast<std::uint64_t>(major));
    add("NVRTC minor", static_cast<std::uint64_t>(minor));
    add("NVRTC build", build);
  }
  void add(const SourceHeaders& headers) {
    writer_.u64(headers.size());
    const std::size_t begin = writer_.bytes().size();
    for (const auto& [name, header] : headers) {
      writer_.text(name);
      writer_.text(header);
    }
    if (descriptions_ != nullptr) {
      describe("headers",
               fmt::format("{}: {}", headers.size(), shown(std::string_view(writer_.bytes()).substr(begin))));
    }
  }
  [[nodiscard]] CacheKey key() const {
    return {llvm::SHA256::hash(llvm::arrayRefFromStringRef(writer_.bytes()))};
  }

 private:
  void describe(std::string_view name, std::string value) {
    descriptions_->push_back({std::string(name), std::move(value)});
  }

  ByteWriter writer_;
  std::vector<KeyField>* descriptions_;
};

// The options that compile() passes to NVRTC are fields, too. They include its fixed options, so a change to
// those changes the key.

Fields fields_of(const Source& source, const CompileOptions& options, const CompilerIdentity& compiler,
                 std::vector<KeyField>* descriptions = nullptr) {
  // The expressions are left out: `text` contains them.
  [[maybe_unused]] const auto& [text, entry, expression, headers, result_expression, steps] = source;
  Fields fields("tmajit kernel", descriptions);
  fields.add("source", text);
  fields.add("entry", entry);
  fields.add(options);
  fields.add(compiler);
  fields.add("NVRTC options", nvrtc_options(source, options, compiler));
  if (headers) fields.add(*headers);
  return fields;
}

Fields plan_fields(std::string_view generator, std::string_view plan_key, const CompileOptions& options,
                   const CompilerIdentity& compiler, std::vector<KeyField>* descriptions = nullptr) {
  Fields fields("tmajit plan", descriptions);
  fields.add("generator", generator);
  fields.add("plan", plan_key);
  fields.add(options);
  fields.add(compiler);
  fields.add("NVRTC options", nvrtc_options({}, options, compiler));
  return fields;
}

Fields fields_of(const KernelPlan& plan, const CompileOptions& options, const CompilerIdentity& compiler,
                 std::vector<KeyField>* descriptions = nullptr) {
  const std::string_view generator = generator_id();
  if (generator.empty()) return fields_of(source(plan), options, compiler, descriptions);
  return plan_fields(generator, plan.key(), options, compiler, descriptions);
}

}  // namespace

CacheKey cache_key(const Source& source, const CompileOptions& options, const CompilerIdentity& compiler) {
  return fields_of(source, options, compiler).key();
}
CacheKey cache_key(const KernelPlan& plan, const CompileOptions& options, const CompilerIdentity& compiler) {
  return fields_of(plan, options, compiler).key();
}
CacheKey plan_cache_key(std::string_view generator, std::string_view plan_key, const CompileOptions& options,
                        const CompilerIdentity& compiler) {
  return plan_fields(generator, plan_key, options, compiler).key();
}

std::vector<KeyField> key_fields(const Source& source, const CompileOptions& options,
                                 const CompilerIdentity& compiler) {
  std::vector<KeyField> fields;
  (void)fields_of(source, options, compiler, &fields);
  return fields;
}
std::vector<KeyField> key_fields(const KernelPlan& plan, const CompileOptions& options,
                                 const CompilerIdentity& compiler) {
  std::vector<KeyField> fields;
  (void)fields_of(plan, options, compiler, &fields);
  return fields;
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
