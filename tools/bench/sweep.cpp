#include "bench.hpp"
#include "case_list.hpp"
#include "workload.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <random>
#include <thread>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

constexpr unsigned heat_rounds = 3;    // rounds of the heats, the first pass, which has all entrants
constexpr std::size_t finalists = 24;  // fastest entrants of the heats, which the final measures again
constexpr std::size_t printed_finalists = 10;

/// The case to tune: a case of the list, with the user's expression if there is one.
Case sweep_case(const Options& options, tmajit::ElementType type, std::uint64_t size) {
  for (Case& bench_case : list_cases({.types = {type}, .sizes = {size}})) {
    if (!bench_case.tile || bench_case.family != options.sweep) continue;
    if (options.expression.empty()) return bench_case;
    bench_case.expression.clear();
    bench_case.arguments.set("expression", options.expression);
    // As many inputs as the expression reads, all of one type.
    for (std::size_t i = 1; i < tmajit::max_inputs; ++i) {
      if (options.expression.find('x' + std::to_string(i)) != std::string::npos)
        bench_case.sources.resize(i + 1, bench_case.sources[0]);
    }
    return bench_case;
  }
  throw tmajit::Error(tmajit::ErrorCode::unsupported,
                      fmt::format("the list has no case of the family {}", options.sweep));
}

using Box = std::vector<std::uint32_t>;

/// Boxes for which the largest operand has 2 to 64 KiB.
std::vector<Box> boxes(const Case& bench_case) {
  constexpr std::uint32_t smallest = 2 << 10;
  constexpr std::uint32_t largest = 64 << 10;
  const std::uint32_t size = std::max(tmajit::size_of(bench_case.sources.front().type),
                                      tmajit::size_of(bench_case.destinations.front().type));
  std::vector<Box> result;
  if (bench_case.sources.front().shape.size() == 1) {
    for (std::uint32_t bytes = smallest; bytes <= largest; bytes *= 2) result.push_back({bytes / size});
    return result;
  }
  for (std::uint32_t columns = 16; columns <= 256; columns *= 2) {
    for (std::uint32_t rows = 1; rows <= 256; rows *= 2) {
      const std::uint32_t bytes = size * rows * columns;
      if (bytes >= smallest && bytes <= largest) result.push_back({rows, columns});
    }
  }
  return result;
}

/// Whether an SM has a useful number of bytes of loads in flight: too few cannot hide the memory's latency,
/// and more than 96 KiB were never faster.
bool plausible(const tmajit::KernelPlan& plan, std::uint32_t ctas_per_sm) {
  constexpr std::uint64_t min_bytes = 16 << 10;
  constexpr std::uint64_t max_bytes = 96 << 10;
  const std::uint64_t bytes = plan.shape().bytes_in_flight * ctas_per_sm;
  return bytes >= min_bytes && bytes <= max_bytes;
}

/// All combinations of the tile's parameters that the family uses; parameters that it ignores are 0.
std::vector<Tile> grid(const Case& bench_case) {
  const bool computes = tmajit::find_family(bench_case.family).computes;
  using Values = std::vector<std::uint32_t>;
  const Values output_stages = computes ? Values{2, 3, 4} : Values{0};
  const Values warps = computes ? Values{4, 8, 12, 16} : Values{0};
  constexpr std::array counts{1U, 2U, 3U, 4U, 6U, 8U, 12U, 16U};  // of stages, and of CTAs on an SM
  std::vector<Tile> tiles;
  for (const Box& box : boxes(bench_case)) {
    for (const std::uint32_t stages : counts) {
      for (const std::uint32_t out : output_stages) {
        for (const std::uint32_t warp : warps) {
          for (const std::uint32_t ctas : counts) {
            for (const std::uint32_t tiles_per_cta : {0U, stages, 2 * stages}) {
              tiles.push_back({box, stages, out, warp, ctas, tiles_per_cta});
            }
          }
        }
      }
    }
  }
  return tiles;
}

