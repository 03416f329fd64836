#include "commands.hpp"
#include "files.hpp"
#include "option_group.hpp"
#include "plan_kernels.hpp"
#include "report.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <tmajit/cache.hpp>
#include <tmajit/codegen.hpp>
#include <tmajit/launch/kernels.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::CachedKernel;
using tmajit::CacheKey;
using tmajit::KeyField;

struct KeyOptions : KernelOptions {
  std::vector<std::string> explain;  ///< two kernels
};

struct DescribedKey {
  CacheKey key;
  std::vector<KeyField> fields;
};

template <class Kernel>
DescribedKey describe_key(const Kernel& kernel, const CompilerOptions& options) {
  const auto compile = runtime_options(options).compile;
  const auto& compiler = tmajit::compiler();
  return {tmajit::cache_key(kernel, compile, compiler), tmajit::key_fields(kernel, compile, compiler)};
}

DescribedKey key_of(const KeyOptions& options) {
  const std::string& word = options.problem.word;
  if (is_own_kernel(word)) {
    const auto source =
        naming(word, [&] { return tmajit::source(read_own_kernel(word, options.own).kernel); });
    return describe_key(source, options.compiler);
  }
  const auto problem = make_problem(options.problem, Purpose::look);
  auto runtime = planning_runtime(options.compiler, select_chip("auto").chip);
  const auto plans = plan_kernels(problem, problem.planning_addresses(), runtime);
  return describe_key(kernel_of_step(plans, options.step), options.compiler);
}

int show_key(const KeyOptions& options, bool json) {
  const DescribedKey described = key_of(options);
  if (json) {
    Json fields = Json::object();
    for (const KeyField& field : described.fields) fields[field.name] = field.value;
    print_json({{"key", described.key.hex()}, {"fields", fields}});
    return 0;
  }
  Rows rows{{"FIELD", "VALUE"}};
  for (const KeyField& field : described.fields) rows.push_back({field.name, field.value});
  write_stdout("{}\n{}", described.key.hex(), format_table(rows, columns(STDOUT_FILENO)));
  return 0;
}

/// The kernel that a word names: the file of an entry, or the start of a key in the cache.
CachedKernel find_kernel(const std::string& word, const tmajit::DiskCache& cache) {
  if (std::filesystem::is_regular_file(word)) return tmajit::read_cache_file(word);
  std::vector<CacheKey> found;
  for (const auto& entry : cache.entries())
    if (entry.key.hex().starts_with(word)) found.push_back(entry.key);
  if (found.empty()) {
    refuse("{} is no file, and no key in {} begins with it; jitc cache ls shows the keys", word,
           cache.directory().string());
  }
  if (found.size() > 1) {
    refuse("{} keys in {} begin with {}: give more digits", found.size(), cache.directory().string(), word);
  }
  auto artifact = cache.fetch(found.front());
  if (!artifact) fail(tmajit::ErrorCode::io, "the kernel {} cannot be read", found.front().hex());
  return {.key = found.front(), .artifact = *std::move(artifact)};
}

/// The lines of `text` that `other` lacks, in order.
std::vector<std::string> lines_without(const std::string& text, const std::string& other) {
  const auto known = split(other, '\n');
  const std::set<std::string_view> lacking(known.begin(), known.end());
  std::vector<std::string> lines;
  for (const auto line : split(text, '\n'))
    if (!lacking.contains(line)) lines.emplace_back(line);
  return lines;
}

struct FieldDifference {
  std::string name;
  std::string a, b;  ///< "–" for a field that the key lacks
};

std::vector<FieldDifference> differences(const std::vector<KeyField>& a, const std::vector<KeyField>& b) {
  constexpr auto none = "–";
  const auto value = [&](const std::vector<KeyField>& fields, const std::string& name) {
    const auto field = std::ranges::find(fields, name, &KeyField::name);
    return field == fields.end() ? std::string(none) : field->value;
  };
  std::vector<FieldDifference> result;
  for (const KeyField& field : a)
    if (const auto other = value(b, field.name); other != field.value)
      result.push_back({field.name, field.value, other});
  for (const KeyField& field : b)
    if (value(a, field.name) == none) result.push_back({field.name, none, field.value});
  return result;
}

int explain_keys(const KeyOptions& options, bool json) {
  const tmajit::DiskCache cache(cache_folder(options.compiler.cache_directory), 0,
                                tmajit::CacheAccess::read_only);
  const CachedKernel a = find_kernel(options.explain[0], cache);
  const CachedKernel b = find_kernel(options.explain[1], cache);
  const auto fields = differences(a.artifact.key_fields, b.artifact.key_fields);
  const auto only_a = lines_without(a.artifact.source, b.artifact.source);
  const auto only_b = lines_without(b.artifact.source, a.artifact.source);
  if (json) {
    Json differing = Json::array();
    for (const auto& field : fields)
      differing.push_back({{"field", field.name}, {"a", field.a}, {"b", field.b}});
    print_json({{"a", a.key.hex()},
                {"b", b.key.hex()},
                {"same", a.key == b.key},
                {"fields", differing},
                {"source_lines", {{"a", only_a}, {"b", only_b}}}});
    return 0;
  }
  std::string text =
      fmt::format("A {}  {}\nB {}  {}\n", a.key.hex(), a.artifact.entry, b.key.hex(), b.artifact.entry);
  if (a.key == b.key) {
    write_stdout(text + "The keys are the same.\n");
    return 0;
  }
  Rows rows{{"FIELD", "A", "B"}};
  for (const auto& field : fields) rows.push_back({field.name, field.a, field.b});
  text += format_table(rows, columns(STDOUT_FILENO));
  constexpr std::size_t most_lines = 12;
  for (const auto& [mark, lines] : {std::pair('A', &only_a), std::pair('B', &only_b)}) {
    for (std::size_t i = 0; i < std::min(lines->size(), most_lines); ++i)
      text += fmt::format("{}: {}\n", mark, (*lines)[i]);
    if (lines->size() > most_lines)
      text += fmt::format("{}: {} more lines of the source differ; --json prints them\n", mark,
                          lines->size() - most_lines);
  }
  write_stdout(text);
  return 0;
}

}  // namespace

void add_key_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand(
      "key", "Print the key by which caches name a kernel, and its fields; or explain how two keys differ");
  auto options = std::make_shared<KeyOptions>();
  add_kernel_options(command, *options, "A file of CUDA C++, kernel.cu, or an operation: ");
  command.get_option("OPERATION")->required(false);
  OptionGroup(command)
      .add("--explain", options->explain, "A B",
           "Two kernels of the cache, each by the first digits of its key or by its file: prints the fields "
           "of their keys that differ, and the lines of their sources")
      ->expected(2)
      ->excludes(command.get_option("OPERATION"));
  command.footer(
      "Examples:\n"
      "  jitc key permute --axes 1,0 --shape 8192x8192 --dtype f16\n"
      "  jitc key kernel.cu -D stages=4 --json\n"
      "  jitc key --explain 3fa2 91c0");
  add_action(command, session, [=, &command](bool json) {
    if (!options->explain.empty()) return explain_keys(*options, json);
    if (options->problem.word.empty())
      refuse("an operation, a file of CUDA C++, or --explain with two kernels is needed");
    check_own_usage(command, options->problem.word);
    return show_key(*options, json);
  });
}

}  // namespace jitc
