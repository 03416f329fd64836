#include "bench.hpp"
#include "cost.hpp"
#include "machine/process.hpp"
#include "planning.hpp"
#include "raw_libraries.hpp"
#include "temporary_folder.hpp"

#include <tmajit/cache.hpp>
#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

constexpr std::size_t quick_step = 6;  // --quick measures every sixth family

/// Runs this program again with `--probe probe`, and returns the two numbers that it prints. Work that
/// happens once in a process, such as loading NVRTC, can only be measured in a new process. Throws
/// tmajit::Error{internal} if the program does not print two numbers.
Cost probe_in_child(const std::string& probe) {
  const auto result =
      tmajit::run_process(std::filesystem::read_symlink("/proc/self/exe"), {"--probe=" + probe});
  Cost cost;
  const int numbers = std::sscanf(result.out.c_str(), "%lf %lf", &cost.wall_ms, &cost.cpu_ms);
  if (numbers == 2 && result.status == 0) return cost;
  throw tmajit::Error(tmajit::ErrorCode::internal,
                      fmt::format("--probe={} did not print two numbers (exit status {}): {}", probe,
                                  result.status, result.err));
}

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

tmajit::Runtime runtime(std::optional<std::filesystem::path> cache) {
  return tmajit::Runtime({.device = nullptr, .cache_directory = std::move(cache)});
}

/// Microseconds of a call, each sample the mean of `calls`.
template <class Function>
Samples time_calls(unsigned rounds, std::size_t calls, const Function& function) {
  std::vector<double> values;
  for (unsigned round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    for (std::size_t i = 0; i < calls; ++i) function();
    values.push_back(1e3 * milliseconds_since(start) / static_cast<double>(calls));
  }
  return Samples(std::move(values));
}

/// Times of tmajit and of NVRTC alone in the same rounds, and their differences. The order alternates from
/// round to round.
struct Pairs {
  std::vector<double> nvrtc, ours, overhead, cpu_overhead;

  template <class Nvrtc, class Ours>
  void measure(unsigned round, const Nvrtc& nvrtc_alone, const Ours& whole) {
    Cost raw;
    if (round % 2 == 0) raw = nvrtc_alone();
    const Cost all = whole();
    if (round % 2 == 1) raw = nvrtc_alone();
    nvrtc.push_back(raw.wall_ms);
    ours.push_back(all.wall_ms);
    overhead.push_back(all.wall_ms - raw.wall_ms);
    cpu_overhead.push_back(all.cpu_ms - raw.cpu_ms);
  }
};

void print(Report& report, const char* what, const Pairs& pairs, nlohmann::ordered_json& entry,
           const char* key) {
  const Samples nvrtc(pairs.nvrtc);
  const Samples ours(pairs.ours);
  const Samples overhead(pairs.overhead);
  const Samples cpu_overhead(pairs.cpu_overhead);
  report.line(fmt::format("{:<18}{:<34}{:>9.2f} {:>12.2f} {:>+10.2f} {:>+8.2f}",
                          entry["family"].get<std::string>(), what, nvrtc.median(), ours.median(),
                          overhead.median(), cpu_overhead.median()));
  entry[key] = {{"nvrtc_ms", to_json(nvrtc)},
                {"ours_ms", to_json(ours)},
                {"overhead_ms", to_json(overhead)},
                {"cpu_overhead_ms", to_json(cpu_overhead)}};
}

/// Throws if tmajit and NVRTC alone make different code: RawNvrtc repeats the library's options, and times
/// can only be compared while both have the same options.
void require_same(const RawNvrtc::Result& raw, const tmajit::Artifact& artifact) {
  const bool same_ptx = artifact.ptx == raw.ptx.c_str();
  const bool same_cubin = artifact.cubin.size() == raw.cubin.size() &&
                          std::memcmp(artifact.cubin.data(), raw.cubin.data(), raw.cubin.size()) == 0;
  if (same_ptx && same_cubin) return;
  throw tmajit::Error(tmajit::ErrorCode::internal,
                      fmt::format("{}: NVRTC alone makes another {} than tmajit: the options differ",
                                  artifact.entry, same_ptx ? "cubin" : "PTX"));
}

