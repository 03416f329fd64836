#include "workload.hpp"

#include "check.hpp"

#include <algorithm>

namespace bench {

PreparedCase::PreparedCase(tmajit::Runtime& runtime, const Case& bench_case, tmajit::DevicePtr destination,
                           tmajit::DevicePtr source) {
  if (bench_case.tile) {
    *this =
        PreparedCase(runtime, plan_case(bench_case, destination, source, {.chip = runtime.chip()}).front());
    return;
  }
  move_ = tmajit::plan(runtime, operation_of(bench_case, destination, source), bench_case.family);
  plans_.assign(move_->plans().begin(), move_->plans().end());
  kernels_.assign(move_->kernels().begin(), move_->kernels().end());
}

PreparedCase::PreparedCase(const tmajit::Runtime& runtime, const tmajit::KernelPlan& plan)
    : plans_{plan}, kernels_{runtime.kernel(plan)} {
  launch_ = kernels_.front().prepare(plan);
}

void PreparedCase::operator()(tmajit::Stream stream) const {
  move_ ? (*move_)(stream) : (*launch_)(stream);
}

nlohmann::ordered_json PreparedCase::describe() const {
  nlohmann::ordered_json json;
  std::uint64_t bytes = 0;
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    nlohmann::ordered_json step = to_json(plans_[i]);
    step["kernel"] = step["family"];
    step["registers"] = kernels_[i].resources().registers;
    steps.push_back(std::move(step));
    bytes += plans_[i].bytes_moved();
  }
  if (move_) {
    const tmajit::MoveExplanation explanation = move_->explain();
    json["shape_class"] = explanation.shape_class;
    json["planning_us"] = explanation.planning_us;
    for (std::size_t i = 0; i < explanation.steps.size(); ++i) {
      steps.at(i)["canonical"] = explanation.steps[i].canonical;
    }
  }
  json["bytes_moved"] = bytes;
  json["steps"] = std::move(steps);
  return json;
}

void fill(tmajit::Device& device, const reference::Pattern& pattern, tmajit::DevicePtr address,
          std::uint64_t bytes, tmajit::Stream stream) {
  const std::span<const std::byte> period = pattern.period();
  std::uint64_t filled = std::min<std::uint64_t>(bytes, period.size());
  device.memory().copy_in(address, period.first(filled), stream);
  while (filled < bytes) {
    const std::uint64_t more = std::min(filled, bytes - filled);
    device.memory().copy(address + filled, address, more, stream);
    filled += more;
  }
  device.streams().synchronize(stream);
}

Workload::Workload(Machine& machine, const Case& bench_case, std::size_t sets, std::uint64_t seed)
    : machine_(machine),
      seed_(seed),
      sets_(sets),
      pattern_(bench_case.data_type(), seed),
      // The driver's copy reads as many bytes as it writes.
      source_bytes_(
          std::max(buffer_bytes(bench_case, bench_case.sources), traffic(bench_case).sector_bytes / 2)),
      destination_bytes_(buffer_bytes(bench_case, bench_case.destinations)),
      copied_bytes_(traffic(bench_case).sector_bytes / 2),
      sources_(machine.device, sets * source_bytes_),
      destinations_(machine.device, sets * destination_bytes_) {
  for (std::size_t set = 0; set < sets; ++set) {
    fill(*machine.device, pattern_, sources_.address() + set * source_bytes_, source_bytes_, machine.stream);
  }
}

std::vector<PreparedCase> Workload::prepare(const Case& bench_case) const {
  std::vector<PreparedCase> prepared;
  for (std::size_t set = 0; set < sets_; ++set) {
    prepared.emplace_back(machine_.runtime, bench_case, destinations_.address() + set * destination_bytes_,
                          sources_.address() + set * source_bytes_);
  }
  return prepared;
}

void Workload::require_right(const Case& bench_case, const PreparedCase& prepared) const {
  require_right(expected(bench_case, compared_part_elements), prepared);
}

Check Workload::expected(const Case& bench_case, std::uint64_t part_elements) const {
  return Check(bench_case, pattern_, seed_, part_elements);
}

void Workload::require_right(const Check& expected, const PreparedCase& prepared) const {
  machine_.device->memory().fill(destinations_.address(), poison, destination_bytes_, machine_.stream);
  prepared(machine_.stream);
  machine_.device->streams().synchronize(machine_.stream);
  expected.require_right(*machine_.device, destinations_.address(), machine_.stream);
}

void Workload::copy(std::size_t set) const {
  machine_.device->memory().copy(destinations_.address() + set * destination_bytes_,
                                 sources_.address() + set * source_bytes_, copied_bytes_, machine_.stream);
}

Workload::Times Workload::time_with_driver(const std::vector<PreparedCase>& prepared,
                                           const ContestPlan& timing) const {
  const std::array<Contestant, 2> contestants{[&](std::size_t set) { prepared[set](machine_.stream); },
                                              [&](std::size_t set) { copy(set); }};
  std::vector<Samples> times = machine_.contest.run(contestants, timing);
  return {std::move(times[0]), std::move(times[1])};
}

}  // namespace bench
