#include "contest.hpp"

namespace movement {
namespace {

constexpr std::uint64_t graph_below = 128ULL << 20;
constexpr std::size_t graph_nodes = 200;
constexpr std::uint64_t scratch_bytes = 256ULL << 20;
constexpr int scratch_fills = 6;

}  // namespace

ContestPlan plan_contest(std::uint64_t bytes, unsigned rounds) {
  if (bytes >= graph_below) return {.rounds = rounds, .launches = 1, .graph = false};
  return {.rounds = rounds, .launches = graph_nodes, .graph = true};
}

Contest::Contest(std::shared_ptr<tmajit::Device> device, tmajit::Stream stream,
                 const bench::RawDriver* driver)
    : device_(std::move(device)), stream_(stream), driver_(driver) {
  if (driver_ != nullptr) scratch_ = tmajit::Buffer(device_, scratch_bytes);
}

void Contest::space() const {
  if (scratch_.bytes() == 0) return;
  for (int i = 0; i < scratch_fills; ++i) {
    device_->fill(scratch_.address(), std::byte{0x5A}, scratch_.bytes(), stream_);
  }
}

std::vector<bench::Samples> Contest::run(std::span<const Contestant> contestants,
                                         const ContestPlan& plan) const {
  std::vector<std::function<void()>> work;
  std::vector<bench::Graph> graphs;
  graphs.reserve(contestants.size());
  const std::size_t launches = driver_ == nullptr ? 1 : plan.launches;
  for (const Contestant& contestant : contestants) {
    contestant();  // what happens only once happens outside the graph
    device_->synchronize(stream_);
    const auto enqueue = [&contestant, launches] {
      for (std::size_t i = 0; i < launches; ++i) contestant();
    };
    if (plan.graph && driver_ != nullptr) {
      graphs.emplace_back(*driver_, stream_, enqueue);
      work.emplace_back([this, &graph = graphs.back()] { graph.launch(stream_); });
    } else {
      work.emplace_back(enqueue);
    }
    for (int i = 0; i < 2; ++i) work.back()();
  }
  device_->synchronize(stream_);

  std::vector<std::vector<double>> microseconds(contestants.size());
  for (unsigned round = 0; round < plan.rounds; ++round) {
    for (std::size_t i = 0; i < work.size(); ++i) {
      const std::size_t turn = (i + round) % work.size();  // nobody always follows the same one
      space();
      const float milliseconds = device_->time(stream_, 1, work[turn]).front();
      microseconds[turn].push_back(1e3 * static_cast<double>(milliseconds) / static_cast<double>(launches));
    }
  }
  return {microseconds.begin(), microseconds.end()};
}

}  // namespace movement
