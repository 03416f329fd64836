#include "tuning_file.hpp"

#include "files.hpp"
#include "table.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <system_error>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::TunedChoice;
using tmajit::TuningTable;

TuningTable own_choices(const CompilerOptions& options) {
  TuningTable table;
  table.load(tuning_file(options));
  return table;
}

}  // namespace

std::filesystem::path tuning_file(const CompilerOptions& options) {
  const auto directory = runtime_options(options).cache_directory;
  if (!directory) {
    throw tmajit::Error(tmajit::ErrorCode::invalid_argument,
                        "--no-cache keeps no choices; they are in the file tuning.json of --cache-dir");
  }
  return *directory / "tuning.json";
}

std::vector<KnownChoice> known_choices(const CompilerOptions& options) {
  const auto own = own_choices(options).all();
  std::vector<KnownChoice> choices;
  choices.reserve(own.size());
  for (const auto& choice : own) choices.push_back({.choice = choice});
  for (const auto& choice : TuningTable::shipped().all()) {
    const bool replaced = std::any_of(own.begin(), own.end(), [&](const TunedChoice& mine) {
      return mine.chip == choice.chip && mine.shape_class == choice.shape_class &&
             mine.version == choice.version;
    });
    if (!replaced) choices.push_back({.choice = choice, .shipped = true});
  }
  return choices;
}

Json to_json(std::span<const KnownChoice> choices) {
  Json list = Json::array();
  for (const auto& [choice, shipped] : choices) {
    list.push_back({{"chip", choice.chip},
                    {"class", choice.shape_class},
                    {"choice", choice.choice},
                    {"microseconds", choice.microseconds},
                    {"version", choice.version},
                    {"shipped", shipped}});
  }
  return list;
}

std::string choice_table(std::span<const KnownChoice> choices) {
  std::vector<std::vector<std::string>> rows{{"CHIP", "CLASS", "CHOICE", "µs", "VERSION", "FROM"}};
  for (const auto& [choice, shipped] : choices) {
    rows.push_back({choice.chip, choice.shape_class, choice.choice,
                    fmt::format("{:.1f}", choice.microseconds), choice.version,
                    shipped ? "shipped" : "file"});
  }
  return format_table(rows, std::string::npos);
}

std::size_t export_choices(const CompilerOptions& options, const std::string& target) {
  const auto table = own_choices(options);
  if (target == "-") {
    write_stdout(table.json());
  } else {
    OutputFile file(target);
    file.write(table.json());
    file.commit();
  }
  return table.all().size();
}

std::size_t import_choices(const CompilerOptions& options, const std::string& source) {
  const InputFile file(source);
  TuningTable imported;
  imported.add_json({reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}, source);
  auto table = own_choices(options);
  for (const auto& choice : imported.all()) table.add(choice);
  const auto target = tuning_file(options);
  std::error_code error;  // that the folder is missing is said best by what cannot be written into it
  std::filesystem::create_directories(target.parent_path(), error);
  table.save(target);
  return imported.all().size();
}

}  // namespace jitc
