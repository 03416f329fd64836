// A kernel from a file of CUDA C++, timed for every combination of its constants' values.
#include "tune_own.hpp"

#include "files.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <tmajit/launch/buffers.hpp>
#include <tmajit/own_tuning.hpp>

#include <list>
#include <mutex>

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::ConstantChoices, tmajit::KernelConstant, tmajit::LaunchBuffers, tmajit::OwnTuneReport;

/// Parses "stages=2,3,4".
ConstantChoices parse_choices(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals + 1 == text.size())
    refuse("--values {}: a constant and values to try are needed: stages=2,3,4", text);
  ConstantChoices choices{.name = text.substr(0, equals), .values = {}};
  for (const auto value : split(std::string_view(text).substr(equals + 1), ','))
    choices.values.push_back(KernelConstant::parse(choices.name, value).value);
  return choices;
}

std::vector<ConstantChoices> parse_all(const std::vector<std::string>& texts) {
  std::vector<ConstantChoices> all;
  for (const auto& text : texts) {
    all.push_back(parse_choices(text));
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      if (all[i].name == all.back().name) refuse("--values {}: it has values already", all[i].name);
    }
  }
  return all;
}

std::string assignment(const KernelConstant& constant) {
  return constant.name + "=" + constant.literal();
}

std::string text_of(const std::vector<KernelConstant>& constants) {
  std::string text;
  for (const auto& constant : constants) text += (text.empty() ? "" : ", ") + assignment(constant);
  return text;
}

Json json_of(const std::vector<KernelConstant>& constants) {
  Json json = Json::object();
  for (const auto& constant : constants) json[constant.name] = constant.literal();
  return json;
}

/// Makes the kernel of a file and its launch for given constants. Launches with equal descriptions of buffers
/// share the buffers.
class Variants {
 public:
  Variants(const tmajit::Runtime& runtime, const TuneOwnOptions& options)
      : device_(runtime.device()), options_(options) {}

  /// Thread-safe.
  tmajit::OwnVariant operator()(const std::vector<KernelConstant>& constants) {
    OwnOptions own = options_.own;
    own.constants.clear();
    for (const auto& constant : constants) own.constants.push_back(assignment(constant));
    own.constants.insert(own.constants.end(), options_.own.constants.begin(), options_.own.constants.end());
    const tmajit::KernelFile file = read_own_kernel(options_.file, own);
    const std::lock_guard lock(mutex_);
    return {file.kernel, naming(own.launch, [&] { return buffers_of(file).own_launch(*file.launch); })};
  }

 private:
  const LaunchBuffers& buffers_of(const tmajit::KernelFile& file) {
    for (const auto& [described, buffers] : buffers_) {
      if (described == file.launch->buffers) return buffers;
    }
    LaunchBuffers buffers(*file.launch, file.launch_folder);
    buffers.upload(device_);
    return buffers_.emplace_back(file.launch->buffers, std::move(buffers)).second;
  }

  std::shared_ptr<tmajit::Device> device_;
  const TuneOwnOptions& options_;
  std::mutex mutex_;
  std::list<std::pair<std::vector<tmajit::BufferDescription>, LaunchBuffers>> buffers_;
};

/// Writes a copy of the launch file with the values of these constants. Expressions that use the constants
/// stay as they are.
void save_launch(const TuneOwnOptions& options, const std::vector<KernelConstant>& constants) {
  Json launch = Json::parse(InputFile(options.own.launch).text());
  for (const auto& constant : constants) launch["constants"][constant.name] = constant.literal();
  write_text(options.save, launch.dump(2) + "\n");
}

}  // namespace

void check_tune_own(const TuneOwnOptions& options) {
  if (options.own.launch.empty()) refuse("{} needs --launch FILE, which describes its launch", options.file);
  if (options.values.empty())
    refuse("{}: --values says which constants to try: --values stages=2,3,4", options.file);
  const auto choices = parse_all(options.values);
  for (const auto& text : options.own.constants) {
    for (const auto& choice : choices) {
      if (text.starts_with(choice.name + "="))
        refuse("-D {}: --values already gives values of {}", text, choice.name);
    }
  }
  const auto first = tmajit::combinations(choices).front();
  TuneOwnOptions one = options;
  for (const auto& constant : first) one.own.constants.push_back(assignment(constant));
  if (!read_own_kernel(options.file, one.own).launch->before.empty())
    refuse("{}: $.before: tune measures a single kernel; leave out the launches before it",
           options.own.launch);
}

void tune_own_kernel(const tmajit::Runtime& runtime, const TuneOwnOptions& options, Json& report, bool json) {
  Variants variants(runtime, options);
  Progress progress("tuning");
  const OwnTuneReport tuned = tmajit::tune(
      runtime, parse_all(options.values), [&](const auto& constants) { return variants(constants); },
      {.repeats = options.repeat,
       .progress = [&](std::uint32_t done, std::uint32_t candidates, std::string_view constants) {
         progress.note(fmt::format("candidate {} of {}: {}", done + 1, candidates, constants));
       }});
  const auto& fastest = tuned.candidates.front();
  if (!options.save.empty()) save_launch(options, fastest.constants);
  if (json) {
    report["file"] = options.file;
    report["candidates"] = Json::array();
    for (const auto& [constants, microseconds] : tuned.candidates)
      report["candidates"].push_back({{"constants", json_of(constants)}, {"microseconds", microseconds}});
    report["left_out"] = Json::array();
    for (const auto& [constants, why] : tuned.left_out)
      report["left_out"].push_back({{"constants", json_of(constants)}, {"why", why}});
    return;
  }
  for (const auto& [constants, why] : tuned.left_out) say("left out", "{}: {}", text_of(constants), why);
  say("tuned", "{}: {}, {:.1f} µs", options.file, text_of(fastest.constants), fastest.microseconds);
  if (!options.save.empty()) say("launch", output_name(options.save));
  Rows rows{{"CONSTANTS", "MEASURED µs", "RELATIVE TIME"}};
  for (const auto& [constants, microseconds] : tuned.candidates) {
    rows.push_back({text_of(constants), fmt::format("{:.1f}", microseconds),
                    fmt::format("{:.2f}", microseconds / fastest.microseconds)});
  }
  write_stdout(format_table(rows, columns(STDOUT_FILENO)));
}

}  // namespace jitc
