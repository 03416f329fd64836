#include "run.hpp"

#include "finding_formats.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <algorithm>
#include <array>

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {

Json to_json(const tmajit::DeviceInfo& info) {
  return {{"name", info.name},
          {"simulated", info.ordinal < 0},
          {"ordinal", info.ordinal},
          {"compute_capability", fmt::format("{}.{}", info.compute_major, info.compute_minor)},
          {"sm_count", info.sm_count},
          {"memory_bytes", info.memory_bytes}};
}

void say_launch(const tmajit::DeviceInfo& info, const tmajit::LaunchShape& shape) {
  const auto count = [](const std::array<std::uint32_t, 3>& n) { return std::uint64_t{n[0]} * n[1] * n[2]; };
  const auto number = info.ordinal < 0 ? std::string() : fmt::format(" ({})", info.ordinal);
  say("run", "{}{}: {} of {} threads", info.name, number, counted(count(shape.grid), "CTA"),
      count(shape.block));
}

void say_choice(const DeviceChoice& choice) {
  if (choice.why.empty()) return;
  say("device", styled(fmt::format("{}: the simulated device runs the kernel", choice.why), Style::warn,
                       STDERR_FILENO));
}

void print_result(const RunOptions& options, const DeviceChoice& choice, const Json& report, bool json) {
  if (json) print_json(report);
  if (!is_for_services(options.format) || !choice.simulation) return;
  const auto& [findings, locations, kernels] = choice.simulation->found();
  const std::string& word = options.problem.word;
  const std::string input = options.ptx.empty() ? word + ".ptx" : tmajit::input_name(options.ptx);
  print_findings({.tool = "jitc run",
                  .input = input,
                  .source = is_own_kernel(word) ? word : "",
                  .kernels = kernels,
                  .findings = findings,
                  .locations = locations},
                 options.format);
}

Measurement measure(tmajit::Device& device, std::uint64_t bytes, std::uint32_t repeats,
                    const std::function<void()>& work) {
  const Progress progress("timing");
  work();
  device.streams().synchronize(nullptr);
  auto times = device.timing().time(nullptr, repeats, work);
  std::sort(times.begin(), times.end());
  const std::size_t middle = times.size() / 2;
  const double median =
      times.size() % 2 == 1 ? times[middle] : (static_cast<double>(times[middle - 1]) + times[middle]) / 2;
  return {bytes, median, times.front(), repeats};
}

Json to_json(const Measurement& measured) {
  return {{"bytes", measured.bytes},
          {"milliseconds",
           {{"median", measured.median_ms}, {"min", measured.min_ms}, {"repeats", measured.repeats}}},
          {"gb_per_s", measured.gb_per_s()}};
}

void say_time(const Measurement& measured) {
  say("time", "median {:.4f} ms, min {:.4f} ms of {} runs: {:.0f} GB/s ({} moved)", measured.median_ms,
      measured.min_ms, measured.repeats, measured.gb_per_s(), describe_bytes(measured.bytes));
}

}  // namespace jitc
