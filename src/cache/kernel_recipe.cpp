#include "cache/plan_key.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>
#include <tmajit/kernel_recipe.hpp>

#include <optional>

#include <llvm/ADT/StringExtras.h>
#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

using Json = nlohmann::json;

/// Reads the members of a record. A member that is missing or of another type makes the record damaged.
class RecordReader {
 public:
  explicit RecordReader(const Json& line) : line_(line) {}

  std::string text(const char* name) {
    const Json* const value = find(name);
    if (value != nullptr && value->is_string()) return value->get<std::string>();
    ok_ = false;
    return {};
  }
  /// The bytes whose hexadecimal digits the member has.
  std::string hex(const char* name) {
    std::string bytes;
    const std::string digits = text(name);
    ok_ = ok_ && llvm::tryGetFromHex(digits, bytes);
    return bytes;
  }
  bool flag(const char* name) {
    const Json* const value = find(name);
    if (value != nullptr && value->is_boolean()) return value->get<bool>();
    ok_ = false;
    return false;
  }
  std::vector<std::string> texts(const char* name) { return texts(find(name)); }
  /// Pairs of texts; null if there is no such member.
  std::shared_ptr<const SourceHeaders> headers(const char* name) {
    const Json* const list = find(name);
    if (list == nullptr) return nullptr;
    auto headers = std::make_shared<SourceHeaders>();
    if (!list->is_array()) ok_ = false;
    for (const Json& each : *list) {
      std::vector<std::string> pair = texts(&each);
      ok_ = ok_ && pair.size() == 2;
      if (ok_) headers->emplace_back(std::move(pair[0]), std::move(pair[1]));
    }
    return headers;
  }
  [[nodiscard]] bool ok() const noexcept { return ok_; }

 private:
  const Json* find(const char* name) const {
    const auto member = line_.find(name);
    return member == line_.end() ? nullptr : &*member;
  }
  std::vector<std::string> texts(const Json* list) {
    std::vector<std::string> result;
    if (list == nullptr || !list->is_array()) {
      ok_ = false;
      return result;
    }
    for (const Json& each : *list) {
      ok_ = ok_ && each.is_string();
      if (ok_) result.push_back(each.get<std::string>());
    }
    return result;
  }

  const Json& line_;
  bool ok_ = true;
};

/// nullopt if the line is no record.
std::optional<KernelRecipe> read_record(std::string_view line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  RecordReader reader(json);
  KernelRecipe record;
  record.generator = reader.text("generator");
  record.plan_key = reader.hex("plan");
  record.source.text = reader.text("source");
  record.source.entry = reader.text("entry");
  record.source.headers = reader.headers("headers");
  record.options = {
      .arch = reader.text("arch"), .line_info = reader.flag("line_info"), .extra = reader.texts("options")};
  record.made_for = {
      .operation = reader.text("operation"), .types = reader.text("types"), .shape = reader.text("shape")};
  if (!reader.ok() || record.generator.empty() != record.plan_key.empty()) return std::nullopt;
  return record;
}

}  // namespace

CacheKey KernelRecipe::key(const CompilerIdentity& compiler) const {
  return generator.empty() ? cache_key(source, options, compiler)
                           : plan_cache_key(generator, plan_key, options, compiler);
}

std::string KernelRecipe::line() const try {
  Json json{{"tmajit", TMAJIT_VERSION_STRING},
            {"generator", generator},
            {"plan", llvm::toHex(plan_key, /*LowerCase=*/true)},
            {"entry", source.entry},
            {"source", source.text},
            {"arch", options.arch},
            {"line_info", options.line_info},
            {"options", options.extra},
            {"operation", made_for.operation},
            {"types", made_for.types},
            {"shape", made_for.shape}};
  if (source.headers) {
    json["headers"] = Json::array();
    for (const auto& [name, text] : *source.headers) json["headers"].push_back({name, text});
  }
  return json.dump() + '\n';
} catch (const Json::type_error& error) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("the kernel {} cannot be recorded: its source must be UTF-8 ({})", source.entry,
                          error.what()));
}

Manifest read_manifest(std::string_view text) {
  Manifest manifest;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty()) continue;
    std::optional<KernelRecipe> record = read_record(line);
    if (!record)
      ++manifest.damaged;
    else if (!record->generator.empty() && record->generator != generator_id())
      ++manifest.of_other_versions;
    else
      manifest.kernels.push_back(*std::move(record));
  }
  return manifest;
}

TMAJIT_END
