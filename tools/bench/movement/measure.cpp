#include "measure.hpp"

#include "case_list.hpp"
#include "contest.hpp"
#include "data.hpp"
#include "jit_cost.hpp"
#include "machine.hpp"
#include "plan_case.hpp"
#include "targets.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <chrono>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace movement {
namespace {

using Clock = std::chrono::steady_clock;

double gigabytes_per_second(std::uint64_t bytes, double microseconds) {
  return static_cast<double>(bytes) / microseconds * 1e-3;
}

class Measurement {
 public:
  Measurement(const Options& options, std::shared_ptr<tmajit::Device> device, bench::Report& report)
      : options_(options),
        report_(report),
        device_(std::move(device)),
        runtime_({.device = device_}),
        stream_(device_) {
    if (device_->info().ordinal >= 0) driver_ = std::make_unique<bench::RawDriver>(device_->info().ordinal);
    contest_ = std::make_unique<Contest>(device_, stream_.get(), driver_.get());
  }

  bool run();

 private:
  void measure_case(const Case& c, nlohmann::ordered_json& entry);
  void measure_planning();
  void add(const Target& target);
  void save() const {
    if (!options_.json.empty()) report_.write(options_.json);
  }

  const Options& options_;
  bench::Report& report_;
  std::shared_ptr<tmajit::Device> device_;
  tmajit::Runtime runtime_;
  OwnedStream stream_;
  std::unique_ptr<bench::RawDriver> driver_;
  std::unique_ptr<Contest> contest_;
  std::vector<Target> targets_;
};

void Measurement::add(const Target& target) {
  targets_.push_back(target);
  report_.json["targets"].push_back(to_json(target));
}

/// Checks and measures; throws what the library throws.
void Measurement::measure_case(const Case& c, nlohmann::ordered_json& entry) {
  const tmajit::Buffer source(device_, buffer_bytes(c, c.sources));
  const tmajit::Buffer destination(device_, buffer_bytes(c, c.destinations));
  const Pattern pattern(c.sources.front().type, options_.seed);
  pattern.fill(*device_, source.address(), source.bytes(), stream_.get());
  device_->fill(destination.address(), std::byte{0xA5}, destination.bytes(), stream_.get());

  const tmajit::MovePlan plan = plan_case(runtime_, c, destination.address(), source.address());
  entry["notes"]["tmajit"] = describe(plan);
  plan(stream_.get());
  device_->synchronize(stream_.get());
  const std::string wrong = check(c, pattern, *device_, destination.address(), options_.seed, stream_.get());
  if (!wrong.empty()) throw tmajit::Error(tmajit::ErrorCode::internal, wrong);

  const Traffic moved = traffic(c);
  const std::array<Contestant, 2> contestants{
      [&] { plan(stream_.get()); },
      [&] { device_->copy(destination.address(), source.address(), moved.sectors / 2, stream_.get()); },
  };
  const ContestPlan how = plan_contest(moved.sectors, options_.rounds);
  const std::vector<bench::Samples> times = contest_->run(contestants, how);
  entry["graph"] = how.graph;
  entry["launches"] = how.launches;
  entry["microseconds"] = {{"tmajit", bench::to_json(times[0])}, {"driver", bench::to_json(times[1])}};

  const double ours = times[0].median();
  const double driver = times[1].median();
  const std::string kernels = [&] {
    std::vector<std::string> names;
    for (const auto& step : entry["notes"]["tmajit"]["steps"]) {
      const std::string name = step["choice"].get<std::string>().empty() ? step["kernel"] : step["choice"];
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
    return fmt::format("{}", fmt::join(names, "; "));
  }();
  report_.line(fmt::format("{:<54}{:>8.0f} {:>5.1f}% {:>8.0f} {:>7.3f} {:>10.2f} {:>9.2f}  {}", c.label(),
                           gigabytes_per_second(moved.bytes(), ours), 100 * times[0].spread(),
                           gigabytes_per_second(moved.sectors, driver), driver / ours, ours, driver,
                           kernels));
  if (moved.sectors != moved.bytes()) {
    report_.line(fmt::format("{:<54}{:>8.0f}", "  counted in 32-byte sectors",
                             gigabytes_per_second(moved.sectors, ours)));
  }
  if (const std::optional<Target> target = target_of(c, ours, driver)) add(*target);
}

void Measurement::measure_planning() {
  report_.progress("planning");
  const nlohmann::ordered_json jit = measure_jit(device_, std::min(options_.rounds, 7U));
  report_.json["jit"] = jit;
  report_.line(
      fmt::format("\nPlanning; the first plan of the process took {:.1f} ms\n{:<54}{:>9} {:>9} {:>12}",
                  jit["first_ms"].get<double>(), "", "cold, ms", "hot, us", "choosing, us"));
  for (const auto& plan : jit["plans"]) {
    report_.line(fmt::format("{:<54}{:>9.1f} {:>9.2f} {:>12.2f}", plan["label"].get<std::string>(),
                             plan["cold_ms"].get<double>(), plan["hot_us"].get<double>(),
                             plan["choosing_us"].get<double>()));
  }
  for (const Target& target : targets_of_jit(jit)) add(target);
}

bool Measurement::run() {
  const auto start = Clock::now();
  std::vector<Case> cases;
  for (const Case& c : list_cases({options_.seed, options_.tiny})) {
    if (options_.wants(c)) cases.push_back(c);
  }
  if (options_.jit) measure_planning();
  report_.line(
      fmt::format("\nGB/s read plus written, medians; the driver's copy moves as many bytes\n"
                  "{:<54}{:>8} {:>6} {:>8} {:>7} {:>10} {:>9}  {}",
                  "case", "tmajit", "spread", "driver", "ratio", "tmajit us", "driver us", "kernels"));
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Case& c = cases[i];
    const std::chrono::duration<double> spent = Clock::now() - start;
    if (options_.limit_s > 0 && spent.count() > options_.limit_s) {
      left_out = cases.size() - i;
      break;
    }
    report_.progress(fmt::format("[{}/{}] {}", i + 1, cases.size(), c.label()));
    nlohmann::ordered_json entry = to_json(c);
    bool lost = false;
    try {
      measure_case(c, entry);
    } catch (const tmajit::Error& error) {
      entry["errors"]["tmajit"] = error.what();
      // After a fault on a GPU the context is gone, and nothing further can be measured.
      lost = driver_ && error.code() == tmajit::ErrorCode::device_failed;
      if (error.code() == tmajit::ErrorCode::out_of_memory) {
        report_.line(fmt::format("{}: not run: {}", c.label(), error.what()));
      } else {
        report_.failure(fmt::format("{}: {}", c.label(), error.what()));
      }
    }
    report_.json["results"].push_back(std::move(entry));
    save();
    if (lost) break;
  }
  if (left_out > 0) {
    report_.json["left_out"] = left_out;
    report_.json["why_left_out"] = fmt::format("--limit {:g} s was over", options_.limit_s);
    report_.line(fmt::format("{} cases left out: --limit {:g} s was over", left_out, options_.limit_s));
  }
  std::size_t missed = 0;
  for (const Target& target : targets_) missed += target.met() ? 0 : 1;
  report_.line(fmt::format("\n{} of {} targets met", targets_.size() - missed, targets_.size()));
  for (const Target& target : targets_) {
    if (target.met()) continue;
    report_.line(fmt::format("  missed: {}: {:.3f}, should be {} {:g}", target.what, target.got,
                             target.at_least ? "at least" : "at most", target.need));
  }
  return missed == 0;
}

}  // namespace

bool measure(const Options& options, const std::shared_ptr<tmajit::Device>& device, bench::Report& report) {
  return Measurement(options, device, report).run();
}

}  // namespace movement
