// tmajit-ship: makes the packs of kernels that come with the library. Needs NVRTC and no GPU.
#include "report/text.hpp"
#include "selection.hpp"

#include <tmajit/error.hpp>
#include <tmajit/kernel_recipe.hpp>
#include <tmajit/pack.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace {

using tmajit::counted;
using tmajit::describe_bytes;

struct Options {
  std::filesystem::path folder;
  std::filesystem::path cache = tmajit::DiskCache::default_directory();
  std::uint64_t seed = 1;
  std::uint64_t draws = 400'000;
  std::size_t kernels = 3000;  ///< the most kernels
  std::uint64_t limit = std::uint64_t{32} << 20;
  std::uint32_t threads = 0;
  std::vector<std::string> archs{"sm_90a", "compute_90a"};
  bool small = false;
  bool dry = false;
};

/// Problems of fresh seeds on which the selection is judged.
constexpr std::uint64_t judged_moves = 600;
constexpr std::uint64_t judged_reductions = 100;
/// A lower bound of a packed kernel's bytes: more kernels than the limit divided by it are not compiled.
constexpr std::uint64_t least_kernel_bytes = 4096;
/// Kernels whose sources are in memory at once.
constexpr std::size_t batch = 256;

/// A line on standard error that replaces itself on a terminal, and appears every ten seconds in a log.
class ProgressLine {
 public:
  explicit ProgressLine(std::string label) : label_(std::move(label)) {}
  ~ProgressLine() {
    if (is_terminal_) std::fputs("\r\x1b[K", stderr);
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(std::size_t done, std::size_t count) {
    const auto now = Clock::now();
    if (now - shown_ < (is_terminal_ ? std::chrono::milliseconds(200) : std::chrono::seconds(10))) return;
    shown_ = now;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double left = seconds / static_cast<double>(done) * static_cast<double>(count - done);
    fmt::print(stderr, "{}{}: {} of {}, {:.0f} s left{}", is_terminal_ ? "\r\x1b[K" : "", label_, done, count,
               left, is_terminal_ ? "" : "\n");
  }
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::string label_;
  bool is_terminal_ = ::isatty(STDERR_FILENO) == 1;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = start_;
};

/// Compiles the first `count` kernels into the cache folder. Returns their keys, in order.
std::vector<tmajit::CacheKey> compile_kernels(const ship::Selection& selection, std::size_t count,
                                              const std::string& arch, const Options& options) {
  ProgressLine line("compile for " + arch);
  const tmajit::DiskCache cache(options.cache);
  std::vector<tmajit::CacheKey> keys;
  std::size_t compiled = 0;
  for (std::size_t first = 0; first < count; first += batch) {
    std::vector<tmajit::KernelRecipe> records;
    for (std::size_t i = first; i < std::min(count, first + batch); ++i)
      records.push_back(tmajit::record_of(selection.kernels()[i], {.arch = arch}));
    const tmajit::MadeKernels made = tmajit::make_kernels(
        records, cache,
        {.threads = options.threads,
         .progress = [&](std::size_t done, std::size_t /*count*/) { line.show(first + done, count); }});
    for (const auto& failure : made.failures)
      throw tmajit::Error(tmajit::ErrorCode::compile_failed, failure.why);
    keys.insert(keys.end(), made.keys.begin(), made.keys.end());
    compiled += made.compiled;
  }
  fmt::print("{}: {} compiled, {} from {}, {:.0f} s\n", arch, counted(compiled, "kernel"), count - compiled,
             options.cache.string(), line.seconds());
  return keys;
}

/// Writes the pack of an architecture. Returns the number of kernels in it: as many of the selection's first
/// as its limit allows.
std::size_t make_pack(const ship::Selection& selection, const std::string& arch, const Options& options) {
  std::size_t count = std::min<std::size_t>(
      {selection.kernels().size(), options.kernels, options.limit / least_kernel_bytes});
  const std::vector<tmajit::CacheKey> keys = compile_kernels(selection, count, arch, options);
  const auto file = options.folder / (arch + std::string(tmajit::Pack::extension));
  for (;;) {
    ProgressLine line("compress " + arch);
    const auto summary = tmajit::write_pack(
        file, std::span(keys).first(count), tmajit::DiskCache(options.cache), {&tmajit::compiler(), 1},
        {.progress = [&](std::size_t done, std::size_t all) { line.show(done, all); }});
    if (summary.bytes <= options.limit || count == 0) {
      fmt::print("{}: {}, {}, {} when decompressed\n", file.string(), counted(summary.kernels, "kernel"),
                 describe_bytes(summary.bytes), describe_bytes(summary.whole_bytes));
      return count;
    }
    // The least needed kernels are left out. One per cent fewer, so that the next attempt fits.
    count = static_cast<std::size_t>(0.99 * static_cast<double>(count) * static_cast<double>(options.limit) /
                                     static_cast<double>(summary.bytes));
  }
}

/// The element below which a twentieth of `values` lies, which are not empty.
double twentieth(std::vector<double> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 20);
  std::ranges::nth_element(values, at);
  return *at;
}

