#include "race.hpp"

#include <algorithm>

namespace bench {
namespace {

constexpr std::uint64_t scratch_bytes = 256ULL << 20;
constexpr int scratch_fills = 6;  // about half a millisecond on an H200

/// Kernels that move less than this, some 30 µs, are launched from a graph.
constexpr std::uint64_t graph_below = 128ULL << 20;
/// A measurement moves at least this, about a millisecond.
constexpr std::uint64_t bytes_in_measurement = 4ULL << 30;
constexpr std::size_t most_nodes = 2048;

}  // namespace

Plan plan_for(std::uint64_t bytes, unsigned rounds, const tmajit::DeviceInfo& device) {
  Plan plan;
  plan.rounds = rounds;
  plan.graph = bytes < graph_below;
  const std::uint64_t l2 = std::max<std::uint64_t>(device.l2_bytes, 64ULL << 20);
  plan.sets = static_cast<std::size_t>((2 * l2 + bytes - 1) / bytes);
  const auto wanted = static_cast<std::size_t>((bytes_in_measurement + bytes - 1) / bytes);
  // Whole rotations, so that each measurement touches every set equally often.
  const std::size_t rotations = std::max<std::size_t>(std::min(wanted, most_nodes) / plan.sets, 1);
  plan.launches = rotations * plan.sets;
  return plan;
}

Spacer::Spacer(const Gpu& gpu) : gpu_(gpu), scratch_(gpu.device, scratch_bytes) {}

void Spacer::enqueue() const {
  for (int i = 0; i < scratch_fills; ++i) {
    gpu_.device->fill(scratch_.address(), std::byte{0x5A}, scratch_bytes, gpu_.stream);
  }
}

std::vector<Samples> race(Gpu& gpu, const Spacer& spacer, std::span<const Contender> contenders,
                          const Plan& plan) {
  // Each contender's whole measurement as one callable, run once to warm up.
  std::vector<std::function<void()>> work;
  std::vector<Graph> graphs;
  graphs.reserve(contenders.size());
  for (const Contender& contender : contenders) {
    const auto enqueue = [&contender, &plan] {
      for (std::size_t i = 0; i < plan.launches; ++i) contender(i % plan.sets);
    };
    if (plan.graph) {
      graphs.emplace_back(gpu.driver, gpu.stream, enqueue);
      work.emplace_back([&graph = graphs.back(), &gpu] { graph.launch(gpu.stream); });
    } else {
      work.emplace_back(enqueue);
    }
    work.back()();
  }
  gpu.device->synchronize(gpu.stream);

  std::vector<std::vector<double>> microseconds(contenders.size());
  for (unsigned round = 0; round < plan.rounds; ++round) {
    for (std::size_t i = 0; i < work.size(); ++i) {
      spacer.enqueue();
      const float milliseconds = gpu.device->time(gpu.stream, 1, work[i]).front();
      microseconds[i].push_back(1e3 * static_cast<double>(milliseconds) / static_cast<double>(plan.launches));
    }
  }
  return {microseconds.begin(), microseconds.end()};
}

}  // namespace bench
