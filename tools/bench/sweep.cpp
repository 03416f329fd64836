#include "bench.hpp"
#include "candidates.hpp"
#include "workload.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

constexpr std::size_t finalists = 24;  // measured again, more often, beside the default
constexpr std::size_t shown = 10;
constexpr unsigned heat_rounds = 3;

/// Compiles every spec, on all cores. The runtime keeps the kernels, so that asking again is quick.
void compile_all(const std::vector<tmajit::KernelSpec>& specs, Report& report) {
  tmajit::Runtime compiler;  // no device: cubins go to the cache on disk, modules are loaded one at a time
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < specs.size(); i = next++) {
      try {
        (void)compiler.kernel(specs[i]);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        next = specs.size();
      }
      const std::lock_guard lock(mutex);
      report.progress(fmt::format("compiling {}/{}", std::min(i + 1, specs.size()), specs.size()));
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(std::thread::hardware_concurrency(), 1U); ++i) threads.emplace_back(work);
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

struct Entrant {
  tmajit::KernelSpec spec;
  std::uint64_t bytes = 0;
  double gbps = 0;
};

class Sweep {
 public:
  Sweep(Gpu& gpu, Report& report, const Case& c, std::uint64_t size, std::vector<tmajit::KernelSpec> specs,
        const Options& options)
      : gpu_(gpu),
        report_(report),
        spacer_(gpu),
        plan_(plan_for(bytes_moved(c, specs.front(), size), options.rounds, gpu.device->info())),
        reference_bytes_(bytes_moved(c, specs.front(), size) / 2),
        workload_(gpu, c, size, plan_, largest_output(c, specs, size), reference_bytes_, options.seed) {
    for (const tmajit::KernelSpec& spec : specs) entrants_.push_back({spec, bytes_moved(c, spec, size), 0});
  }

  /// Checks and times every entrant briefly; those that are wrong are reported and drop out.
  void heats() {
    Plan plan = plan_;
    plan.rounds = std::min(plan.rounds, heat_rounds);
    std::vector<Entrant> right;
    for (std::size_t i = 0; i < entrants_.size(); ++i) {
      Entrant entrant = entrants_[i];
      report_.progress(fmt::format("[{}/{}] {}", i + 1, entrants_.size(), describe(entrant.spec)));
      const std::vector<tmajit::PreparedLaunch> launches = prepare(entrant);
      if (const std::string wrong = workload_.check(launches.front(), entrant.spec); !wrong.empty()) {
        report_.failure(fmt::format("{}: {}", describe(entrant.spec), wrong));
        continue;
      }
      const Contender run = [&](std::size_t set) { launches[set](gpu_.stream); };
      entrant.gbps = gbps(entrant, race(gpu_, spacer_, {&run, 1}, plan).front());
      right.push_back(entrant);
    }
    entrants_ = std::move(right);
  }

  /// Times the best of the heats again, with the default and the reference among them.
  void final(const tmajit::KernelSpec& standard) {
    std::vector<Entrant> best = entrants_;
    std::stable_sort(best.begin(), best.end(), [&](const Entrant& a, const Entrant& b) {
      if ((a.spec == standard) != (b.spec == standard)) return a.spec == standard;
      return a.gbps > b.gbps;
    });
    if (best.size() > finalists + 1) best.resize(finalists + 1);

    std::vector<std::vector<tmajit::PreparedLaunch>> launches;
    launches.reserve(best.size());
    for (const Entrant& entrant : best) launches.push_back(prepare(entrant));
    std::vector<Contender> contenders;
    contenders.reserve(best.size() + 1);
    for (const auto& own : launches) {
      contenders.emplace_back([&own, this](std::size_t set) { own[set](gpu_.stream); });
    }
    contenders.emplace_back([this](std::size_t set) { workload_.copy(set); });
    report_.progress(fmt::format("final of {}", best.size()));
    const std::vector<Samples> times = race(gpu_, spacer_, contenders, plan_);
    reference_ = static_cast<double>(2 * reference_bytes_) / times.back().median() * 1e-3;
    for (std::size_t i = 0; i < best.size(); ++i) best[i].gbps = gbps(best[i], times[i]);
    std::stable_sort(best.begin(), best.end(),
                     [](const Entrant& a, const Entrant& b) { return a.gbps > b.gbps; });
    finalists_ = std::move(best);
  }