/// One case for each legal tile in a grid of boxes, stages, output stages, warps and CTAs on an SM: first the
/// default tile, then at most `limit` more, drawn at random if the grid has more.
std::vector<Case> candidates(const Case& standard, std::size_t limit, std::uint64_t seed) {
  std::vector<Tile> tiles = grid(standard);
  std::shuffle(tiles.begin(), tiles.end(), std::mt19937_64(seed));
  const std::string default_key(plan_case(standard).front().key());
  std::vector<Case> cases{standard};
  for (const Tile& tile : tiles) {
    if (cases.size() > limit) break;
    try {
      Case bench_case = with_tile(standard, tile);
      const tmajit::KernelPlan plan = plan_case(bench_case).front();
      if (plan.key() != default_key && plausible(plan, tile.ctas_per_sm))
        cases.push_back(std::move(bench_case));
    } catch (const tmajit::SpecError&) {
      // This tile is not legal: for instance it needs too much shared memory.
    }
  }
  return cases;
}

/// Compiles every candidate, on all cores. Later requests find the kernels in the disk cache.
void compile_all(const std::vector<Case>& cases, Report& report) {
  tmajit::Runtime compiler;  // no device: modules are loaded one at a time
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::size_t i = next++; i < cases.size(); i = next++) {
      try {
        (void)compiler.kernel(plan_case(cases[i]).front());
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        next = cases.size();
      }
      const std::lock_guard lock(mutex);
      report.progress(fmt::format("compiling {}/{}", std::min(i + 1, cases.size()), cases.size()));
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(std::thread::hardware_concurrency(), 1U); ++i) threads.emplace_back(work);
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

/// A candidate and its measured bandwidth.
struct Entrant {
  Case candidate;
  double gbps = 0;

  [[nodiscard]] bool is_default() const { return *candidate.tile == Tile{}; }
  void set_time(const Samples& microseconds) {
    gbps = gigabytes_per_second(traffic(candidate).bytes(), microseconds.median());
  }
};

bool faster(const Entrant& a, const Entrant& b) {
  return a.gbps > b.gbps;
}

nlohmann::ordered_json spec_of(const Case& bench_case) {
  nlohmann::ordered_json json = to_json(plan_case(bench_case).front());
  json["options"] = to_json(*bench_case.tile);
  return json;
}

/// Finds the fastest tiles: heats of all entrants, then a final of the fastest.
class SweepRun {
 public:
  SweepRun(Machine& machine, Report& report, std::vector<Case> cases, const Options& options)
      : machine_(machine),
        report_(report),
        timing_(machine.contest.plan(traffic(cases.front()).bytes(), options.rounds, Memory::beyond_l2)),
        workload_(machine, largest(cases), timing_.sets, options.seed) {
    for (Case& bench_case : cases) entrants_.push_back({std::move(bench_case)});
  }

  /// Checks every entrant and times it briefly. Entrants with wrong results are reported and removed.
  void heats() {
    ContestPlan timing = timing_;
    timing.rounds = std::min(timing.rounds, heat_rounds);
    std::vector<Entrant> correct;
    for (std::size_t i = 0; i < entrants_.size(); ++i) {
      Entrant entrant = entrants_[i];
      const std::string tile = plan_case(entrant.candidate).front().choice().text();
      report_.progress(fmt::format("[{}/{}] {}", i + 1, entrants_.size(), tile));
      const std::vector<PreparedCase> prepared = workload_.prepare(entrant.candidate);
      try {
        workload_.require_right(entrant.candidate, prepared.front());
      } catch (const tmajit::Error& error) {
        report_.failure(tile, error);
        if (machine_.lost_by(error)) throw;
        continue;
      }
      const Contestant run = [&](std::size_t set) { prepared[set](machine_.stream); };
      entrant.set_time(machine_.contest.run({&run, 1}, timing).front());
      correct.push_back(std::move(entrant));
    }
    entrants_ = std::move(correct);
  }

