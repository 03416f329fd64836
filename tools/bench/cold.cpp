#include "bench.hpp"
#include "lib/null_device.hpp"
#include "machine/process.hpp"
#include "random_problem.hpp"

#include <tmajit/counters.hpp>
#include <tmajit/error.hpp>
#include <tmajit/move.hpp>
#include <tmajit/pack.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

using namespace tmajit;

// Six moves and one reduction, as in the figures of docs/packs.md.
constexpr unsigned problems_per_round = 7;

/// An operation that a new process calls.
struct ColdCall {
  bool on_gpu = false;
  ProblemKinds kind = ProblemKinds::moves;
  std::uint64_t seed = 0;
  std::uint64_t number = 0;
  std::filesystem::path pack;  ///< empty: the packs that come with the library

  [[nodiscard]] std::string probe() const {
    return fmt::format("{}{}:{}:{}:{}:{}", cold_probe, on_gpu ? "gpu" : "null",
                       kind == ProblemKinds::moves ? "moves" : "reductions", seed, number, pack.string());
  }
  static ColdCall parse(const std::string& probe) {
    std::array<char, 16> device{};
    std::array<char, 16> kind{};
    unsigned long long seed = 0;
    unsigned long long number = 0;
    int read = 0;
    // NOLINTNEXTLINE(cert-err34-c): the number of conversions is checked
    if (std::sscanf(probe.c_str(), "cold:%15[^:]:%15[^:]:%llu:%llu:%n", device.data(), kind.data(), &seed,
                    &number, &read) != 4 ||
        read == 0) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("--probe={}: expected cold:DEVICE:KIND:SEED:NUMBER:PACK", probe));
    }
    return {.on_gpu = std::string_view(device.data()) == "gpu",
            .kind = std::string_view(kind.data()) == "moves" ? ProblemKinds::moves : ProblemKinds::reductions,
            .seed = seed,
            .number = number,
            .pack = probe.substr(static_cast<std::size_t>(read))};
  }
};

/// The time of a call and how its kernels were found.
struct ColdResult {
  double microseconds = 0;
  unsigned served = 0;    ///< kernels that replaced planned ones
  unsigned compiled = 0;  ///< kernels that the caller waited for
};

/// Plans for the chip for which most kernels of a pack are made.
class PaperH200 : public tools::NullDevice {
 public:
  PaperH200() { info_.name = "NVIDIA H200"; }
};

/// Calls the operation in this process. The device, its context and the tensors exist before.
ColdResult call(const ColdCall& cold) {
  const std::shared_ptr<Device> device = cold.on_gpu ? open_device("gpu") : std::make_shared<PaperH200>();
  const RandomProblem problem = random_problem(cold.kind, cold.seed, cold.number);
  const Buffer to(device, buffer_bytes(problem.made, problem.made.destinations) + 256);
  const Buffer from(device, buffer_bytes(problem.made, problem.made.sources) + 256);
  const Operation operation = problem.at(to.address(), from.address());
  const auto start = std::chrono::steady_clock::now();
  const Runtime runtime(
      {.device = device,
       .cache_directory = std::nullopt,
       .when_missing = WhenMissing::serve,
       .packs = cold.pack.empty() ? std::vector<std::filesystem::path>{} : std::vector{cold.pack},
       .shipped_packs = cold.pack.empty()});
  const Plan first = plan(runtime, operation);
  first();
  ColdResult result;
  result.microseconds =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  device->streams().synchronize(nullptr);
  const Counters counts = counters(runtime);
  result.served = static_cast<unsigned>(counts.served);
  result.compiled = static_cast<unsigned>(counts.of(CacheLevel::compiled));
  return result;
}

ColdResult call_in_child(const ColdCall& cold) {
  const auto child =
      run_process(std::filesystem::read_symlink("/proc/self/exe"), {"--probe=" + cold.probe()});
  ColdResult result;
  // NOLINTNEXTLINE(cert-err34-c): the number of conversions is checked
  if (child.status == 0 && std::sscanf(child.out.c_str(), "%lf %u %u", &result.microseconds, &result.served,
                                       &result.compiled) == 3) {
    return result;
  }
  throw Error(ErrorCode::internal, fmt::format("--probe={} did not print three numbers (exit status {}): {}",
                                               cold.probe(), child.status, child.err));
}

void measure_on(bool on_gpu, const Options& options, Report& report) {
  std::vector<double> there;
  std::vector<double> served;
  unsigned waited = 0;
  const unsigned problems = options.rounds * problems_per_round;
  for (unsigned i = 0; i < problems; ++i) {
    report.progress(fmt::format("cold: process {} of {}", i + 1, problems));
    const bool is_move = i % problems_per_round != problems_per_round - 1;
    const ColdResult result = call_in_child({.on_gpu = on_gpu,
                                             .kind = is_move ? ProblemKinds::moves : ProblemKinds::reductions,
                                             .seed = options.seed,
                                             .number = i,
                                             .pack = options.pack});
    if (result.compiled > 0) {
      ++waited;
    } else {
      (result.served > 0 ? served : there).push_back(result.microseconds);
    }
  }
  nlohmann::ordered_json& json = report.json["cold"][on_gpu ? "gpu" : "null"];
  report.line(
      fmt::format("{} processes: {} found their kernels in a pack, {} were served others, {} compiled",
                  problems, there.size(), served.size(), waited));
  json = {{"processes", problems}, {"found", there.size()}, {"served", served.size()}, {"compiled", waited}};
  report.quantiles("first call, the kernels are there, us", json["there_us"], there);
  report.quantiles("first call, other kernels are served, us", json["served_us"], served);
}

}  // namespace

void measure_cold(const Options& options, const Machine* gpu, Report& report) {
  if (options.pack.empty() && shipped_packs().empty()) {
    report.line("\nNot run without a pack: cold. tmajit-ship makes packs, and --pack names one.");
    return;
  }
  report.line(
      "\nFirst calls of random moves and reductions, each in a new process that has a device; the device "
      "\"null\"");
  report.quantile_heads("does nothing");
  measure_on(false, options, report);
  if (gpu != nullptr) measure_on(true, options, report);
}

void run_cold_probe(const std::string& probe) {
  const ColdResult result = call(ColdCall::parse(probe));
  fmt::print("{} {} {}\n", result.microseconds, result.served, result.compiled);
}

}  // namespace bench
