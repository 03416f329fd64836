#include "ops/contest.hpp"

#include <tmajit/error.hpp>
#include <tmajit/own_tuning.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

std::string text_of(const std::vector<KernelConstant>& constants) {
  std::string text;
  for (const KernelConstant& constant : constants) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", constant.name, constant.literal());
  }
  return text;
}

/// Launches each candidate once and leaves out those that the driver refuses, for example because their block
/// has too many threads. If it refuses all, throws the first one's error.
Contestants launchable(Contestants all) {
  Contestants kept{.numbers = {}, .launches = {}, .left_out = std::move(all.left_out)};
  std::exception_ptr first;
  for (std::size_t i = 0; i < all.launches.size(); ++i) {
    try {
      all.launches[i](nullptr);
    } catch (const Error& refused) {
      if (!first) first = std::current_exception();
      kept.left_out.emplace_back(all.numbers[i], refused.what());
      continue;
    }
    kept.numbers.push_back(all.numbers[i]);
    kept.launches.push_back(std::move(all.launches[i]));
  }
  if (kept.launches.empty()) std::rethrow_exception(first);
  std::ranges::sort(kept.left_out, {}, [](const auto& one) { return one.first; });
  return kept;
}

}  // namespace

std::vector<std::vector<KernelConstant>> combinations(const std::vector<ConstantChoices>& choices) {
  constexpr std::size_t max_combinations = 4096;
  std::vector<std::vector<KernelConstant>> all{{}};
  for (const ConstantChoices& choice : choices) {
    if (choice.values.empty())
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("the constant {} has no values to try", choice.name));
    if (choice.values.size() > max_combinations / all.size()) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("there are more than {} combinations of constants", max_combinations));
    }
    std::vector<std::vector<KernelConstant>> extended;
    for (const std::vector<KernelConstant>& combination : all) {
      for (const KernelConstant::Value& value : choice.values) {
        extended.push_back(combination);
        extended.back().push_back({choice.name, value});
      }
    }
    all = std::move(extended);
  }
  return all;
}

std::size_t combination_number(const std::vector<ConstantChoices>& choices,
                               const std::vector<KernelConstant>& constants) {
  std::size_t number = 0;
  bool found = choices.size() == constants.size();
  for (std::size_t i = 0; found && i < choices.size(); ++i) {
    const auto value = std::ranges::find(choices[i].values, constants[i].value);
    found = choices[i].name == constants[i].name && value != choices[i].values.end();
    number = number * choices[i].values.size() + static_cast<std::size_t>(value - choices[i].values.begin());
  }
  if (!found)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is no combination of the choices", text_of(constants)));
  return number;
}

OwnTuneReport tune(const Runtime& runtime, const std::vector<ConstantChoices>& choices,
                   const std::function<OwnVariant(const std::vector<KernelConstant>&)>& variant,
                   const OwnTuneOptions& options) {
  require_gpu(runtime);
  const std::vector<std::vector<KernelConstant>> all = combinations(choices);
  const Contestants contestants = launchable(prepare_all(all.size(), [&](std::size_t n) {
    const OwnVariant candidate = variant(all[n]);
    return runtime.kernel(source(candidate.kernel), candidate.launch.shape.shared_bytes)
        .prepare(candidate.launch);
  }));
  OwnTuneReport report;
  for (const auto& [number, why] : contestants.left_out) report.left_out.push_back({all[number], why});
  const auto count = static_cast<std::uint32_t>(contestants.launches.size());
  const auto constants_of = [&](std::size_t launch) -> const std::vector<KernelConstant>& {
    return all[contestants.numbers[launch]];
  };
  const std::vector<double> microseconds =
      contest_us(runtime.device()->timing(), contestants.launches, options.repeats,
                 [&](std::uint32_t done, std::size_t launch) {
                   if (options.progress) options.progress(done, count, text_of(constants_of(launch)));
                 });
  for (std::uint32_t i = 0; i < count; ++i) report.candidates.push_back({constants_of(i), microseconds[i]});
  std::ranges::stable_sort(report.candidates, {}, &OwnTuneReport::Candidate::microseconds);
  return report;
}

TMAJIT_END