void measure_family(const Representative& family, const Options& options, const RawNvrtc& nvrtc,
                    Report& report) {
  const std::string name(family.name());
  const tmajit::KernelPlan plan = family.plan();
  const tmajit::Source source = tmajit::source(plan);
  nlohmann::ordered_json entry{{"family", name},
                               {"case", family.example.label()},
                               {"spec", to_json(plan)},
                               {"source_bytes", source.text.size()}};
  const TemporaryFolder folder;

  report.progress(fmt::format("jit {}: first compiles", name));
  Pairs first;
  const std::string nvrtc_probe = "nvrtc:" + name + ":" + tmajit::compiler().path;
  for (unsigned round = 0; round < std::min(options.rounds, 7U); ++round) {
    first.measure(
        round, [&] { return probe_in_child(nvrtc_probe); }, [&] { return probe_in_child("tmajit:" + name); });
  }
  print(report, "first compile of a process, ms", first, entry, "first");

  report.progress(fmt::format("jit {}: next compiles", name));
  require_same(nvrtc.compile(source), tmajit::compile(source));
  Pairs next;
  Pairs stored;
  tmajit::StageTimes times;
  const auto nvrtc_alone = [&] { return cost([&] { (void)nvrtc.compile(source); }); };
  for (unsigned round = 0; round < options.rounds; ++round) {
    next.measure(round, nvrtc_alone, [&] { return cost([&] { (void)runtime(std::nullopt).kernel(plan); }); });
    const std::filesystem::path cache = folder.path / std::to_string(round);
    stored.measure(round, nvrtc_alone,
                   [&] { return cost([&] { times = runtime(cache).kernel(plan).times(); }); });
  }
  print(report, "next compile, ms", next, entry, "next");
  print(report, "next compile, kept on disk, ms", stored, entry, "stored");
  entry["last_stages_ms"] = {{"generate", times.generate},
                             {"key", times.key},
                             {"fetch", times.fetch},
                             {"compile", times.compile},
                             {"store", times.store}};

  const auto row = [&](const char* what, const char* key, const Samples& microseconds) {
    report.line(fmt::format("{:<18}{:<34}{:>9} {:>12.3f}", name, what, "", microseconds.median()));
    entry[key] = to_json(microseconds);
  };
  row("plan, us", "plan_us", time_calls(options.rounds, 20, [&] { (void)plan_case(family.example); }));
  row("generate the source, us", "generate_us",
      time_calls(options.rounds, 20, [&] { (void)tmajit::source(plan); }));
  const tmajit::CompilerIdentity& compiler = tmajit::compiler();
  row("key, us", "key_us", time_calls(options.rounds, 20, [&] { (void)cache_key(source, {}, compiler); }));
  row("from disk, us", "disk_us", time_calls(options.rounds, 1, [&] {
        tmajit::Runtime fresh = runtime(folder.path / "0");
        if (fresh.kernel(plan).level() != tmajit::CacheLevel::disk) {
          throw tmajit::Error(tmajit::ErrorCode::internal, "a kernel on disk was not found there");
        }
      }));
  tmajit::Runtime warm = runtime(folder.path / "0");
  (void)warm.kernel(plan);
  row("from memory, us", "memory_us", time_calls(options.rounds, 10'000, [&] { (void)warm.kernel(plan); }));
  report.json["jit"].push_back(std::move(entry));
}

}  // namespace

void measure_jit(const Options& options, Report& report) {
  const RawNvrtc nvrtc(tmajit::compiler().path);
  measure_compile_time(options, nvrtc, TemporaryFolder().path, report);
  report.line("\nCompilation compared with NVRTC alone on the same source, medians");
  report.line(fmt::format("{:<18}{:<34}{:>9} {:>12} {:>10} {:>8}", "family", "", "NVRTC", "plan->cubin",
                          "overhead", "in CPU"));
  const auto families = tmajit::families();
  for (std::size_t i = 0; i < families.size(); i += options.quick ? quick_step : 1) {
    try {
      measure_family(representative(families[i].name), options, nvrtc, report);
    } catch (const tmajit::Error& error) {
      report.failure(fmt::format("jit {}", families[i].name), error);
    }
  }
}

// `probe` is "tmajit:<family>" or "nvrtc:<family>:<path of NVRTC>". Both measured times include loading
// NVRTC.
void run_probe(const std::string& probe) {
  const std::size_t first = probe.find(':');
  const std::size_t second = probe.find(':', first + 1);
  const tmajit::KernelPlan plan = representative(probe.substr(first + 1, second - first - 1)).plan();
  const tmajit::Source source = tmajit::source(plan);
  const Cost spent = cost([&] {
    if (second == std::string::npos) {
      (void)runtime(std::nullopt).kernel(plan);
    } else {
      (void)RawNvrtc(probe.substr(second + 1)).compile(source);
    }
  });
  fmt::print("{} {}\n", spent.wall_ms, spent.cpu_ms);
}

}  // namespace bench
