#include "contest.hpp"

#include <algorithm>
#include <utility>

namespace bench {
namespace {

// Memory that reset_l2() overwrites, larger than L2, and how often.
constexpr std::uint64_t scratch_bytes = 256ULL << 20;
constexpr int scratch_fills = 6;

/// Launches that move fewer bytes are timed as nodes of a graph.
constexpr std::uint64_t graph_below = 128ULL << 20;
constexpr std::size_t graph_nodes = 200;
/// With several sets of buffers, a sample moves at least this many bytes, which takes about a millisecond,
/// but has at most this many launches.
constexpr std::uint64_t sample_bytes = 4ULL << 30;
constexpr std::size_t max_launches = 2048;

/// A CUDA graph of the work that a function enqueues on a stream.
class Graph {
 public:
  Graph(const RawDriver& driver, tmajit::Stream stream, const std::function<void()>& enqueue)
      : driver_(driver) {
    driver.check(driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                 "cuStreamBeginCapture");
    CUgraph graph = nullptr;
    try {
      enqueue();
    } catch (...) {
      if (driver.cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS && graph != nullptr)
        driver.cuGraphDestroy(graph);
      throw;
    }
    driver.check(driver.cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
    const CUresult result = driver.cuGraphInstantiateWithFlags(&exec_, graph, 0);
    driver.cuGraphDestroy(graph);
    driver.check(result, "cuGraphInstantiateWithFlags");
  }
  ~Graph() {
    if (exec_ != nullptr) driver_.cuGraphExecDestroy(exec_);
  }
  Graph(Graph&& other) noexcept : driver_(other.driver_), exec_(std::exchange(other.exec_, nullptr)) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  Graph& operator=(Graph&&) = delete;

  void launch(tmajit::Stream stream) const {
    driver_.check(driver_.cuGraphLaunch(exec_, stream), "cuGraphLaunch");
  }

 private:
  const RawDriver& driver_;
  CUgraphExec exec_ = nullptr;
};

}  // namespace

Contest::Contest(std::shared_ptr<tmajit::Device> device, tmajit::Stream stream, const RawDriver* driver)
    : device_(std::move(device)), stream_(stream), driver_(driver) {
  if (driver_ != nullptr) scratch_ = tmajit::Buffer(device_, scratch_bytes);
}

ContestPlan Contest::plan(std::uint64_t bytes, unsigned rounds, Memory memory) const {
  ContestPlan plan{.rounds = rounds};
  if (driver_ == nullptr) return plan;
  plan.graph = bytes < graph_below;
  if (memory == Memory::one_set) {
    if (plan.graph) plan.launches = graph_nodes;
    return plan;
  }
  const std::uint64_t l2 = std::max<std::uint64_t>(device_->info().l2_bytes, 64ULL << 20);
  plan.sets = static_cast<std::size_t>((2 * l2 + bytes - 1) / bytes);
  const auto wanted = static_cast<std::size_t>((sample_bytes + bytes - 1) / bytes);
  // A multiple of the number of sets, so that each sample uses every set equally often.
  plan.launches = std::max<std::size_t>(std::min(wanted, max_launches) / plan.sets, 1) * plan.sets;
  return plan;
}

void Contest::reset_l2() const {
  if (scratch_.bytes() == 0) return;
  for (int i = 0; i < scratch_fills; ++i) {
    device_->memory().fill(scratch_.address(), std::byte{0x5A}, scratch_.bytes(), stream_);
  }
}

std::vector<Samples> Contest::run(std::span<const Contestant> contestants, const ContestPlan& plan) const {
  std::vector<std::function<void()>> work;
  std::vector<Graph> graphs;
  graphs.reserve(contestants.size());
  for (const Contestant& contestant : contestants) {
    contestant(0);  // one-time work must not be captured
    device_->streams().synchronize(stream_);
    const auto enqueue = [&contestant, &plan] {
      for (std::size_t i = 0; i < plan.launches; ++i) contestant(i % plan.sets);
    };
    if (plan.graph) {
      graphs.emplace_back(*driver_, stream_, enqueue);
      work.emplace_back([this, &graph = graphs.back()] { graph.launch(stream_); });
    } else {
      work.emplace_back(enqueue);
    }
    for (int i = 0; i < 2; ++i) work.back()();
  }
  device_->streams().synchronize(stream_);

  std::vector<std::vector<double>> microseconds(contestants.size());
  for (unsigned round = 0; round < plan.rounds; ++round) {
    for (std::size_t i = 0; i < work.size(); ++i) {
      const std::size_t turn = (i + round) % work.size();  // the first contestant changes from round to round
      reset_l2();
      const float milliseconds = device_->timing().time(stream_, 1, work[turn]).front();
      microseconds[turn].push_back(1e3 * static_cast<double>(milliseconds) /
                                   static_cast<double>(plan.launches));
    }
  }
  return {microseconds.begin(), microseconds.end()};
}

}  // namespace bench