void print_coverage(const ship::Selection& selection, std::size_t count, std::uint64_t seed) {
  const auto keys = selection.keys(count);
  const auto moves = ship::coverage(keys, bench::ProblemKinds::moves, seed, judged_moves);
  const auto reductions = ship::coverage(keys, bench::ProblemKinds::reductions, seed, judged_reductions);
  for (const auto& [name, share] : {std::pair("moves", moves.all), std::pair("reductions", reductions.all)}) {
    const auto percent = [&](std::uint64_t part) {
      return 100 * static_cast<double>(part) /
             static_cast<double>(std::max<std::uint64_t>(share.problems, 1));
    };
    fmt::print("seed {}: {} of {} {} ({:.1f} %) find their kernels, {} ({:.1f} %) need no compiler\n", seed,
               share.planned, share.problems, name, percent(share.planned), share.covered(),
               percent(share.covered()));
  }
  for (const auto& [group, share] : moves.groups)
    fmt::print("  {:13} {:3} and {:2} served, of {:3}\n", group, share.planned, share.served, share.problems);
  if (!moves.speeds.empty())
    fmt::print("  the predicted speed of 95 % of those that are served is at least {:.2f} of the planned\n",
               twentieth(moves.speeds));
}

void run(const Options& options) {
  const auto selection = [&] {
    ProgressLine line("plan");
    return ship::Selection(options.seed, options.draws, options.kernels,
                           [&](std::uint64_t done) { line.show(done, 2 * options.draws); });
  }();
  fmt::print("{} of seed {} need {} on {} chips\n", counted(options.draws, "problem"), options.seed,
             counted(selection.kernels().size(), "kernel"), ship::chips().size());
  std::size_t count = std::min(options.kernels, selection.kernels().size());
  if (!options.dry) {
    std::filesystem::create_directories(options.folder);
    for (const std::string& arch : options.archs)
      count = std::min(count, make_pack(selection, arch, options));
  }
  // Seeds that the selection does not know.
  for (const std::uint64_t further : {1, 2}) print_coverage(selection, count, options.seed + 1000 + further);
}

int parse_and_run(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Makes the packs of kernels that come with the library: those that random moves, casts, reductions "
      "and\n"
      "scans need most often, on an H200 and an H100, and some that can stand in for others. Compiled\n"
      "kernels stay in the cache folder, so that an interrupted run continues. No GPU is needed.",
      "tmajit-ship");
  app.add_option("FOLDER", options.folder, "Where to write sm_90a.pack and compute_90a.pack")->required();
  app.add_flag("--small", options.small, "24 kernels of 500 problems, for tests");
  app.add_option("--draws", options.draws, "Random problems to plan [400000]")->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "Seed of the problems [1]");
  app.add_option("--kernels", options.kernels, "The most kernels of a pack [3000]");
  app.add_option("--limit", options.limit, "The most bytes of a pack [32M]")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--archs", options.archs, "Architectures, a pack for each [sm_90a,compute_90a]")
      ->delimiter(',')
      ->check(CLI::IsMember({"sm_90a", "compute_90a"}));
  app.add_option("--threads", options.threads, "Threads that compile [one for each core]");
  app.add_option("--cache-dir", options.cache, "Folder of compiled kernels");
  app.add_flag("--dry", options.dry, "Only report how many problems the kernels would cover");
  CLI11_PARSE(app, argc, argv);
  if (options.small) {
    options.draws = 500;
    options.kernels = 24;
  }
  run(options);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "tmajit-ship: " << error.what() << '\n';
    return 3;
  }
}