  /// Times the fastest entrants of the first pass again, together with the default and the driver's copy.
  void final() {
    finalists_ = entrants_;
    std::stable_sort(finalists_.begin(), finalists_.end(), [](const Entrant& a, const Entrant& b) {
      return a.is_default() != b.is_default() ? a.is_default() : faster(a, b);
    });
    if (finalists_.size() > finalists + 1) finalists_.resize(finalists + 1);

    std::vector<std::vector<PreparedCase>> prepared;
    for (const Entrant& entrant : finalists_) prepared.push_back(workload_.prepare(entrant.candidate));
    std::vector<Contestant> contestants;
    contestants.reserve(prepared.size() + 1);
    for (const std::vector<PreparedCase>& sets : prepared) {
      contestants.emplace_back([&sets, this](std::size_t set) { sets[set](machine_.stream); });
    }
    contestants.emplace_back([this](std::size_t set) { workload_.copy(set); });
    report_.progress(fmt::format("final of {}", finalists_.size()));
    const std::vector<Samples> times = machine_.contest.run(contestants, timing_);
    driver_gbps_ = gigabytes_per_second(workload_.copy_bytes(), times.back().median());
    for (std::size_t i = 0; i < finalists_.size(); ++i) finalists_[i].set_time(times[i]);
    std::stable_sort(finalists_.begin(), finalists_.end(), faster);
  }

  void print(nlohmann::ordered_json& entry) {
    report_.line(fmt::format("{:>5} {:>9} {:>8}  {}", "place", "GB/s", "ratio", "kernel"));
    for (std::size_t i = 0; i < finalists_.size(); ++i) {
      const Entrant& entrant = finalists_[i];
      const double ratio = entrant.gbps / driver_gbps_;
      const nlohmann::ordered_json spec = spec_of(entrant.candidate);
      entry["finalists"].push_back(
          {{"gbps", entrant.gbps}, {"ratio", ratio}, {"default", entrant.is_default()}, {"spec", spec}});
      if (i >= printed_finalists && !entrant.is_default()) continue;
      report_.line(fmt::format("{:>5} {:>9.1f} {:>8.3f}  {}{}", i + 1, entrant.gbps, ratio,
                               spec["choice"].get<std::string>(),
                               entrant.is_default() ? "  <- default" : ""));
    }
    // The default is always a finalist, so its place in the heats is reported, too.
    const auto default_entrant = std::ranges::find_if(entrants_, &Entrant::is_default);
    if (default_entrant != entrants_.end()) {
      const auto rank = 1 + std::ranges::count_if(entrants_, [&](const Entrant& other) {
                          return faster(other, *default_entrant);
                        });
      report_.line(fmt::format("The default came in place {} of {} in the heats.", rank, entrants_.size()));
      entry["default_place_in_heats"] = rank;
    }
    report_.line(fmt::format("cuMemcpyDtoDAsync: {:.1f} GB/s", driver_gbps_));
    entry["memcpy_gbps"] = driver_gbps_;
    for (const Entrant& entrant : entrants_) {
      entry["heats"].push_back({{"gbps", entrant.gbps}, {"spec", spec_of(entrant.candidate)}});
    }
  }

 private:
  /// The case with the largest destination, whose memory is enough for all: the size of a snapshot's
  /// destination depends on the tile.
  static const Case& largest(const std::vector<Case>& cases) {
    return *std::ranges::max_element(
        cases, {}, [](const Case& bench_case) { return bench_case.destinations.front().bytes(); });
  }

  Machine& machine_;
  Report& report_;
  ContestPlan timing_;
  Workload workload_;
  std::vector<Entrant> entrants_;
  std::vector<Entrant> finalists_;
  double driver_gbps_ = 0;
};

}  // namespace

void sweep(const Options& options, Machine& machine, Report& report) {
  for (const tmajit::ElementType type : options.types) {
    for (const std::uint64_t size : options.sizes) {
      const Case standard = sweep_case(options, type, size);
      std::vector<Case> cases = candidates(standard, options.limit, options.seed);
      report.line(fmt::format("\n{} {} {}: {} tiles", standard.family, standard.types(), human_bytes(size),
                              cases.size()));
      compile_all(cases, report);
      nlohmann::ordered_json entry{{"family", standard.family},
                                   {"type", standard.types()},
                                   {"expression", standard.library_expression()},
                                   {"size", size}};
      SweepRun run(machine, report, std::move(cases), options);
      run.heats();
      run.final();
      run.print(entry);
      report.json["sweep"].push_back(std::move(entry));
    }
  }
}

}  // namespace bench
