/// Measures and prints the simulator's speed; fails only if it is far below the target.
///
/// Prints the numbers for the table of docs/sim.md: for each kernel the fastest of $TMAJIT_SPEED_RUNS (1)
/// runs with all checks, and of as many without race detection, on one host thread. $TMAJIT_SPEED_KERNEL
/// limits this to the kernel with that entry.
#include "sim/speed_kernels.hpp"
#include "sim/support.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/tiles.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <random>
#include <span>

#include <catch2/generators/catch_generators.hpp>

namespace speed_test {

using namespace tmajit;

namespace {

int runs() {
  const char* const text = std::getenv("TMAJIT_SPEED_RUNS");
  return text != nullptr ? std::max(std::atoi(text), 1) : 1;
}

/// Processor time in seconds, which does not depend on other users of the machine.
template <typename Work>
double seconds_of(const Work& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

struct Speed {
  double rate = 0;  ///< million instructions of threads a second
  double seconds = 0;
};

/// The speed of the fastest run of a kernel, which must have no reports.
Speed measure(const tests::SpeedKernel& kernel, Artifact artifact, bool races) {
  artifact.entry = std::string(kernel.entry);
  const auto sim = make_sim_device({.races = races, .threads = 1});
  const auto loaded = sim->kernels().load(artifact);
  if (kernel.shared_bytes > 0) loaded->allow_shared_bytes(kernel.shared_bytes);
  const Buffer a(sim, tests::speed_words * 4);
  const Buffer b(sim, tests::speed_words * 4);
  const Buffer c(sim, tests::speed_words * 4);
  std::vector<std::uint32_t> words(tests::speed_words);
  std::mt19937 random(1);
  for (std::uint32_t& word : words) word = random() & 0x3fff3fffU;  // pairs of bf16, below 2
  for (const Buffer* buffer : {&a, &b})
    sim->memory().copy_in(buffer->address(), std::as_bytes(std::span(words)), nullptr);
  sim->memory().fill(c.address(), std::byte{0}, c.bytes(), nullptr);
  std::uint64_t addresses[] = {a.address(), b.address(), c.address()};
  std::uint32_t n = kernel.n;
  void* const parameters[] = {&addresses[0], &addresses[1], &addresses[2], &n};
  const LaunchShape shape{.grid = {kernel.ctas, 1, 1},
                          .block = {kernel.threads, 1, 1},
                          .shared_bytes = kernel.shared_bytes,
                          .cluster = {kernel.cluster, 1, 1}};
  Speed best;
  for (int run = 0; run < runs(); ++run) {
    const std::uint64_t before = sim->thread_instructions();
    const double seconds = seconds_of([&] { loaded->launch(shape, parameters, nullptr); });
    const double rate = static_cast<double>(sim->thread_instructions() - before) / seconds / 1e6;
    if (rate > best.rate) best = {rate, seconds};
  }
  for (const Report& report : sim->reports()) FAIL(report.text());
  return best;
}

}  // namespace

TEST_CASE("speed of kernels of many kinds is far above the required minimum") {
  const Artifact artifact = compile(custom_source(std::string(tests::speed_source()), "triad", "speed.cu"));
  std::cout << "million thread-instructions a second on one core, and ms; the same, races not looked for\n"
            << std::fixed;
  const char* const only = std::getenv("TMAJIT_SPEED_KERNEL");
  for (const tests::SpeedKernel& kernel : tests::speed_kernels()) {
    if (only != nullptr && kernel.entry != only) continue;
    const Speed checked = measure(kernel, artifact, true);
    const Speed unchecked = measure(kernel, artifact, false);
    std::cout << std::left << std::setw(48) << kernel.name << std::right;
    for (const Speed& speed : {checked, unchecked}) {
      std::cout << std::setw(8) << std::setprecision(1) << speed.rate << std::setw(8) << speed.seconds * 1e3;
    }
    std::cout << std::endl;
    CHECK(checked.seconds < 10);
  }
}

TEST_CASE("speed of our own kernels is far above the required minimum") {
  const bool races = GENERATE(true, false);
  const auto sim = make_sim_device({.races = races, .threads = 1});
  Runtime runtime({.device = sim, .cache_directory = std::nullopt});
  const auto view = TensorView::contiguous(ElementType::f32, {1024, 1024});
  const Buffer in(sim, view.span_bytes());
  const Buffer out(sim, view.span_bytes());
  sim->memory().fill(in.address(), std::byte{0}, view.span_bytes(), nullptr);
  TileRequest copying{
      .family = "copy", .destination = {view, out.address()}, .sources = {{view, in.address()}}};
  TileRequest computing = copying;
  computing.family = "map";
  computing.expression = "x * 2 + 1";
  for (const TileRequest& request : {copying, computing}) {
    const KernelPlan plan = plan_tiles(request);
    const Kernel kernel = runtime.kernel(plan);
    double best = 1e9;
    for (int run = 0; run < runs(); ++run) best = std::min(best, seconds_of([&] { kernel.launch(plan); }));
    sim->streams().synchronize(nullptr);
    std::cout << request.family << " of 4 MiB" << (races ? ": " : ", races not looked for: ") << best * 1e3
              << " ms" << std::endl;
    CHECK(best < 10);
  }
}

}  // namespace speed_test