  void print(const tmajit::KernelSpec& standard, nlohmann::ordered_json& entry) {
    report_.line(fmt::format("{:>5} {:>9} {:>8}  {}", "place", "GB/s", "ratio", "spec"));
    for (std::size_t i = 0; i < finalists_.size(); ++i) {
      const Entrant& entrant = finalists_[i];
      const bool is_default = entrant.spec == standard;
      entry["finalists"].push_back({{"gbps", entrant.gbps},
                                    {"ratio", entrant.gbps / reference_},
                                    {"default", is_default},
                                    {"spec", to_json(entrant.spec)}});
      if (i >= shown && !is_default) continue;
      report_.line(fmt::format("{:>5} {:>9.1f} {:>8.3f}  {}{}", i + 1, entrant.gbps,
                               entrant.gbps / reference_, describe(entrant.spec),
                               is_default ? "  <- default" : ""));
    }
    // A default that is no finalist by merit was let in: its place is the one it had in the heats.
    const auto standing = std::find_if(entrants_.begin(), entrants_.end(),
                                       [&](const Entrant& entrant) { return entrant.spec == standard; });
    if (standing != entrants_.end()) {
      const auto place = 1 + std::count_if(entrants_.begin(), entrants_.end(), [&](const Entrant& entrant) {
                           return entrant.gbps > standing->gbps;
                         });
      report_.line(fmt::format("The default came in place {} of {} in the heats.", place, entrants_.size()));
      entry["default_place_in_heats"] = place;
    }
    report_.line(fmt::format("cuMemcpyDtoDAsync: {:.1f} GB/s", reference_));
    entry["memcpy_gbps"] = reference_;
    for (const Entrant& entrant : entrants_) {
      entry["heats"].push_back({{"gbps", entrant.gbps}, {"spec", to_json(entrant.spec)}});
    }
  }

 private:
  static std::uint64_t largest_output(const Case& c, const std::vector<tmajit::KernelSpec>& specs,
                                      std::uint64_t size) {
    std::uint64_t bytes = 0;
    for (const tmajit::KernelSpec& spec : specs) {
      const tmajit::TensorView output = output_of(c, spec, size);
      bytes = std::max(bytes, output.elements() * tmajit::size_of(output.type));
    }
    return bytes;
  }

  std::vector<tmajit::PreparedLaunch> prepare(const Entrant& entrant) {
    return workload_.prepare(gpu_.runtime.kernel(entrant.spec), entrant.spec);
  }

  static double gbps(const Entrant& entrant, const Samples& microseconds) {
    return static_cast<double>(entrant.bytes) / microseconds.median() * 1e-3;
  }

  Gpu& gpu_;
  Report& report_;
  Spacer spacer_;
  Plan plan_;
  std::uint64_t reference_bytes_;
  Workload workload_;
  std::vector<Entrant> entrants_;
  std::vector<Entrant> finalists_;
  double reference_ = 0;
};

}  // namespace

void sweep(const Options& options, Gpu& gpu, Report& report) {
  for (const tmajit::ElementType type : options.types) {
    const Case c = sweep_case(*options.sweep, type, options.expression);
    for (const std::uint64_t size : options.sizes) {
      const std::vector<tmajit::KernelSpec> specs = candidates(c, size, options.limit, options.seed);
      report.line(fmt::format("\n{} {} {}: {} specs", c.title(), c.types(), human_bytes(size), specs.size()));
      compile_all(specs, report);
      nlohmann::ordered_json entry{{"family", tmajit::name(c.family)},
                                   {"type", c.types()},
                                   {"expression", c.expression},
                                   {"size", size}};
      Sweep run(gpu, report, c, size, specs, options);
      run.heats();
      run.final(specs.front());
      run.print(specs.front(), entry);
      report.json["sweep"].push_back(std::move(entry));
    }
  }
}

}  // namespace bench
